package origin

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// read parses raw bytes as Go's server does.
func read(t testing.TB, raw string, secure bool) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(raw, "\n", "\r\n") + "\r\n\r\n")))
	if err != nil {
		t.Fatalf("reading %q: %v", raw, err)
	}
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	return r
}

func TestFromRequest(t *testing.T) {
	for _, tc := range []struct {
		raw    string
		secure bool
		want   string
		path   string
	}{
		{"GET http://Example.com/a%2Fb?x=%zz&y HTTP/1.1\nHost: other.example", false, "http://example.com/a%2Fb?x=%zz&y", "/a%2Fb?x=%zz&y"},
		{"GET http://example.com HTTP/1.1\nHost: x", false, "http://example.com/", "/"},
		{"GET http://example.com?q HTTP/1.1\nHost: x", false, "http://example.com/?q", "/?q"},
		{"GET HTTP://EXAMPLE.com.:80/ HTTP/1.1\nHost: x", false, "http://example.com/", "/"},
		{"GET http://example.com:8080/ HTTP/1.0", false, "http://example.com:8080/", "/"},
		{"GET http://bücher.example/ HTTP/1.1\nHost: x", false, "http://xn--bcher-kva.example/", "/"},
		{"GET http://b%C3%BCcher.example/ HTTP/1.1\nHost: x", false, "http://xn--bcher-kva.example/", "/"},
		{"GET http://[::ffff:c000:201]/ HTTP/1.1\nHost: x", false, "http://192.0.2.1/", "/"},
		{"GET /p? HTTP/1.1\nHost: Example.com:80", false, "http://example.com/p?", "/p?"},
		{"GET /p HTTP/1.1\nHost: example.com:443", true, "https://example.com/p", "/p"},
		{"GET /p HTTP/1.1\nHost: example.com:80", true, "https://example.com:80/p", "/p"},
		{"GET https://example.com/ HTTP/1.1\nHost: x", true, "https://example.com/", "/"},
		{"GET http://example.com/ HTTP/1.1\nHost: x", true, "http://example.com/", "/"},
		{"GET //private/x HTTP/1.1\nHost: example.com", false, "http://example.com//private/x", "//private/x"},
		{"GET /a/../%2e/;b%5cc HTTP/1.1\nHost: example.com", false, "http://example.com/a/../%2e/;b%5cc", "/a/../%2e/;b%5cc"},
		// A raw octet that no URL may hold makes net/url write the whole path
		// anew, %2F included: that is then sent, and so it is what is judged.
		{"GET /a%2Fb\\c|d HTTP/1.1\nHost: example.com", false, "http://example.com/a/b%5Cc%7Cd", "/a/b%5Cc%7Cd"},
		{"GET /caf\xe9?\xe9 HTTP/1.1\nHost: example.com", false, "http://example.com/caf%E9?\xe9", "/caf%E9?\xe9"},
		{"OPTIONS * HTTP/1.1\nHost: example.com", false, "http://example.com", "*"},
		{"GET /p HTTP/1.1\nHost: example.com\nUser-Agent:", false, "http://example.com/p", "/p"},
	} {
		got, err := FromRequest(read(t, tc.raw, tc.secure))
		if err != nil || got.URL() != tc.want || got.PathQuery() != tc.path {
			t.Errorf("%q: URL %q, PathQuery %q, %v; want %q, %q", tc.raw, got.URL(), got.PathQuery(), err, tc.want, tc.path)
		}
	}
}

