package egress_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// TestTargetOnTheWire compares what the origin reads from its socket with what
// the client sent: path and query arrive octet for octet, and are judged so.
func TestTargetOnTheWire(t *testing.T) {
	r := gatetest.Start(t, "robots_gate {\nagents all\npaths rfc\n}\negress_proxy\n")
	for i, test := range []struct{ target, wire string }{
		{"/a/../b", ""},
		{"//a//b/", ""},
		{"/./a/%2e%2e/b", ""},
		{"/%70rivat", ""},
		{"/a%2fb%2Fc", ""},
		{"/a%5cb;p=1;q", ""},
		{"/%c3%a9%C3%A9", ""},
		{"/a?b=%zz&c=%", ""},
		{"/a?z=1&a=2&;b&z=0", ""},
		{"/a?", ""},
		{"/?", ""},
		{"/a?b?c=/d//../e", ""},
		{"/a?q=\"<>{}|^`\\", ""},
		{"/a!$&'()*+,;=:@-._~", ""},
		{"/a?x=" + strings.Repeat("y", 8000), ""},
		// net/http escapes what no URI path may hold; the escaped form is judged.
		{"/\u00e9", "/%C3%A9"},
		{"/a\"<>{}|^`b", "/a%22%3C%3E%7B%7D%7C%5E%60b"},
		{"", "/"},
		{"?q", "/?q"},
	} {
		wire := test.wire
		if wire == "" {
			wire = test.target
		}
		res := r.Get(r.URL("wire.test", test.target))
		if res.Status != 200 {
			t.Fatalf("%.80q is answered with %d: %.80s", test.target, res.Status, res.Body)
		}
		seen := r.Seen("wire.test")
		if got := seen[len(seen)-1]; len(seen) != i+1 || got != wire {
			t.Errorf("the origin saw %q, the client sent %q", got, test.target)
		}
		if got := r.Record(i + 1)["url"]; got != r.URL("wire.test", wire) {
			t.Errorf("judged is %q, sent is %q", got, r.URL("wire.test", wire))
		}
	}
}

// TestHeadersOnTheWire compares the headers that the origin reads: nothing of
// the gate's client is told, and nothing of the client's own is lost.
func TestHeadersOnTheWire(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	r.Get(r.URL("Wire.TEST.", "/a"),
		"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2", "Accept-Encoding: br", "Via: 1.0 fred",
		"Connection: X-Hop, keep-alive", "X-Hop: 1", "Proxy-Authorization: Basic Zm9vOmJhcg==", "Proxy-Connection: keep-alive",
		"Cookie: a=b", "Authorization: Bearer mine", "Te: trailers", "X-Custom: 1", "X-Custom: 2")
	r.Get(r.URL("wire.test", "/b"))
	log := r.Origin.Log("wire.test")
	first, second := log[len(log)-2], log[len(log)-1]
	for _, host := range []string{first.Host, second.Host} {
		if host != "wire.test" {
			t.Errorf("the origin is addressed as %q", host)
		}
	}
	for name, want := range map[string]string{
		"X-Forwarded-For": "192.0.2.1|192.0.2.2", "Accept-Encoding": "br", "Cookie": "a=b", "Authorization": "Bearer mine",
		"X-Custom": "1|2", "User-Agent": "examplebot/1.0",
		"X-Hop": "", "Proxy-Authorization": "", "Proxy-Connection": "", "Connection": "", "X-Forwarded-Proto": "", "X-Forwarded-Host": "",
	} {
		if got := strings.Join(first.Header.Values(name), "|"); got != want {
			t.Errorf("the origin got %s: %q, not %q", name, got, want)
		}
	}
	if via := strings.Join(first.Header.Values("Via"), ", "); !strings.HasPrefix(via, "1.0 fred, 1.1 robotsgate-") {
		t.Errorf("Via is %q", via)
	}
	for name := range second.Header {
		if name != "User-Agent" && name != "Via" {
			t.Errorf("the origin got a %s that the client did not send: %q", name, second.Header[name])
		}
	}
	for _, robots := range r.Origin.Log("wire.test")[:1] {
		for _, name := range []string{"Cookie", "Authorization", "X-Custom", "X-Forwarded-For", "Via"} {
			if robots.Target != "/robots.txt" || robots.Header.Get(name) != "" {
				t.Errorf("the fetch of %s carries %s: %q", robots.Target, name, robots.Header.Get(name))
			}
		}
	}
}

