package integration_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestIntercept is the heart of it: https requests through a CONNECT are
// served, judged and recorded one by one, over HTTP/1.1 and HTTP/2.
func TestIntercept(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		name, want := "h1", "HTTP/1.1"
		if http2 {
			name, want = "h2", "HTTP/2.0"
		}
		t.Run(name, func(t *testing.T) {
			i := startInterceptor(t, interceptSite)
			client := i.client(t, http2)
			status, header, body, proto := get(t, client, i.origin.url("shop.test", "/open?b=1&a=2"), "User-Agent: ExampleBot/1.0")
			if status != 200 || body != securePage("shop.test:"+i.origin.Port, "/open?b=1&a=2") || proto != want || header.Get("X-Robots-Gate") != "" {
				t.Errorf("allowed page: got %d %q %v over %s", status, body, header, proto)
			}
			status, header, body, _ = get(t, client, i.origin.url("shop.test", "/private/x"), "User-Agent: ExampleBot/1.0")
			if status != 403 || header.Get("X-Robots-Gate") != "deny; reason=disallowed" || !strings.Contains(body, `"rule":"Disallow: /private/"`) {
				t.Errorf("disallowed page: got %d %v %q", status, header, body)
			}
			pages := i.origin.pages()
			if len(pages) != 1 || pages[0].URI != "/open?b=1&a=2" {
				t.Errorf("the origin saw %+v", pages)
			}
			i.stop()
			records := readLog(t, i.log)
			if len(records) != 2 {
				t.Fatalf("%d lines in the access log, want one for each request inside the tunnel: %+v", len(records), records)
			}
			for n, path := range []string{"/open?b=1&a=2", "/private/x"} {
				r := records[n]
				if r.Robots.URL != i.origin.url("shop.test", path) || r.Request.Method != http.MethodGet || r.Robots.Seq != uint64(n+1) {
					t.Errorf("record %d: got %+v", n, r)
				}
			}
		})
	}
}
