// Package dialguard decides which addresses and ports may be dialled, and
// dials them.
//
// A gate that fetches whatever a job names can be made to fetch what only its
// own network may see. The guard therefore judges the address of the socket,
// not the name: a name that resolves to something else a moment later
// (DNS rebinding) gets nowhere.
package dialguard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// Config is an address policy. Its zero value denies every special-purpose
// address and every port but 80 and 443, and resolves with the system's DNS
// servers.
type Config struct {
	// Allow opens what lies in these ranges although it is special-purpose,
	// with one exception: a metadata service is opened by its own address
	// alone, since nobody means its credentials when they open a network.
	// Public addresses need no allow range.
	Allow []netip.Prefix
	// Deny closes ranges, whatever Allow says.
	Deny []netip.Prefix
	// Ports are the ports of targets that may be dialled, robots.txt and pages
	// alike. Default: 80 and 443.
	Ports []PortRange
	// Resolvers are the DNS servers to ask, in this order, instead of the
	// system's. They are not judged.
	Resolvers []netip.AddrPort
	// IsOwn reports whether an address and port is one of this process's own
	// listeners, the admin endpoint included. Those are always denied.
	IsOwn func(netip.AddrPort) bool
	// OnDenied is called with the class of every address or port that
	// CheckOrigin or DialContext refuses; an address that is dropped from a
	// mixed DNS answer counts too.
	OnDenied func(class string)
}

// A Guard applies a Config. It is safe for concurrent use.
type Guard struct {
	config    Config
	resolvers []lookup
	key       string
}

// New returns a guard. The configuration's slices are copied; prefixes are
// masked and IPv4 ones taken out of their IPv6 mapping.
func New(config Config) *Guard {
	config.Allow = normalPrefixes(config.Allow)
	config.Deny = normalPrefixes(config.Deny)
	config.Ports = slices.Clone(config.Ports)
	if len(config.Ports) == 0 {
		config.Ports = []PortRange{{80, 80}, {443, 443}}
	}
	slices.SortFunc(config.Ports, comparePorts)
	config.Resolvers = slices.Clone(config.Resolvers)
	return &Guard{config: config, resolvers: lookups(config.Resolvers), key: fingerprint(config)}
}

// Key is a fingerprint of the policy: equal keys decide alike (IsOwn, which
// follows the listeners, apart). A pool of connections is dropped when the key
// changes.
func (g *Guard) Key() string { return g.key }

func fingerprint(c Config) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v|%v|%v|%v", c.Allow, c.Deny, c.Ports, c.Resolvers))
	return hex.EncodeToString(sum[:16])
}

// CheckPort returns a *DeniedError unless the port of a target is allowed.
func (g *Guard) CheckPort(port uint16) error {
	for _, r := range g.config.Ports {
		if r.From <= port && port <= r.To {
			return nil
		}
	}
	return &DeniedError{Class: ClassPort, Addr: netip.AddrPortFrom(netip.Addr{}, port)}
}

// CheckAddr returns a *DeniedError unless the address may be dialled. Its port
// matters to own listeners only; see CheckPort. In order: own listeners and
// denied ranges are refused, then special-purpose addresses unless an allow
// range opens them. Where NAT64's 64:ff9b::/96 is opened, the IPv4 address
// inside is judged as well.
func (g *Guard) CheckAddr(target netip.AddrPort) error {
	target = netip.AddrPortFrom(target.Addr().Unmap().WithZone(""), target.Port())
	if target.Addr().IsValid() && g.config.IsOwn != nil && g.config.IsOwn(target) {
		return &DeniedError{Class: ClassOwnListener, Addr: target}
	}
	return g.checkRanges(target)
}

// checkRanges is CheckAddr without the look at own listeners.
func (g *Guard) checkRanges(target netip.AddrPort) error {
	addr := target.Addr()
	if !addr.IsValid() {
		return &DeniedError{Class: ClassSpecial, Addr: target}
	}
	if denied, ok := narrowest(g.config.Deny, addr); ok {
		return &DeniedError{Class: ClassDeniedRange, Addr: target, Range: denied}
	}
	if r, ok := specialFor(addr); ok {
		allowed, open := narrowest(g.config.Allow, addr)
		if !open || r.class == ClassMetadata && allowed.Bits() < r.prefix.Bits() {
			return &DeniedError{Class: r.class, Addr: target, Range: r.prefix}
		}
	}
	if nat64.Contains(addr) {
		inside := addr.As16()
		return g.CheckAddr(netip.AddrPortFrom(netip.AddrFrom4([4]byte(inside[12:])), target.Port()))
	}
	return nil
}

// CheckOrigin judges the port of an origin, and its address where the host is
// an IP literal: what can be known without DNS. Own listeners are left to the
// dial, which nothing can go around: finding them costs more than a decision.
func (g *Guard) CheckOrigin(o origin.Origin) error {
	err := g.CheckPort(o.Port)
	if err == nil {
		if addr, ok := o.IsIP(); ok {
			err = g.checkRanges(netip.AddrPortFrom(addr.Unmap().WithZone(""), o.Port))
		}
	}
	return g.refuse(err, o.Host)
}

// refuse counts a denial and notes the host that was asked for.
func (g *Guard) refuse(err error, host string) error {
	denied, ok := errors.AsType[*DeniedError](err)
	if !ok {
		return err
	}
	denied.Host = host
	if g.config.OnDenied != nil {
		g.config.OnDenied(denied.Class)
	}
	return denied
}

// A DeniedError says that the policy refuses an address or a port. It survives
// the wrapping of net.OpError and url.Error: find it with errors.As.
type DeniedError struct {
	// Class is one of the Class constants.
	Class string
	// Addr is the refused address and port; the address is invalid where the
	// port alone was judged.
	Addr netip.AddrPort
	// Host is the host that was asked for, where it is known.
	Host string
	// Range is the range that refused the address, where one did.
	Range netip.Prefix
}

// Reason returns the reason of the decision: port_denied or
// address_denied.
func (e *DeniedError) Reason() string {
	if e.Class == ClassPort {
		return "port_denied"
	}
	return "address_denied"
}

// Error says what was refused and how to allow it.
func (e *DeniedError) Error() string {
	if e.Class == ClassPort {
		port := strconv.Itoa(int(e.Addr.Port()))
		return "port " + port + " is not allowed: add it to ports if jobs may reach it"
	}
	what := "address " + e.Addr.Addr().String()
	if e.Host != "" && e.Host != e.Addr.Addr().String() {
		what = e.Host + " resolves to " + e.Addr.Addr().String() + ", which"
	}
	switch {
	case e.Class == ClassOwnListener:
		return what + " is, on port " + strconv.Itoa(int(e.Addr.Port())) + ", a listener of the gate itself, which is never reached through the gate"
	case e.Class == ClassDeniedRange:
		return what + " lies in the denied range " + e.Range.String()
	case !e.Range.IsValid():
		return "the address is not valid"
	}
	return what + " is " + e.Class + " (" + e.Range.String() + "): add that range or a part of it to allow_ranges if jobs may reach it"
}

// Timeout and Temporary make a DeniedError a net.Error, so that clients of the
// net package see a final failure.
func (e *DeniedError) Timeout() bool { return false }

// Temporary returns false; see Timeout.
func (e *DeniedError) Temporary() bool { return false }

var _ net.Error = (*DeniedError)(nil)