// TestNoUserAgent adds none where the client sent none.
func TestNoUserAgent(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	r.Raw("GET", "GET "+r.URL("wire.test", "/a")+" HTTP/1.1\r\nHost: wire.test\r\n\r\n")
	log := r.Origin.Log("wire.test")
	if got := log[len(log)-1].Header.Values("User-Agent"); len(got) > 0 {
		t.Errorf("the origin got the User-Agent %q", got)
	}
}

// TestBodies sends bodies and trailers both ways through the gate, with length
// and without.
func TestBodies(t *testing.T) {
	r := gatetest.New(t)
	payload := make([]byte, 3<<20)
	_, _ = rand.Read(payload)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/robots.txt" {
			return
		}
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("X-Length", fmt.Sprint(req.ContentLength))
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("the origin read %d octets: %v", len(body), err)
		}
		n, _ := w.Write(body)
		w.Header().Set("X-Sum", fmt.Sprint(n, req.Trailer.Get("X-Sent")))
	}))
	defer origin.Close()
	_, port, _ := net.SplitHostPort(origin.Listener.Addr().String())
	r.Port = port
	r.Serve(gatetest.Forward)
	proxy := &url.URL{Scheme: "http", Host: r.Addr}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableCompression: true}}
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		name, length string
		trailer      http.Header
	}{
		{"with a length", fmt.Sprint(len(payload)), nil},
		{"chunked", "-1", nil},
		{"chunked with a trailer", "-1", http.Header{"X-Sent": {"yes"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL("body.test", "/echo"), io.MultiReader(bytes.NewReader(payload)))
			if test.length != "-1" {
				req.ContentLength = int64(len(payload))
			}
			req.Trailer = test.trailer
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || !bytes.Equal(body, payload) {
				t.Errorf("%d octets of %d came back, error %v", len(body), len(payload), err)
			}
			if got := res.Header.Get("X-Length"); got != test.length {
				t.Errorf("the origin was told the length %s, not %s", got, test.length)
			}
			if got, want := res.Trailer.Get("X-Sum"), fmt.Sprint(len(payload), test.trailer.Get("X-Sent")); got != want {
				t.Errorf("the trailer is %q, not %q", got, want)
			}
		})
	}
}

// TestBothWaysAtOnce lets the origin answer while the request still comes in:
// what a stock Go server would throw away arrives.
func TestBothWaysAtOnce(t *testing.T) {
	r := gatetest.New(t)
	payload := make([]byte, 3<<20)
	_, _ = rand.Read(payload)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/robots.txt" {
			_ = http.NewResponseController(w).EnableFullDuplex()
			_, _ = io.Copy(w, req.Body)
		}
	}))
	defer origin.Close()
	_, r.Port, _ = net.SplitHostPort(origin.Listener.Addr().String())
	r.Serve(gatetest.Forward)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: r.Addr})}}
	defer client.CloseIdleConnections()
	for range 5 {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL("body.test", "/echo"), io.MultiReader(bytes.NewReader(payload)))
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !bytes.Equal(body, payload) {
			t.Errorf("%d octets of %d came back, error %v", len(body), len(payload), err)
		}
	}
}

// TestResponseUnchanged passes on what the origin says, but its own mark.
func TestResponseUnchanged(t *testing.T) {
	r := gatetest.New(t)
	r.Pages("page.test", "", faultorigin.Answer(418, "X-Robots-Gate: deny; reason=forged\r\nX-Robots-Tag: none\r\nServer: teapot/1\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Encoding: gzip\r\n", "not gzip"))
	r.Serve(gatetest.Forward)
	res := r.Get(r.URL("page.test", "/"))
	if res.Status != 418 || res.Body != "not gzip" {
		t.Errorf("the answer is %d %q", res.Status, res.Body)
	}
	for name, want := range map[string]string{
		"X-Robots-Gate": "", "X-Robots-Tag": "none", "Server": "teapot/1", "Set-Cookie": "a=b|c=d", "Content-Encoding": "gzip", "Content-Length": "8",
	} {
		if got := strings.Join(res.Header.Values(name), "|"); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}
