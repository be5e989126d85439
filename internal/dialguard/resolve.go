package dialguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"
)

// dnsLimit bounds a whole lookup, all servers and retries counted, within the
// caller's deadline.
const dnsLimit = 3 * time.Second

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
			addrs, err := resolver.LookupNetIP(ctx, network, rooted(host))
			if failure, ok := errors.AsType[*net.DNSError](err); ok && failure.Server != "" {
				// The resolver believes that it asked the system's server.
				failure.Server = server.String()
			}
			return addrs, err
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
