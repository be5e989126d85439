package intercept

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// tunnel is the client's side of an intercepted CONNECT.
type tunnel struct {
	net.Conn
	origin origin.Origin
	// early are octets that the client sent without waiting for our answer.
	early []byte
	// otherName is the server name of a handshake for another host.
	otherName string
	closing   sync.Once
	closed    func()
}

func (t *tunnel) Read(p []byte) (int, error) {
	if len(t.early) > 0 {
		n := copy(p, t.early)
		t.early = t.early[n:]
		return n, nil
	}
	return t.Conn.Read(p)
}

func (t *tunnel) Close() error {
	t.closing.Do(t.closed)
	return t.Conn.Close()
}

// open answers the CONNECT, makes the TLS handshake and hands the connection
// over to the server of the requests inside.
func (i *Intercept) open(w http.ResponseWriter, o origin.Origin) error {
	if !i.inner.begin() {
		w.Header().Set("Connection", "close")
		return caddyhttp.Error(http.StatusServiceUnavailable, fmt.Errorf("opening a tunnel to %s: the server is shutting down", o))
	}
	defer i.inner.done()
	raw, early, err := exchange.Establish(w, "")
	if err != nil {
		return fmt.Errorf("opening a tunnel to %s: %w", o, err)
	}
	t := &tunnel{Conn: raw, origin: o, early: early, closed: i.app.TunnelOpened()}
	conn := tls.Server(t, i.tls)
	ctx, cancel := context.WithTimeout(context.Background(), i.inner.handshakeTimeout())
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		i.logHandshake(t, err)
		_ = t.Close()
		return nil
	}
	i.inner.serve(conn)
	return nil
}

// logHandshake says why a handshake failed. That a client does not trust the
// authority is what everybody meets first, so the operator is told.
func (i *Intercept) logHandshake(t *tunnel, err error) {
	level, advice := zapcore.DebugLevel, ""
	switch {
	case t.otherName != "":
		level, advice = zapcore.InfoLevel, "the client must ask for the host that its CONNECT named"
	case distrusts(err):
		level, advice = zapcore.WarnLevel, "the client does not trust the gate's authority; `robots ca` prints the certificate to trust"
	}
	entry := i.logger.Check(level, "no TLS inside a tunnel")
	if entry == nil {
		return
	}
	fields := []zap.Field{
		zap.String("origin", t.origin.String()), zap.String("client", t.RemoteAddr().String()), zap.Error(err),
	}
	if t.otherName != "" {
		fields = append(fields, zap.String("server_name", t.otherName))
	}
	if advice != "" {
		fields = append(fields, zap.String("advice", advice))
	}
	entry.Write(fields...)
}

// distrusts reports whether the client ended the handshake for our
// certificate. crypto/tls keeps the alert's type to itself.
func distrusts(err error) bool {
	text := err.Error()
	return strings.Contains(text, "remote error: tls: ") &&
		(strings.Contains(text, "certificate") || strings.Contains(text, "unknown"))
}
