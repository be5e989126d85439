package dialguard

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/internal/origin"
)

func prefixes(t *testing.T, words ...string) []netip.Prefix {
	t.Helper()
	p, err := ParsePrefixes(words)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// class returns the class of a denial, "" where err is nil.
func class(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var denied *DeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("%v (%T) holds no DeniedError", err, err)
	}
	return denied.Class
}

// THREATS R37, M6, M17: both ends of each range, and what lies beside it.
func TestCheckAddrDefaults(t *testing.T) {
	guard := New(Config{})
	for want, addrs := range map[string][]string{
		ClassLoopback: {"127.0.0.0", "127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"},
		ClassPrivate: {
			"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "100.64.0.0",
			"100.127.255.255", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1", "feff::1", "::ffff:10.1.2.3",
		},
		ClassLinkLocal: {"169.254.0.0", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1"},
		ClassMetadata: {
			"169.254.169.254", "::ffff:169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192",
			"fd00:ec2::254", "fd20:ce::254",
		},
		ClassSpecial: {
			"0.0.0.0", "0.255.255.255", "192.0.0.1", "192.0.0.255", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
			"192.175.48.1", "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
			"240.0.0.1", "255.255.255.255", "::", "::127.0.0.1", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::808:808",
			"64:ff9b:1::7f00:1", "100::1", "100:0:0:1::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1",
			"2001:db8::1", "2002:7f00:1::", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "5f00::1", "ff02::1", "ff0e::1",
			"1::1", "4000::1", "6000::1", "8000::1", "e000::1",
		},
		"": {
			"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
			"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
			"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "203.0.114.0", "223.255.255.255",
			"168.63.129.15", "::ffff:8.8.8.8", "2000::1", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111",
			"2620:4f:7fff::1", "2620:4f:8001::1", "3ffe::1",
		},
	} {
		for _, text := range addrs {
			err := guard.CheckAddr(netip.AddrPortFrom(netip.MustParseAddr(text), 80))
			if got := class(t, err); got != want {
				t.Errorf("%s: class %q, want %q (%v)", text, got, want, err)
			}
		}
	}
	if got := class(t, guard.CheckAddr(netip.AddrPort{})); got != ClassSpecial {
		t.Errorf("zero address: class %q, want %q", got, ClassSpecial)
	}
}

func TestCheckAddrPolicy(t *testing.T) {
	own := netip.MustParseAddrPort("127.0.0.1:2019")
	guard := New(Config{
		Allow: prefixes(t, "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.168.7.0/24", "64:ff9b::/96", "::ffff:172.16.0.0/108", "fd00::/8", "fd00:ec2::254"),
		Deny:  prefixes(t, "10.9.0.0/16", "8.8.8.0/24", "2606:4700::/32"),
		IsOwn: func(a netip.AddrPort) bool { return a == own },
	})
	for addr, want := range map[string]string{
		"10.1.1.1:80":              "",
		"10.9.1.1:80":              ClassDeniedRange,
		"8.8.8.8:80":               ClassDeniedRange,
		"8.8.4.4:80":               "",
		"[2606:4700::1]:80":        ClassDeniedRange,
		"127.0.0.1:80":             "",
		"127.0.0.1:2019":           ClassOwnListener,
		"[::ffff:127.0.0.1]:2019":  ClassOwnListener,
		"127.0.0.2:2019":           "",
		"169.254.1.1:80":           "",
		"169.254.169.254:80":       ClassMetadata,
		"192.168.7.1:80":           "",
		"192.168.8.1:80":           ClassPrivate,
		"172.16.0.1:80":            "",
		"[::ffff:172.16.0.1]:80":   "",
		"[64:ff9b::8.8.4.4]:80":    "",
		"[64:ff9b::8.8.8.8]:80":    ClassDeniedRange,
		"[64:ff9b::10.1.1.1]:80":   "",
		"[64:ff9b::127.0.0.1]:80":  "",
		"[64:ff9b::a9fe:a9fe]:80":  ClassMetadata,
		"[64:ff9b::7f00:1]:2019":   ClassOwnListener,
		"[fd00::1]:80":             "",
		"[fc00::1]:80":             ClassPrivate,
		"[fd00:ec2::254]:80":       "",
		"[fd20:ce::254]:80":        ClassMetadata,
		"[::1]:80":                 ClassLoopback,
		"[fe80::1%eth0]:80":        ClassLinkLocal,
		"[2001:4860:4860::8888]:1": "",
	} {
		err := guard.CheckAddr(netip.MustParseAddrPort(addr))
		if got := class(t, err); got != want {
			t.Errorf("%s: class %q, want %q (%v)", addr, got, want, err)
		}
	}
	wide := New(Config{Allow: prefixes(t, "0.0.0.0/0", "::/0")})
	for _, addr := range []string{"127.0.0.1:80", "[::1]:80", "10.0.0.1:80"} {
		if err := wide.CheckAddr(netip.MustParseAddrPort(addr)); err != nil {
			t.Errorf("an allow range of everything leaves %s closed: %v", addr, err)
		}
	}
	for _, addr := range []string{"169.254.169.254:80", "168.63.129.16:80", "[fd00:ec2::254]:80"} {
		if got := class(t, wide.CheckAddr(netip.MustParseAddrPort(addr))); got != ClassMetadata {
			t.Errorf("an allow range of everything opens %s (class %q)", addr, got)
		}
	}
}

// THREATS R81.
func TestCheckPort(t *testing.T) {
	ports, err := ParsePorts([]string{"8000-8100", "443"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		guard *Guard
		open  []uint16
		shut  []uint16
	}{
		{New(Config{}), []uint16{80, 443}, []uint16{0, 22, 25, 79, 81, 442, 444, 65535}},
		{New(Config{Ports: ports}), []uint16{443, 8000, 8050, 8100}, []uint16{80, 7999, 8101}},
	} {
		for _, p := range tc.open {
			if err := tc.guard.CheckPort(p); err != nil {
				t.Errorf("port %d: %v", p, err)
			}
		}
		for _, p := range tc.shut {
			err := tc.guard.CheckPort(p)
			var denied *DeniedError
			if !errors.As(err, &denied) || denied.Reason() != "port_denied" || !strings.Contains(err.Error(), fmt.Sprint(p)) {
				t.Errorf("port %d: %v, want port_denied", p, err)
			}
		}
	}
}

func TestCheckOrigin(t *testing.T) {
	var counted []string
	guard := New(Config{OnDenied: func(class string) { counted = append(counted, class) }})
	for _, tc := range []struct{ origin, reason, class string }{
		{"http://example.com", "", ""},
		{"http://8.8.8.8", "", ""},
		{"http://localhost", "", ""}, // a name is judged when it is resolved
		{"https://example.com:22", "port_denied", ClassPort},
		{"http://127.0.0.1", "address_denied", ClassLoopback},
		{"http://[::ffff:127.0.0.1]", "address_denied", ClassLoopback},
		{"https://[::1]", "address_denied", ClassLoopback},
		{"http://169.254.169.254", "address_denied", ClassMetadata},
	} {
		counted = nil
		o, err := origin.Parse(tc.origin)
		if err != nil {
			t.Fatal(err)
		}
		err = guard.CheckOrigin(o)
		if got := class(t, err); got != tc.class {
			t.Errorf("%s: class %q, want %q", tc.origin, got, tc.class)
		}
		if want := min(len(tc.class), 1); len(counted) != want || want == 1 && counted[0] != tc.class {
			t.Errorf("%s: counted %q, want %q", tc.origin, counted, tc.class)
		}
		if tc.class == "" {
			continue
		}
		// What http.Client and net.Dialer put round it.
		wrapped := &url.Error{Op: "Get", URL: tc.origin, Err: &net.OpError{Op: "dial", Err: err}}
		var denied *DeniedError
		if !errors.As(wrapped, &denied) || denied.Reason() != tc.reason || denied.Host != o.Host {
			t.Errorf("%s: %+v, want reason %s and host %s", tc.origin, denied, tc.reason, o.Host)
		}
	}
}

func TestKey(t *testing.T) {
	base := Config{Allow: prefixes(t, "10.0.0.0/8", "127.0.0.0/8")}
	key := New(base).Key()
	same := Config{
		Allow: prefixes(t, "127.0.0.0/8", "10.0.0.0/8", "10.0.0.0/8"), Ports: []PortRange{{443, 443}, {80, 80}},
		IsOwn: func(netip.AddrPort) bool { return true },
	}
	if got := New(same).Key(); got != key {
		t.Errorf("the same policy has keys %s and %s", key, got)
	}
	for name, other := range map[string]Config{
		"allow":     {Allow: prefixes(t, "10.0.0.0/8")},
		"deny":      {Deny: prefixes(t, "10.0.0.0/8", "127.0.0.0/8")},
		"ports":     {Allow: base.Allow, Ports: []PortRange{{80, 80}}},
		"resolvers": {Allow: base.Allow, Resolvers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}},
	} {
		if New(other).Key() == key {
			t.Errorf("another policy (%s) has the same key", name)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := ParsePorts([]string{"80", "8000-8100", "1-65535"})
	if err != nil || fmt.Sprint(got) != "[80 8000-8100 1-65535]" {
		t.Errorf("ParsePorts = %v, %v", got, err)
	}
	p, err := ParsePrefixes([]string{"10.0.0.0/8", "192.0.2.1", "fd00::/8", "::1", "::ffff:10.0.0.0/104", "::ffff:192.0.2.1", "0.0.0.0/0"})
	if err != nil || fmt.Sprint(p) != "[10.0.0.0/8 192.0.2.1/32 fd00::/8 ::1/128 10.0.0.0/8 192.0.2.1/32 0.0.0.0/0]" {
		t.Errorf("ParsePrefixes = %v, %v", p, err)
	}
	r, err := ParseResolvers([]string{"9.9.9.9", "127.0.0.1:5353", "::1", "[::1]", "[::1]:54"})
	if err != nil || fmt.Sprint(r) != "[9.9.9.9:53 127.0.0.1:5353 [::1]:53 [::1]:53 [::1]:54]" {
		t.Errorf("ParseResolvers = %v, %v", r, err)
	}
	refused := func(word string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", word)) {
			t.Errorf("%q: %v, want an error that names the word", word, err)
		}
	}
	for _, word := range []string{"", "0", "65536", "-1", "http", "80-", "-80", "90-80", "1-2-3", "80,443"} {
		_, err := ParsePorts([]string{"80", word})
		refused(word, err)
	}
	for _, word := range []string{"", "10.0.0.1/8", "10.0.0.0/33", "10/8", "localhost", "fe80::1%eth0", "fe80::%eth0/10", "private"} {
		_, err := ParsePrefixes([]string{"10.0.0.0/8", word})
		refused(word, err)
	}
	for _, word := range []string{"", "dns.example", "9.9.9.9:0", "9.9.9.9:x", "::1:53:x"} {
		_, err := ParseResolvers([]string{"9.9.9.9", word})
		refused(word, err)
	}
}

func BenchmarkCheckAddr(b *testing.B) {
	guard := New(Config{})
	for _, addr := range []string{"8.8.8.8:443", "[2606:4700::1111]:443", "127.0.0.1:443"} {
		b.Run("addr="+addr, func(b *testing.B) {
			target := netip.MustParseAddrPort(addr)
			b.ReportAllocs()
			for b.Loop() {
				_ = guard.CheckAddr(target)
			}
		})
	}
}
