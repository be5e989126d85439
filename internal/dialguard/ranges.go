package dialguard

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A PortRange is the ports from From to To, both included.
type PortRange struct {
	From, To uint16
}

// String returns "80" or "8000-8100".
func (r PortRange) String() string {
	if r.From == r.To {
		return strconv.Itoa(int(r.From))
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

func comparePorts(a, b PortRange) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}

// ParsePorts reads ports and port ranges such as "80" and "8000-8100". The
// error names the word that is wrong.
func ParsePorts(words []string) ([]PortRange, error) {
	ports := make([]PortRange, 0, len(words))
	for _, word := range words {
		first, last, isRange := strings.Cut(word, "-")
		if !isRange {
			last = first
		}
		from, err := parsePort(first)
		if err != nil {
			return nil, fmt.Errorf("port %q is not valid: write a number from 1 to 65535 or a range such as 8000-8100", word)
		}
		to, err := parsePort(last)
		if err != nil {
			return nil, fmt.Errorf("port %q is not valid: write a number from 1 to 65535 or a range such as 8000-8100", word)
		}
		if from > to {
			return nil, fmt.Errorf("port range %q runs backwards: write %d-%d", word, to, from)
		}
		ports = append(ports, PortRange{from, to})
	}
	return ports, nil
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return uint16(n), err
}

// ParsePrefixes reads address ranges in CIDR notation; an address alone is a
// range of one. The error names the word that is wrong.
func ParsePrefixes(words []string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, 0, len(words))
	for _, word := range words {
		p, err := parsePrefix(word)
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, p)
	}
	return prefixes, nil
}

func parsePrefix(word string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(word); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(word)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("address range %q is not valid: write CIDR notation such as 10.0.0.0/8 or fd00::/8, or one address", word)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("address range %q has bits set behind its length: write %s", word, p.Masked())
	}
	return unmapPrefix(p), nil
}

// ParseResolvers reads the addresses of DNS servers, ip or ip:port (an IPv6
// address with a port in brackets). Default port: 53. The error names the word
// that is wrong.
func ParseResolvers(words []string) ([]netip.AddrPort, error) {
	resolvers := make([]netip.AddrPort, 0, len(words))
	for _, word := range words {
		server, err := netip.ParseAddrPort(word)
		if err != nil {
			bare := strings.TrimSuffix(strings.TrimPrefix(word, "["), "]")
			addr, addrErr := netip.ParseAddr(bare)
			server, err = netip.AddrPortFrom(addr, 53), addrErr
		}
		if err != nil || server.Port() == 0 {
			return nil, fmt.Errorf("resolver %q is not valid: write the IP address of a DNS server, with :port if it is not 53", word)
		}
		resolvers = append(resolvers, server)
	}
	return resolvers, nil
}

// normalPrefixes returns the masked, unmapped prefixes in a fixed order.
func normalPrefixes(prefixes []netip.Prefix) []netip.Prefix {
	normal := make([]netip.Prefix, 0, len(prefixes))
	for _, p := range prefixes {
		normal = append(normal, unmapPrefix(p.Masked()))
	}
	slices.SortFunc(normal, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	return slices.Compact(normal)
}

// unmapPrefix turns ::ffff:10.0.0.0/104 into 10.0.0.0/8: addresses are judged
// unmapped and would never lie in it.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// narrowest returns the longest prefix that holds addr.
func narrowest(prefixes []netip.Prefix, addr netip.Addr) (netip.Prefix, bool) {
	var found netip.Prefix
	ok := false
	for _, p := range prefixes {
		if p.Contains(addr) && (!ok || p.Bits() > found.Bits()) {
			found, ok = p, true
		}
	}
	return found, ok
}
