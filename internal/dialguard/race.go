package dialguard

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// fallbackDelay is the head start of the preferred address family (RFC 8305 §5
// recommends 250 ms; Go's dialer waits 300 ms).
const fallbackDelay = 300 * time.Millisecond

// race dials the addresses of the first one's family, and those of the other
// family beside them after fallbackDelay or a failure. The first connection
// wins; where there is none, the first error is returned.
func race(
	ctx context.Context, targets []netip.AddrPort,
	dial func(context.Context, []netip.AddrPort) (net.Conn, error),
) (net.Conn, error) {
	preferred4 := targets[0].Addr().Is4()
	var primary, fallback []netip.AddrPort
	for _, t := range targets {
		if t.Addr().Is4() == preferred4 {
			primary = append(primary, t)
		} else {
			fallback = append(fallback, t)
		}
	}
	if len(fallback) == 0 {
		return dial(ctx, primary)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialResult, 2)
	start := func(targets []netip.AddrPort) {
		go func() {
			conn, err := dial(ctx, targets)
			results <- dialResult{conn, err}
		}()
	}
	start(primary)
	running := 1
	timer := time.NewTimer(fallbackDelay)
	defer timer.Stop()
	var firstErr error
	for {
		select {
		case <-timer.C:
		case r := <-results:
			running--
			if r.err == nil {
				if running > 0 {
					go discard(results)
				}
				return r.conn, nil
			}
			if firstErr == nil {
				firstErr = r.err
			}
			if fallback == nil && running == 0 {
				return nil, firstErr
			}
		}
		if fallback != nil {
			start(fallback)
			fallback = nil
			running++
		}
	}
}

type dialResult struct {
	conn net.Conn
	err  error
}

// discard closes the connection of the attempt that lost the race.
func discard(results <-chan dialResult) {
	if r := <-results; r.err == nil {
		r.conn.Close()
	}
}
