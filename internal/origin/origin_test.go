package origin

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	for _, tc := range []struct {
		scheme, authority string
		want              Origin
	}{
		{"http", "example.com", Origin{"http", "example.com", 80}},
		{"https", "example.com", Origin{"https", "example.com", 443}},
		{"HTTPS", "example.com:443", Origin{"https", "example.com", 443}},
		{"http", "example.com:443", Origin{"http", "example.com", 443}},
		{"http", "example.com:", Origin{"http", "example.com", 80}},
		{"http", "example.com:08080", Origin{"http", "example.com", 8080}},
		{"http", "example.com:65535", Origin{"http", "example.com", 65535}},
		// Smokescreen CVE-2022-24825, CVE-2022-29188: dot, case, brackets.
		{"http", "EXAMPLE.Com", Origin{"http", "example.com", 80}},
		{"http", "example.com.", Origin{"http", "example.com", 80}},
		{"http", "Example.COM.:81", Origin{"http", "example.com", 81}},
		{"http", "a_b.-x-.example", Origin{"http", "a_b.-x-.example", 80}},
		{"http", "r3---sn-4g5e.example", Origin{"http", "r3---sn-4g5e.example", 80}},
		{"http", "localhost", Origin{"http", "localhost", 80}},
		{"http", "1e100.net", Origin{"http", "1e100.net", 80}},
		{"http", "example.1x", Origin{"http", "example.1x", 80}},
		{"http", name253, Origin{"http", name253, 80}},
		{"http", name253 + ".", Origin{"http", name253, 80}},
		// IDNA: one entry for the name and its A-label.
		{"https", "Bücher.example", Origin{"https", "xn--bcher-kva.example", 443}},
		{"https", "xn--bcher-kva.example", Origin{"https", "xn--bcher-kva.example", 443}},
		{"https", "XN--Bcher-KVA.example", Origin{"https", "xn--bcher-kva.example", 443}},
		{"https", "faß.example", Origin{"https", "xn--fa-hia.example", 443}},
		{"http", "ｅｘａｍｐｌｅ．ｃｏｍ", Origin{"http", "example.com", 80}},
		{"http", "bücher。example。", Origin{"http", "xn--bcher-kva.example", 80}},
		// Addresses.
		{"http", "127.0.0.1:8080", Origin{"http", "127.0.0.1", 8080}},
		{"http", "127.0.0.1.", Origin{"http", "127.0.0.1", 80}},
		{"http", "１２７．０．０．１", Origin{"http", "127.0.0.1", 80}},
		{"http", "[::1]", Origin{"http", "::1", 80}},
		{"http", "[2001:DB8:0:0::1]:8080", Origin{"http", "2001:db8::1", 8080}},
		{"http", "[::ffff:192.0.2.1]", Origin{"http", "192.0.2.1", 80}},
		{"http", "[::ffff:c000:201]:81", Origin{"http", "192.0.2.1", 81}},
	} {
		got, err := New(tc.scheme, tc.authority)
		if err != nil || got != tc.want {
			t.Errorf("New(%q, %q) = %+v, %v; want %+v", tc.scheme, tc.authority, got, err, tc.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct{ scheme, authority, problem string }{
		{"http", "", "names no host"},
		{"http", ":80", "names no host"},
		{"http", ".", "names no host"},
		{"http", "。", "names no host"},
		{"ftp", "example.com", "is not served"},
		{"", "example.com", "no scheme"},
		{"http", "user:secret@example.com", "userinfo"},
		{"http", "example.com:0", "port"},
		{"http", "example.com:99999", "port"},
		{"http", "example.com:-1", "port"},
		{"http", "example.com:+80", "port"},
		{"http", "example.com:8a", "port"},
		{"http", "example.com:000080", "port"},
		{"http", "example.com:80:80", "more than one colon"},
		{"http", "::1", "more than one colon"},
		{"http", "[example.com]", "no IPv6 address"},
		{"http", "[127.0.0.1]", "no IPv6 address"},
		{"http", "[::1", "no closing bracket"},
		{"http", "[::1]x", "after its closing bracket"},
		{"http", "[]", "no IPv6 address"},
		{"http", "[::1%eth0]", "zone"},
		{"http", "[::1%25eth0]", "zone"},
		// M12: forms that resolvers read differently.
		{"http", "127.1", "ends in a number"},
		{"http", "2130706433", "ends in a number"},
		{"http", "0x7f000001", "ends in a number"},
		{"http", "0X7F000001", "ends in a number"},
		{"http", "0177.0.0.1", "ends in a number"},
		{"http", "127.0.0.01", "ends in a number"},
		{"http", "0", "ends in a number"},
		{"http", "0x", "ends in a number"},
		{"http", "256.0.0.1", "ends in a number"},
		{"http", "example.0x1", "ends in a number"},
		{"http", "1.2.3.4.5", "ends in a number"},
		{"http", "１２７．１", "ends in a number"},
		{"http", "a..b", "not a valid name"},
		{"http", "example.com..", "not a valid name"},
		{"http", ".example.com", "not a valid name"},
		{"http", "exa mple.com", "not a valid name"},
		{"http", "exa%6dple.com", "not a valid name"},
		{"http", "ex\\ample.com", "not a valid name"},
		{"http", "ex\x00ample.com", "not a valid name"},
		{"http", "ex*mple.com", "not a valid name"},
		{"http", strings.Repeat("a", 64) + ".com", "not a valid name"},
		{"http", strings.Repeat("a.", 127) + "a", "not a valid name"},
		{"http", strings.Repeat("é", 2000), "too long"},
		{"http", "b\xfccher.example", "not UTF-8"},
		{"http", "xn--a-ecp.ru", "internationalised"},
		{"http", "xn--0.example", "internationalised"},
	} {
		got, err := New(tc.scheme, tc.authority)
		var bad *BadTargetError
		if !errors.As(err, &bad) {
			t.Errorf("New(%q, %q) = %+v, %v; want a BadTargetError", tc.scheme, tc.authority, got, err)
			continue
		}
		if !strings.Contains(bad.Problem, tc.problem) || bad.Advice == "" || got != (Origin{}) {
			t.Errorf("New(%q, %q) = %+v, %q; want the problem %q", tc.scheme, tc.authority, got, err, tc.problem)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q, %q) repeats the password: %v", tc.scheme, tc.authority, err)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"https://Example.com:443":  "https://example.com",
		"http://example.com:8080":  "http://example.com:8080",
		"http://[2001:db8::1]:80":  "http://[2001:db8::1]",
		"http://[2001:db8::1]:443": "http://[2001:db8::1]:443",
	} {
		o, err := Parse(text)
		if err != nil || o.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, o, err, want)
		}
		if again, err := Parse(o.String()); err != nil || again != o {
			t.Errorf("Parse(%q) = %v, %v; want %v", o, again, err, o)
		}
	}
	for _, text := range []string{
		"", "example.com", "https://", "https://example.com/", "https://example.com/p", "https://h?q", "https://h#f",
		"gopher://h", "https:/h", "https://u:p@h",
	} {
		if o, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v; want an error", text, o)
		}
	}
}