// THREATS R38, R72, R74, R77–R81, R90.
func TestFromRequestRefuses(t *testing.T) {
	for _, tc := range []struct {
		raw     string
		problem string
	}{
		{"GET / HTTP/1.0", "names no host"},
		{"GET / HTTP/1.1\nHost:", "names no host"},
		{"GET http:/p HTTP/1.1\nHost: example.com", "names no host"},
		{"GET http:///p HTTP/1.1\nHost: example.com", "names no host"},
		{"GET http:p HTTP/1.1\nHost: example.com", "no // after its scheme"},
		{"GET ftp://example.com/ HTTP/1.1\nHost: example.com", "is not served"},
		{"GET https://example.com/ HTTP/1.1\nHost: example.com", "in clear"},
		{"GET http://user:secret@example.com/ HTTP/1.1\nHost: x", "userinfo"},
		{"GET / HTTP/1.1\nHost: user:secret@example.com", "userinfo"},
		{"GET /%00 HTTP/1.1\nHost: example.com", "control character"},
		{"GET /a%0ab HTTP/1.1\nHost: example.com", "control character"},
		{"GET /a%1Fb HTTP/1.1\nHost: example.com", "control character"},
		{"GET /a%7fb HTTP/1.1\nHost: example.com", "control character"},
		{"GET /a#b HTTP/1.1\nHost: example.com", "has a #"},
		{"GET /a?b#c HTTP/1.1\nHost: example.com", "has a #"},
		{"GET http://example.com/a#b HTTP/1.1\nHost: x", "has a #"},
		{"GET http://example.com:0/ HTTP/1.1\nHost: x", "port"},
		{"GET http://example.com:99999/ HTTP/1.1\nHost: x", "port"},
		{"GET / HTTP/1.1\nHost: example.com:99999", "port"},
		{"GET http://[::1%25eth0]/ HTTP/1.1\nHost: x", "zone"},
		{"GET http://2130706433/ HTTP/1.1\nHost: x", "ends in a number"},
		{"GET / HTTP/1.1\nHost: [example.com]", "no IPv6 address"},
		{"GET / HTTP/1.1\nHost: example.com\nUser-Agent: a\nUser-Agent: a", "User-Agent"},
		{"GET * HTTP/1.1\nHost: example.com", "OPTIONS"},
		{"CONNECT example.com:443 HTTP/1.1\nHost: example.com", "CONNECT"},
	} {
		got, err := FromRequest(read(t, tc.raw, false))
		var bad *BadTargetError
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, tc.problem) {
			t.Errorf("%q = %+v, %v; want the problem %q", tc.raw, got, err, tc.problem)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error repeats the password: %v", tc.raw, err)
		}
	}
}

// An HTTP/2 :path is parsed like a request target; an absolute URL in it would
// stand beside another :authority.
func TestFromRequestHTTP2(t *testing.T) {
	absolute := &http.Request{
		Method: "GET", ProtoMajor: 2, Host: "allowed.example", RequestURI: "https://evil.example/",
		URL: &url.URL{Scheme: "https", Host: "evil.example", Path: "/"}, TLS: &tls.ConnectionState{}, Header: http.Header{},
	}
	if got, err := FromRequest(absolute); err == nil {
		t.Errorf("absolute :path = %+v; want an error", got)
	}
	webSocket := &http.Request{
		Method: "CONNECT", ProtoMajor: 2, Host: "example.com", RequestURI: "/chat", URL: &url.URL{Path: "/chat"},
		TLS: &tls.ConnectionState{}, Header: http.Header{":protocol": {"websocket"}},
	}
	if got, err := FromRequest(webSocket); err != nil || got.URL() != "https://example.com/chat" {
		t.Errorf("extended CONNECT = %+v, %v; want https://example.com/chat", got, err)
	}
}

func TestFromConnect(t *testing.T) {
	for raw, want := range map[string]string{
		"CONNECT Example.COM:443 HTTP/1.1\nHost: other":         "https://example.com",
		"CONNECT example.com.:8443 HTTP/1.1\nHost: other":       "https://example.com:8443",
		"CONNECT [2001:DB8::1]:443 HTTP/1.1\nHost: other":       "https://[2001:db8::1]",
		"CONNECT bücher.example:443 HTTP/1.1\nHost: other":      "https://xn--bcher-kva.example",
		"CONNECT example.com:80 HTTP/1.1\nHost: example.com:80": "https://example.com:80",
	} {
		if got, err := FromConnect(read(t, raw, false)); err != nil || got.String() != want {
			t.Errorf("%q = %v, %v; want %v", raw, got, err, want)
		}
	}
	h2 := &http.Request{Method: "CONNECT", ProtoMajor: 2, Host: "example.com:443", RequestURI: "example.com:443", URL: &url.URL{Host: "example.com:443"}, Header: http.Header{}}
	if got, err := FromConnect(h2); err != nil || got.String() != "https://example.com" {
		t.Errorf("HTTP/2 CONNECT = %v, %v", got, err)
	}
}

