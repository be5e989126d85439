package dialguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// minAttempt is what an address gets at least before the next is tried. The
// caller's deadline bounds it.
const minAttempt = 2 * time.Second

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
	return race(ctx, targets, func(ctx context.Context, targets []netip.AddrPort) (net.Conn, error) {
		return g.dialSerial(ctx, network, targets)
	})
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
