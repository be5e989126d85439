package dialguard

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// nameServer answers on UDP and TCP at a loopback address and notes what it
// was asked.
type nameServer struct {
	addr    netip.AddrPort
	mu      sync.Mutex
	asked   []string
	answers func(name string, qtype uint16) (ips []string, rcode int)
}

func serveNames(t *testing.T, answers func(name string, qtype uint16) ([]string, int)) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{addr: netip.MustParseAddrPort(conn.LocalAddr().String()), answers: answers}
	ready := make(chan struct{})
	server := &dns.Server{PacketConn: conn, Handler: s, NotifyStartedFunc: func() { close(ready) }}
	go func() { _ = server.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() { _ = server.Shutdown() })
	return s
}

func (s *nameServer) ServeDNS(w dns.ResponseWriter, request *dns.Msg) {
	q := request.Question[0]
	s.mu.Lock()
	s.asked = append(s.asked, q.Name)
	s.mu.Unlock()
	reply := new(dns.Msg).SetReply(request)
	reply.RecursionAvailable = true // else an empty answer is a lame referral
	var ips []string
	ips, reply.Rcode = s.answers(q.Name, q.Qtype)
	for _, text := range ips {
		ip := net.ParseIP(text)
		header := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET}
		switch {
		case q.Qtype == dns.TypeA && ip.To4() != nil:
			reply.Answer = append(reply.Answer, &dns.A{Hdr: header, A: ip})
		case q.Qtype == dns.TypeAAAA && ip.To4() == nil:
			reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: header, AAAA: ip})
		}
	}
	_ = w.WriteMsg(reply)
}

func fixed(ips ...string) func(string, uint16) ([]string, int) {
	return func(string, uint16) ([]string, int) { return ips, dns.RcodeSuccess }
}

// twoOrigins listens on one port of 127.0.0.1, which the tests take for an
// inner service, and of 127.0.0.2, which stands in for a public address.
func twoOrigins(t *testing.T) (port uint16, inner, public *atomic.Int64) {
	t.Helper()
	inner, public = new(atomic.Int64), new(atomic.Int64)
	first := listen(t, "127.0.0.1:0", inner)
	listen(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), first.Port()).String(), public)
	return first.Port(), inner, public
}

func listen(t *testing.T, address string, accepted *atomic.Int64) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			conn.Close()
		}
	})
	t.Cleanup(func() { l.Close(); done.Wait() })
	return netip.MustParseAddrPort(l.Addr().String())
}

func guardFor(t *testing.T, port uint16, server *nameServer, change func(*Config)) *Guard {
	t.Helper()
	config := Config{
		Allow: prefixes(t, "127.0.0.2/32"), Ports: []PortRange{{port, port}}, Resolvers: []netip.AddrPort{server.addr},
	}
	if change != nil {
		change(&config)
	}
	return New(config)
}

// dialHost dials and returns the address that was reached.
func dialHost(t *testing.T, g *Guard, host string, port uint16) (string, error) {
	t.Helper()
	conn, err := g.DialContext(t.Context(), "tcp", net.JoinHostPort(host, netPort(port)))
	if err != nil {
		var op *net.OpError
		if !errors.As(err, &op) {
			t.Errorf("%v (%T) is no net.OpError", err, err)
		}
		return "", err
	}
	defer conn.Close()
	return netip.MustParseAddrPort(conn.RemoteAddr().String()).Addr().String(), nil
}

func netPort(port uint16) string {
	return PortRange{port, port}.String()
}

// THREATS R35: the name is public when it is first looked up, inner afterwards.
func TestDialRebinding(t *testing.T) {
	port, inner, _ := twoOrigins(t)
	var turn atomic.Int64
	server := serveNames(t, func(_ string, qtype uint16) ([]string, int) {
		if qtype != dns.TypeA {
			return nil, dns.RcodeSuccess
		}
		if turn.Add(1) == 1 {
			return []string{"127.0.0.2"}, dns.RcodeSuccess
		}
		return []string{"127.0.0.1"}, dns.RcodeSuccess
	})
	g := guardFor(t, port, server, nil)
	if got, err := dialHost(t, g, "rebind.example", port); err != nil || got != "127.0.0.2" {
		t.Fatalf("first dial: %q, %v; want 127.0.0.2", got, err)
	}
	for range 3 {
		if got, err := dialHost(t, g, "rebind.example", port); class(t, err) != ClassLoopback {
			t.Fatalf("later dial: %q, %v; want it denied as loopback", got, err)
		}
	}
	if inner.Load() != 0 {
		t.Errorf("the inner service accepted %d connections", inner.Load())
	}
}