// THREATS R85.
func TestFromConnectRefuses(t *testing.T) {
	for _, tc := range []struct{ raw, problem string }{
		{"CONNECT example.com HTTP/1.1\nHost: x", "no port"},
		{"CONNECT example.com: HTTP/1.1\nHost: x", "no port"},
		{"CONNECT example.com:0 HTTP/1.1\nHost: x", "port"},
		{"CONNECT example.com:99999 HTTP/1.1\nHost: x", "port"},
		{"CONNECT :443 HTTP/1.1\nHost: x", "names no host"},
		{"CONNECT http://a:443/x HTTP/1.1\nHost: x", "more than a host"},
		{"CONNECT http://a:443 HTTP/1.1\nHost: x", "more than a host"},
		{"CONNECT /path HTTP/1.1\nHost: example.com:443", "more than a host"},
		{"CONNECT example.com:443/x HTTP/1.1\nHost: x", "more than a host"},
		{"CONNECT example.com:443/ HTTP/1.1\nHost: x", "more than a host"},
		{"CONNECT example.com:443? HTTP/1.1\nHost: x", "more than a host"},
		{"CONNECT example.com:443?q HTTP/1.1\nHost: x", "more than a host"},
		{"CONNECT user:secret@example.com:443 HTTP/1.1\nHost: x", "userinfo"},
		{"CONNECT b%C3%BCcher.example:443 HTTP/1.1\nHost: x", "no valid host"},
		{"CONNECT example.com:443 HTTP/1.1\nHost: x\nUser-Agent: a\nUser-Agent: b", "User-Agent"},
	} {
		got, err := FromConnect(read(t, tc.raw, false))
		var bad *BadTargetError
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, tc.problem) {
			t.Errorf("%q = %+v, %v; want the problem %q", tc.raw, got, err, tc.problem)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error repeats the password: %v", tc.raw, err)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"https://Example.com":             "https://example.com/",
		"https://example.com/a#fragment":  "https://example.com/a",
		"https://example.com?":            "https://example.com/?",
		"http://example.com/a b?c d":      "http://example.com/a%20b?c%20d",
		"http://example.com/%7euser?%zz":  "http://example.com/%7euser?%zz",
		"http://[2001:db8::1]:81/x?y=/?z": "http://[2001:db8::1]:81/x?y=/?z",
	} {
		if got, err := ParseTarget(text); err != nil || got.URL() != want {
			t.Errorf("ParseTarget(%q) = %q, %v; want %q", text, got.URL(), err, want)
		}
	}
	for _, text := range []string{
		"", "/path", "example.com/", "mailto:a@b", "https:///p", "http://h/%zz", "http://h/%0a", "http://h/\n", "http://h:port/",
		"http://user:secret@h/", "http://user:secret@h:port/", "http://user:sec%zzret@h/", "ftp://h/", "http:h",
	} {
		got, err := ParseTarget(text)
		var bad *BadTargetError
		if !errors.As(err, &bad) {
			t.Errorf("ParseTarget(%q) = %+v, %v; want a BadTargetError", text, got, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseTarget(%q) repeats the password: %v", text, err)
		}
	}
}

func TestFromRequestAllocates(t *testing.T) {
	for name, raw := range map[string]string{
		"absolute": "GET http://www.example.com/a/path?with=query HTTP/1.1\nHost: www.example.com\nUser-Agent: bot",
		"origin":   "GET /a/path?with=query HTTP/1.1\nHost: www.example.com\nUser-Agent: bot",
		"address":  "GET http://192.0.2.1:8080/ HTTP/1.1\nHost: x",
	} {
		r := read(t, raw, false)
		if n := testing.AllocsPerRun(100, func() { _, _ = FromRequest(r) }); n > 1 {
			t.Errorf("%s form: %v allocations, want at most 1", name, n)
		}
	}
}

func BenchmarkFromRequest(b *testing.B) {
	for name, raw := range map[string]string{
		"form=absolute":    "GET http://www.example.com/a/path?with=query HTTP/1.1\nHost: www.example.com\nUser-Agent: bot",
		"form=origin":      "GET /a/path?with=query HTTP/1.1\nHost: www.example.com\nUser-Agent: bot",
		"form=escaped":     "GET http://www.example.com/a%2Fpath?with=query HTTP/1.1\nHost: www.example.com\nUser-Agent: bot",
		"form=mixed_case":  "GET http://WWW.example.com./ HTTP/1.1\nHost: x",
		"form=unicode":     "GET http://bücher.example/ HTTP/1.1\nHost: x",
		"form=ip_literal4": "GET http://192.0.2.1:8080/ HTTP/1.1\nHost: x",
	} {
		b.Run(name, func(b *testing.B) {
			r := read(b, raw, false)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = FromRequest(r)
			}
		})
	}
}
