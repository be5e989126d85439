package origin

import (
	"bufio"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// What is judged reads back as itself and is what net/http would send.
func FuzzFromRequest(f *testing.F) {
	for _, seed := range []string{
		"/", "*", "//a", "/a%2Fb|c", "/%zz", "/\xe9?\xe9#", "/a?b?c", "/?", "/;a/..;/", "/%2e%2E/\\", "http://h", "http://h?x", "HTTP://H.:80//x",
		"http:///p", "http:/p", "http:p", "https://h/", "http://u:p@h/", "http://[::ffff:1.2.3.4]:1/", "http://h:0/", "http://b\u00fccher/", "/%00", "/*'()!$&,:=@[]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		head := "OPTIONS " + target + " HTTP/1.1\r\nHost: example.com\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
		if err != nil || r.RequestURI != target {
			return
		}
		got, err := FromRequest(r)
		if err != nil {
			var bad *BadTargetError
			if !errors.As(err, &bad) {
				t.Fatalf("%q: %T is no BadTargetError", target, err)
			}
			return
		}
		if got.Path == "*" {
			return
		}
		again, err := ParseTarget(got.URL())
		if err != nil || again != got {
			t.Fatalf("%q: %+v reads back as %+v, %v", target, got, again, err)
		}
		out, err := http.NewRequest(http.MethodGet, got.URL(), nil)
		if err != nil {
			t.Fatalf("%q: %v", target, err)
		}
		if sent := out.URL.RequestURI(); sent != got.PathQuery() {
			t.Fatalf("%q: judged as %q, sent as %q", target, got.PathQuery(), sent)
		}
		if sent := r.URL.EscapedPath(); sent != got.Path && sent != "" {
			t.Fatalf("%q: path judged as %q, sent as %q", target, got.Path, sent)
		}
	})
}
