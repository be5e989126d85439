package dialguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// Times of a dial. The caller's deadline bounds them all.
const (
	// dnsLimit bounds a whole lookup, all servers and retries counted.
	dnsLimit = 3 * time.Second
	// fallbackDelay is the head start of the preferred address family
	// (RFC 8305 §5 recommends 250 ms; Go's dialer waits 300 ms).
	fallbackDelay = 300 * time.Millisecond
	// minAttempt is what an address gets at least before the next is tried.
	minAttempt = 2 * time.Second
)

// DialContext resolves host:port with Go's own resolver, drops the addresses
// that the policy denies, and dials the others, both families at once after a
// short head start (RFC 8305). The network is "tcp", "tcp4" or "tcp6". It
// fails with a *DeniedError inside a *net.OpError where no address is allowed.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.dial(ctx, network, address)
	if err != nil {
		if _, ok := errors.AsType[*net.OpError](err); !ok {
			err = &net.OpError{Op: "dial", Net: network, Err: err}
		}
		return nil, err
	}
	return conn, nil
}

func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := parsePort(portText)
	if err != nil {
		return nil, fmt.Errorf("port %q is not valid: use a number from 1 to 65535", portText)
	}
	if err := g.CheckPort(port); err != nil {
		return nil, g.refuse(err, host)
	}
	addrs, err := g.resolve(ctx, network, host)
	if err != nil {
		return nil, err
	}
	targets, err := g.allowed(addrs, host, port)
	if err != nil {
		return nil, err
	}
	return g.dialAny(ctx, network, targets)
}

// allowed returns the addresses that may be dialled, or the denial of the
// first one where none may.
func (g *Guard) allowed(addrs []netip.Addr, host string, port uint16) ([]netip.AddrPort, error) {
	var first error = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	targets := make([]netip.AddrPort, 0, len(addrs))
	for i, addr := range addrs {
		target := netip.AddrPortFrom(addr.Unmap(), port)
		if err := g.refuse(g.CheckAddr(target), host); err != nil {
			if i == 0 {
				first = err
			}
			continue
		}
		targets = append(targets, target)
	}
	if len(targets) == 0 {
		return nil, first
	}
	return targets, nil
}

// dialAny dials the addresses of the first one's family in order, and those of
// the other family beside them after fallbackDelay or a failure.
func (g *Guard) dialAny(ctx context.Context, network string, targets []netip.AddrPort) (net.Conn, error) {
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
		return g.dialSerial(ctx, network, primary)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialResult, 2)
	start := func(targets []netip.AddrPort) {
		go func() {
			conn, err := g.dialSerial(ctx, network, targets)
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

// dialSerial dials the addresses in order until one answers. The time that is
// left is shared among those that are left.
func (g *Guard) dialSerial(ctx context.Context, network string, targets []netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{ControlContext: g.control}
	var firstErr error
	for i, target := range targets {
		attempt, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			share := time.Until(deadline) / time.Duration(len(targets)-i)
			attempt, cancel = context.WithTimeout(ctx, max(share, minAttempt))
		}
		conn, err := dialer.DialContext(attempt, network, target.String())
		cancel()
		if err == nil {
			return conn, nil
		}
		if firstErr == nil {
			firstErr = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// control judges the address of the socket itself, right before it connects.
func (g *Guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("reading the socket address %q: %w", address, err)
	}
	if err := g.CheckPort(target.Port()); err != nil {
		return g.refuse(err, "")
	}
	return g.refuse(g.CheckAddr(target), "")
}

// A lookup resolves a host with one configured server, or with the system's.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// lookups returns one lookup for each server, or the system's alone. Go's own
// resolver is asked in any case: the C library reads 127.1 and 0x7f000001 as
// addresses.
func lookups(servers []netip.AddrPort) []lookup {
	if len(servers) == 0 {
		return []lookup{(&net.Resolver{PreferGo: true}).LookupNetIP}
	}
	all := make([]lookup, 0, len(servers))
	for _, server := range servers {
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, server.String())
		}}
		all = append(all, func(ctx context.Context, network, host string) ([]netip.Addr, error) {
			// The search list belongs to the system's servers, not to these.
			return resolver.LookupNetIP(ctx, network, rooted(host))
		})
	}
	return all
}

func rooted(host string) string {
	if host != "" && host[len(host)-1] != '.' {
		return host + "."
	}
	return host
}

// resolve returns the addresses of a host, an IP literal's own. The servers
// are asked in order until one answers, be it that the name does not exist.
func (g *Guard) resolve(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	family, ok := map[string]string{"tcp": "ip", "tcp4": "ip4", "tcp6": "ip6"}[network]
	if !ok {
		return nil, net.UnknownNetworkError(network)
	}
	ctx, cancel := context.WithTimeout(ctx, dnsLimit)
	defer cancel()
	var firstErr error
	for i, ask := range g.resolvers {
		addrs, err := askWithin(ctx, len(g.resolvers)-i, ask, family, host)
		if err == nil {
			return slices.Compact(addrs), nil
		}
		if firstErr == nil {
			firstErr = err
		}
		if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
			return nil, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// askWithin gives one of the servers that are left its share of the time, so
// that a dead one does not use up the others'.
func askWithin(ctx context.Context, left int, ask lookup, family, host string) ([]netip.Addr, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return ask(ctx, family, host)
}