// The socket's address is judged again right before it connects: here the
// policy's answer changes between the two looks.
func TestDialChecksTheSocket(t *testing.T) {
	port, _, public := twoOrigins(t)
	var looks atomic.Int64
	g := guardFor(t, port, serveNames(t, fixed("127.0.0.2")), func(c *Config) {
		c.IsOwn = func(a netip.AddrPort) bool {
			return a.Addr() == netip.MustParseAddr("127.0.0.2") && looks.Add(1) > 1
		}
	})
	if _, err := dialHost(t, g, "origin.example", port); class(t, err) != ClassOwnListener {
		t.Errorf("%v; want it denied as own_listener", err)
	}
	if looks.Load() != 2 || public.Load() != 0 {
		t.Errorf("%d looks, %d connections; want 2 and 0", looks.Load(), public.Load())
	}
}

// THREATS R33, R36, R37, R39, R81.
func TestDialPolicy(t *testing.T) {
	port, inner, _ := twoOrigins(t)
	for _, tc := range []struct {
		name, network, host string
		answer              []string
		change              func(*Config)
		want, class         string
		counted             []string
	}{
		{name: "public", host: "a.example", answer: []string{"127.0.0.2"}, want: "127.0.0.2"},
		{name: "mixed answer", host: "a.example", answer: []string{"127.0.0.1", "10.0.0.1", "127.0.0.2"}, want: "127.0.0.2", counted: []string{"loopback", "private"}},
		{name: "inner only", host: "a.example", answer: []string{"127.0.0.1"}, class: ClassLoopback, counted: []string{"loopback"}},
		{name: "metadata", host: "a.example", answer: []string{"169.254.169.254"}, class: ClassMetadata, counted: []string{"metadata"}},
		{name: "unspecified", host: "a.example", answer: []string{"0.0.0.0", "::"}, class: ClassSpecial, counted: []string{"special", "special"}},
		{name: "mapped", host: "a.example", answer: []string{"::ffff:127.0.0.1"}, class: ClassLoopback, counted: []string{"loopback"}},
		{name: "literal", host: "127.0.0.2", want: "127.0.0.2"},
		{name: "inner literal", host: "127.0.0.1", class: ClassLoopback, counted: []string{"loopback"}},
		{name: "mapped literal", host: "::ffff:127.0.0.1", class: ClassLoopback, counted: []string{"loopback"}},
		{name: "localhost", host: "localhost", answer: []string{"127.0.0.1"}, class: ClassLoopback},
		{name: "port", host: "a.example", answer: []string{"127.0.0.2"}, change: func(c *Config) { c.Ports = nil }, class: ClassPort, counted: []string{"port"}},
		{
			name: "own listener under allow", host: "a.example", answer: []string{"127.0.0.2"}, class: ClassOwnListener, counted: []string{"own_listener"},
			change: func(c *Config) {
				c.IsOwn = func(a netip.AddrPort) bool { return a.Port() == port && a.Addr().IsLoopback() }
			},
		},
		{
			name: "denied range", host: "a.example", answer: []string{"127.0.0.2"}, class: ClassDeniedRange, counted: []string{"denied_range"},
			change: func(c *Config) { c.Deny = prefixes(t, "127.0.0.2/32") },
		},
		{name: "no listener on the first family", host: "a.example", answer: []string{"::1", "127.0.0.2"}, want: "127.0.0.2", change: func(c *Config) { c.Allow = append(c.Allow, prefixes(t, "::1")...) }},
		{name: "no listener on the first address", host: "a.example", answer: []string{"127.0.0.3", "127.0.0.2"}, want: "127.0.0.2", change: func(c *Config) { c.Allow = append(c.Allow, prefixes(t, "127.0.0.3")...) }},
		{name: "one family", network: "tcp4", host: "a.example", answer: []string{"::1", "127.0.0.2"}, want: "127.0.0.2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var mu sync.Mutex
			var counted []string
			g := guardFor(t, port, serveNames(t, fixed(tc.answer...)), func(c *Config) {
				if tc.change != nil {
					tc.change(c)
				}
				c.OnDenied = func(class string) { mu.Lock(); counted = append(counted, class); mu.Unlock() }
			})
			network := "tcp"
			if tc.network != "" {
				network = tc.network
			}
			conn, err := g.DialContext(t.Context(), network, net.JoinHostPort(tc.host, netPort(port)))
			got := ""
			if err == nil {
				got = netip.MustParseAddrPort(conn.RemoteAddr().String()).Addr().String()
				conn.Close()
			}
			if got != tc.want || tc.class != "" && class(t, err) != tc.class {
				t.Errorf("reached %q, %v; want %q, class %q", got, err, tc.want, tc.class)
			}
			slices.Sort(counted)
			if tc.counted != nil && !slices.Equal(counted, tc.counted) {
				t.Errorf("counted %q, want %q", counted, tc.counted)
			}
			if denied := (*DeniedError)(nil); errors.As(err, &denied) && denied.Host != tc.host {
				t.Errorf("the denial names %q, want %q", denied.Host, tc.host)
			}
		})
	}
	if inner.Load() != 0 {
		t.Errorf("the inner service accepted %d connections", inner.Load())
	}
}

