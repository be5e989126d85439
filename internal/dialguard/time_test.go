package dialguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestResolveLimits(t *testing.T) {
	silent := func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	answer := func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
	}
	for name, tc := range map[string]struct {
		deadline  time.Duration
		resolvers []lookup
		want      time.Duration
		ok        bool
	}{
		"the limit":               {0, []lookup{silent}, 3 * time.Second, false},
		"the caller's deadline":   {time.Second, []lookup{silent}, time.Second, false},
		"a later deadline":        {time.Minute, []lookup{silent}, 3 * time.Second, false},
		"a dead server":           {0, []lookup{silent, answer}, 1500 * time.Millisecond, true},
		"three servers, two dead": {0, []lookup{silent, silent, answer}, 2 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.deadline)
					defer cancel()
				}
				g := &Guard{resolvers: tc.resolvers}
				start := time.Now()
				_, err := g.resolve(ctx, "tcp", "a.example")
				if took := time.Since(start); took != tc.want || (err == nil) != tc.ok {
					t.Errorf("%v, %v; want %v, ok %v", took, err, tc.want, tc.ok)
				}
			})
		})
	}
}

func TestRace(t *testing.T) {
	v6, v4 := netip.MustParseAddrPort("[2606:4700::1]:80"), netip.MustParseAddrPort("8.8.8.8:80")
	targets := []netip.AddrPort{v6, v4}
	errDial := errors.New("refused")
	type plan struct {
		after time.Duration
		fails bool
	}
	for name, tc := range map[string]struct {
		v6, v4 plan
		want   netip.AddrPort
		took   time.Duration
	}{
		"the preferred family answers":            {plan{100 * time.Millisecond, false}, plan{0, false}, v6, 100 * time.Millisecond},
		"the preferred family is slow":            {plan{time.Hour, false}, plan{50 * time.Millisecond, false}, v4, 350 * time.Millisecond},
		"the preferred family fails at once":      {plan{0, true}, plan{50 * time.Millisecond, false}, v4, 50 * time.Millisecond},
		"the other family is slower":              {plan{400 * time.Millisecond, false}, plan{time.Hour, false}, v6, 400 * time.Millisecond},
		"the other family fails, then this comes": {plan{500 * time.Millisecond, false}, plan{0, true}, v6, 500 * time.Millisecond},
		"both fail": {plan{time.Second, true}, plan{2 * time.Second, true}, netip.AddrPort{}, 2300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int64
				dial := func(ctx context.Context, targets []netip.AddrPort) (net.Conn, error) {
					p := tc.v6
					if targets[0] == v4 {
						p = tc.v4
					}
					select {
					case <-time.After(p.after):
					case <-ctx.Done():
					}
					// A dialer may have connected just before it was cancelled.
					if p.fails {
						return nil, errDial
					}
					open.Add(1)
					return &fakeConn{target: targets[0], open: &open}, nil
				}
				start := time.Now()
				conn, err := race(t.Context(), targets, dial)
				if took := time.Since(start); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				if tc.want == (netip.AddrPort{}) {
					if !errors.Is(err, errDial) {
						t.Errorf("error %v, want %v", err, errDial)
					}
					return
				}
				if err != nil || conn.(*fakeConn).target != tc.want {
					t.Fatalf("%+v, %v; want %v", conn, err, tc.want)
				}
				synctest.Wait()
				if open.Load() != 1 {
					t.Errorf("%d connections stay open, want the winner's alone", open.Load())
				}
			})
		})
	}
}

type fakeConn struct {
	net.Conn
	target netip.AddrPort
	open   *atomic.Int64
}

func (c *fakeConn) Close() error {
	c.open.Add(-1)
	return nil
}