func TestForms(t *testing.T) {
	for _, tc := range []struct {
		o                       Origin
		authority, dial, robots string
	}{
		{Origin{"http", "example.com", 80}, "example.com", "example.com:80", "http://example.com/robots.txt"},
		{Origin{"http", "example.com", 443}, "example.com:443", "example.com:443", "http://example.com:443/robots.txt"},
		{Origin{"https", "example.com", 443}, "example.com", "example.com:443", "https://example.com/robots.txt"},
		{Origin{"https", "::1", 443}, "[::1]", "[::1]:443", "https://[::1]/robots.txt"},
		{Origin{"https", "::1", 8443}, "[::1]:8443", "[::1]:8443", "https://[::1]:8443/robots.txt"},
		{Origin{"http", "192.0.2.1", 81}, "192.0.2.1:81", "192.0.2.1:81", "http://192.0.2.1:81/robots.txt"},
	} {
		if got := tc.o.Authority(); got != tc.authority {
			t.Errorf("%+v.Authority() = %q, want %q", tc.o, got, tc.authority)
		}
		if got := tc.o.DialAddress(); got != tc.dial {
			t.Errorf("%+v.DialAddress() = %q, want %q", tc.o, got, tc.dial)
		}
		if got := tc.o.RobotsURL(); got != tc.robots {
			t.Errorf("%+v.RobotsURL() = %q, want %q", tc.o, got, tc.robots)
		}
		if tc.o.Clone() != tc.o {
			t.Errorf("%+v.Clone() differs", tc.o)
		}
	}
}

func TestIsIP(t *testing.T) {
	for host, want := range map[string]string{"::1": "::1", "192.0.2.1": "192.0.2.1", "example.com": "", "1e100.net": ""} {
		addr, ok := Origin{"http", host, 80}.IsIP()
		if ok != (want != "") || ok && addr != netip.MustParseAddr(want) {
			t.Errorf("%q.IsIP() = %v, %v; want %q", host, addr, ok, want)
		}
	}
}

func FuzzNew(f *testing.F) {
	for _, seed := range []string{
		"example.com", "EXAMPLE.com.:80", "[::1]:443", "[::ffff:127.0.0.1]", "127.1", "0x7f000001", "bücher.example",
		"xn--bcher-kva.example", "ｅｘ．ｃｏｍ。", "a_b", "user@host", "xn--", "xn--a", "١.٢", "a\u00ad.b", "[::1%25lo]", "ß:1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, authority string) {
		o, err := New("http", authority)
		if err != nil {
			var bad *BadTargetError
			if !errors.As(err, &bad) {
				t.Fatalf("New(%q): %T is no BadTargetError", authority, err)
			}
			return
		}
		for _, form := range []string{o.Authority(), o.DialAddress()} {
			if again, err := New("http", form); err != nil || again != o {
				t.Fatalf("New(%q) = %+v, but New(%q) = %+v, %v", authority, o, form, again, err)
			}
		}
		for i := range len(o.Host) {
			if c := o.Host[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("/?#@[]%\\", c) >= 0 || c >= 'A' && c <= 'Z' {
				t.Fatalf("New(%q): the host %q has %q", authority, o.Host, c)
			}
		}
	})
}