// THREATS R38, M12: no resolver of ours reads these as addresses.
func TestDialOddAddresses(t *testing.T) {
	port, inner, _ := twoOrigins(t)
	g := guardFor(t, port, serveNames(t, func(string, uint16) ([]string, int) { return nil, dns.RcodeNameError }), nil)
	for _, host := range []string{"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0"} {
		if got, err := dialHost(t, g, host, port); err == nil {
			t.Errorf("%s was dialled as %s", host, got)
		}
	}
	if inner.Load() != 0 {
		t.Errorf("the inner service accepted %d connections", inner.Load())
	}
}

// THREATS R22.
func TestDialNameErrors(t *testing.T) {
	port, _, public := twoOrigins(t)
	for name, tc := range map[string]struct {
		rcode    int
		notFound bool
	}{
		"NXDOMAIN": {dns.RcodeNameError, true},
		"no data":  {dns.RcodeSuccess, true},
		"SERVFAIL": {dns.RcodeServerFailure, false},
		"REFUSED":  {dns.RcodeRefused, false},
	} {
		server := serveNames(t, func(string, uint16) ([]string, int) { return nil, tc.rcode })
		_, err := dialHost(t, guardFor(t, port, server, nil), "short", port)
		var failure *net.DNSError
		if !errors.As(err, &failure) || failure.IsNotFound != tc.notFound || failure.Server != server.addr.String() {
			t.Errorf("%s: %v; want a DNSError of %v, not found: %v", name, err, server.addr, tc.notFound)
		}
		server.mu.Lock()
		if i := slices.IndexFunc(server.asked, func(n string) bool { return n != "short." }); i >= 0 {
			t.Errorf("%s: the search list was used: %q", name, server.asked)
		}
		server.mu.Unlock()
	}
	if public.Load() != 0 {
		t.Errorf("%d connections", public.Load())
	}
}

func TestDialAsksTheNextResolver(t *testing.T) {
	port, _, _ := twoOrigins(t)
	failing := serveNames(t, func(string, uint16) ([]string, int) { return nil, dns.RcodeServerFailure })
	good := serveNames(t, fixed("127.0.0.2"))
	g := guardFor(t, port, failing, func(c *Config) { c.Resolvers = append(c.Resolvers, good.addr) })
	if got, err := dialHost(t, g, "a.example", port); err != nil || got != "127.0.0.2" {
		t.Errorf("%q, %v; want 127.0.0.2", got, err)
	}
	// That a name does not exist is an answer.
	missing := serveNames(t, func(string, uint16) ([]string, int) { return nil, dns.RcodeNameError })
	g = guardFor(t, port, missing, func(c *Config) { c.Resolvers = append(c.Resolvers, good.addr) })
	if got, err := dialHost(t, g, "a.example", port); err == nil {
		t.Errorf("reached %q although the first server says that the name does not exist", got)
	}
}

func TestDialRefusesBadAddresses(t *testing.T) {
	g := New(Config{})
	for _, tc := range []struct{ network, address string }{
		{"tcp", "example.com"}, {"tcp", "example.com:http"}, {"tcp", "example.com:0"}, {"tcp", "example.com:99999"}, {"udp", "example.com:80"}, {"unix", "x:80"},
	} {
		if _, err := g.DialContext(t.Context(), tc.network, tc.address); err == nil || strings.Contains(err.Error(), "no such host") {
			t.Errorf("%s %s: %v; want it refused without a lookup", tc.network, tc.address, err)
		}
	}
}

// Without resolvers the system's configuration counts, its hosts file included.
func TestDialSystemResolver(t *testing.T) {
	var accepted atomic.Int64
	port := listen(t, "127.0.0.1:0", &accepted).Port()
	ports := []PortRange{{port, port}}
	if _, err := dialHost(t, New(Config{Ports: ports}), "localhost", port); class(t, err) != ClassLoopback {
		t.Errorf("%v; want it denied as loopback", err)
	}
	open := New(Config{Ports: ports, Allow: prefixes(t, "127.0.0.0/8")})
	if got, err := dialHost(t, open, "localhost", port); err != nil || got != "127.0.0.1" {
		t.Errorf("%q, %v; want 127.0.0.1", got, err)
	}
}
