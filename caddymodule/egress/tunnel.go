package egress

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
)

const (
	// quietTunnel is how long nothing must have passed a tunnel before a
	// shutdown closes it.
	quietTunnel = time.Second
	// drainTunnels bounds how long a shutdown waits for tunnels that are
	// never quiet.
	drainTunnels = 30 * time.Second
)

// serveConnect opens the tunnel that the gate allowed.
func (e *Egress) serveConnect(x *exchange.Exchange, w http.ResponseWriter, r *http.Request) {
	o, err := exchange.ConnectTarget(r)
	target := origin.Target{Origin: o, Path: "/"}
	switch {
	case err != nil:
		w.Header().Set("Connection", "close")
		x.BadTarget(err)
	case e.loops(r):
		deny(x, target, decision.Loop)
	case !x.Record.Tunnel || x.Record.URL != target.URL():
		// No gate has allowed this very tunnel.
		deny(x, target, decision.TunnelOpaque)
	default:
		e.tunnel(x, w, r, o)
		return
	}
	x.Refuse(w, r)
}

func (e *Egress) tunnel(x *exchange.Exchange, w http.ResponseWriter, r *http.Request, o origin.Origin) {
	parent, err := e.parent.of(r)
	if err != nil {
		e.answer(x, w, r, err)
		return
	}
	far, err := e.reach(r.Context(), o, parent, r.UserAgent())
	if err != nil {
		e.answer(x, w, r, err)
		return
	}
	defer far.Close()
	mark := ""
	if x.Record.WouldRefuse() {
		mark = decision.HeaderGate + ": " + x.Record.WouldDeny() + "\r\n"
	}
	near, early, err := exchange.Establish(w, mark)
	if err != nil {
		e.logger.Debug("client left before its tunnel was open", zap.String("origin", o.String()), zap.Error(err))
		return
	}
	defer near.Close()
	defer e.app.TunnelOpened()()
	t := &tunnel{near: near, far: far, idle: time.Duration(e.IdleTimeout)}
	if !e.tunnels.add(t) {
		return
	}
	defer e.tunnels.remove(t)
	t.copy(early)
}

// tunnel is a client and an origin that talk without us.
type tunnel struct {
	near, far net.Conn
	idle      time.Duration
	// active is when something last passed, in Unix nanoseconds.
	active atomic.Int64
}

// copy passes octets on both ways until both sides have said all, one of them
// fails, or nothing has passed for the idle time.
func (t *tunnel) copy(early []byte) {
	t.active.Store(time.Now().UnixNano())
	var both sync.WaitGroup
	both.Go(func() {
		_, err := t.far.Write(early)
		if err == nil {
			err = t.pass(t.far, t.near)
		}
		t.end(err, t.far)
	})
	both.Go(func() { t.end(t.pass(t.near, t.far), t.near) })
	both.Wait()
}

// end passes the end of one direction on; an error ends both.
func (t *tunnel) end(err error, to net.Conn) {
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = t.near.Close()
	_ = t.far.Close()
}

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 32<<10)
	return &b
}}

// pass copies until the end of from. A wait that runs out is no end while the
// other direction is busy.
func (t *tunnel) pass(to, from net.Conn) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for {
		_ = from.SetReadDeadline(time.Now().Add(t.idle))
		n, err := from.Read(*buffer)
		if n > 0 {
			t.active.Store(time.Now().UnixNano())
			if _, err := to.Write((*buffer)[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && t.quiet() < t.idle:
		default:
			return err
		}
	}
}

// quiet is how long nothing has passed.
func (t *tunnel) quiet() time.Duration {
	return time.Since(time.Unix(0, t.active.Load()))
}

// tunnels are those that are open, so that a shutdown can end them: an HTTP
// server knows nothing of connections that were taken over from it.
type tunnels struct {
	mu     sync.Mutex
	open   map[*tunnel]struct{}
	closed bool
}

func (s *tunnels) add(t *tunnel) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = make(map[*tunnel]struct{})
	}
	s.open[t] = struct{}{}
	return true
}

func (s *tunnels) remove(t *tunnel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, t)
}

// drain closes each tunnel at its first quiet moment, and all of them in the
// end.
func (s *tunnels) drain() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	tick := time.NewTicker(quietTunnel / 4)
	defer tick.Stop()
	for limit := time.Now().Add(drainTunnels); s.closeQuiet(time.Now().After(limit)) > 0; {
		<-tick.C
	}
}

// closeQuiet closes the tunnels that are quiet, or all, and returns how many
// are left.
func (s *tunnels) closeQuiet(all bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.open {
		if all || t.quiet() >= quietTunnel {
			_ = t.near.Close()
			_ = t.far.Close()
		}
	}
	return len(s.open)
}
