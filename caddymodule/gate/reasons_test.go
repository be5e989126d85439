package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// all is a forward proxy with further options of its gate.
func all(options string) string {
	return "robots_gate {\n\tagents all\n\t" + options + "\n}\negress_proxy\n"
}

const grouped = "User-agent: *\nDisallow: /private\n\nUser-agent: examplebot\nAllow: /private/open\nDisallow: /private\n"

// TestAllowed has one row for each reason of an allow: the origin sees the
// request once, and the client gets its answer without any mark of the gate.
func TestAllowed(t *testing.T) {
	for _, test := range []struct {
		site, host, path, reason, token, rule string
		header                                []string
	}{
		{site: all(""), host: "grouped.test", path: "/private/open", reason: "rule_allowed", token: "examplebot", rule: "Allow: /private/open"},
		{site: all(""), host: "grouped.test", path: "/x", reason: "no_rule", token: "examplebot"},
		{site: all(""), host: "empty.test", path: "/x", reason: "no_group", token: "*"},
		{site: all(""), host: "missing.test", path: "/private", reason: "unavailable"},
		{site: all(""), host: "grouped.test", path: "/robots.txt", reason: "robots_txt"},
		{site: all("override *.test allow reason \"it is ours\" owner ops"), host: "grouped.test", path: "/private", reason: "override"},
		{site: all("unreachable allow"), host: "down.test", path: "/private", reason: "unreachable_allowed"},
		{site: all("on_status 5xx allow"), host: "down.test", path: "/private", reason: "unavailable"},
		{site: "robots_gate\negress_proxy", host: "grouped.test", path: "/private", reason: "not_bot", header: []string{"X-As: browser"}},
		{site: all("paths rfc"), host: "grouped.test", path: "/a/../private", reason: "no_rule", token: "examplebot"},
		{site: all("token grantbot"), host: "grouped.test", path: "/x", reason: "no_rule", token: "*"},
	} {
		t.Run(strings.TrimPrefix(test.reason+test.path, "/"), func(t *testing.T) {
			r := gatetest.New(t)
			serveHosts(r)
			site := test.site
			if test.header != nil {
				site = "request_header User-Agent \"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\"\n" + site
			}
			r.Serve(site)
			res := r.Get(r.URL(test.host, test.path), test.header...)
			if res.Status != 200 || len(res.Header["X-Robots-Gate"])+len(res.Header["Proxy-Status"]) > 0 {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			rec := r.Record(1)
			wantFields(t, rec, map[string]any{
				"decision": "allow", "enforced": true, "reason": test.reason, "token": test.token, "rule": test.rule,
				"url": r.URL(test.host, test.path), "seq": 1.0,
			})
			if e := r.Log("request allowed", 1)[0]; e.Level != "debug" || e.Logger != "http.handlers.robots_gate" || fmt.Sprint(e.Robots) != fmt.Sprint(rec) {
				t.Errorf("the entry of the allow is %s", e.Line)
			}
			if test.path != "/robots.txt" {
				if seen := r.Seen(test.host); len(seen) != 1 || seen[0] != test.path {
					t.Errorf("the origin saw %q", seen)
				}
			}
		})
	}
}

// serveHosts sets the origins up that the tests of reasons ask.
func serveHosts(r *gatetest.Rig) {
	page := faultorigin.Answer(200, "X-Robots-Gate: deny; reason=forged\r\n", "page")
	r.Pages("grouped.test", grouped, page)
	r.Pages("empty.test", "", page)
	for host, status := range map[string]int{"missing.test": 404, "down.test": 503, "closed.test": 403} {
		robots := faultorigin.Status(status)
		r.Origin.Set(host, func(c *faultorigin.Conn) bool {
			if c.Target == "/robots.txt" {
				return robots(c)
			}
			return page(c)
		})
	}
}

// TestDenied has one row for each reason of a denial that a gate can reach:
// nothing is forwarded, and the answer, the access log and the log of denials
// say the same.
func TestDenied(t *testing.T) {
	for _, test := range []struct {
		site, url  string
		reason     string
		status     int
		proxyError string
		fields     map[string]any
		retry      bool
		detail     string
	}{
		{
			url: "grouped.test/private?q=1", reason: "disallowed", status: 403,
			fields: map[string]any{"token": "examplebot", "rule": "Disallow: /private", "line": 6.0, "robots_status": 200.0, "source": "fetched", "token_source": "user_agent"},
			detail: "line 6",
		},
		{
			url: "grouped.test/a/..//private", reason: "disallowed_normalized", status: 403,
			fields: map[string]any{"form": "F3", "rule": "Disallow: /private"}, detail: "paths rfc",
		},
		{site: "deny_status 451", url: "grouped.test/private", reason: "disallowed", status: 451},
		{site: "on_status 401 403 deny", url: "closed.test/x", reason: "status_denied", status: 403, fields: map[string]any{"robots_status": 403.0}, detail: "on_status"},
		{site: "on_status 4xx unreachable", url: "missing.test/x", reason: "unreachable", status: 503, fields: map[string]any{"robots_status": 404.0}},
		{
			site: `override grouped.test deny reason "they asked us" owner legal`, url: "grouped.test/x", reason: "override", status: 403,
			fields: map[string]any{"source": "override", "override": map[string]any{"origin": "grouped.test", "reason": "they asked us", "owner": "legal"}},
			detail: "they asked us",
		},
		{url: "169.254.169.254/latest", reason: "address_denied", status: 403, proxyError: "destination_ip_prohibited", detail: "allow_ranges"},
		{url: "metadata.special.test/latest", reason: "address_denied", status: 403, proxyError: "destination_ip_prohibited", detail: "allow_ranges"},
		{url: "grouped.test:1/x", reason: "port_denied", status: 403, detail: "ports"},
		{url: "down.test/x", reason: "unreachable", status: 503, retry: true, fields: map[string]any{"robots_status": 503.0}, detail: "503"},
		{site: "deny_status 451", url: "down.test/x", reason: "unreachable", status: 503, retry: true},
		{site: "deny_status 429 unreachable", url: "down.test/x", reason: "unreachable", status: 429, retry: true},
		{site: "deny_status 404\ndeny_status 451 disallowed", url: "grouped.test/private", reason: "disallowed", status: 451},
	} {
		t.Run(test.reason+" "+test.site, func(t *testing.T) {
			r := gatetest.New(t)
			serveHosts(r)
			r.Serve(all(test.site))
			host, path, _ := strings.Cut(test.url, "/")
			url := "http://" + test.url
			if !strings.Contains(host, ":") {
				url = r.URL(host, "/"+path)
			}
			res := r.Get(url)
			wantDenial(t, r, res, test.status, test.reason, test.proxyError)
			if got := res.Header.Get("Retry-After") != ""; got != test.retry && test.status != 503 {
				t.Errorf("Retry-After is %q", res.Header.Get("Retry-After"))
			}
			if test.retry && res.Header.Get("Retry-After") == "" {
				t.Error("the answer has no Retry-After")
			}
			problem, rec := r.Problem(res), r.Record(1)
			wantFields(t, rec, test.fields)
			wantFields(t, rec, map[string]any{"url": url, "enforced": true})
			if detail := fmt.Sprint(problem["detail"]); !strings.Contains(detail, test.detail) {
				t.Errorf("the detail lacks %q: %s", test.detail, detail)
			}
			if seen := r.Seen(host); len(seen) > 0 {
				t.Errorf("the origin saw %q", seen)
			}
		})
	}
}

// TestHeaderOfAnswer asks in every way that changes the form of the answer to
// a denial, but not the denial.
func TestHeaderOfAnswer(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	url := r.URL("ok.test", "/private")
	for i, test := range []struct {
		name, method, version string
		header                []string
		body                  string
		check                 func(*testing.T, *gatetest.Response)
	}{
		{name: "HEAD", method: "HEAD", check: func(t *testing.T, res *gatetest.Response) {
			if res.Body != "" || res.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("HEAD is answered with %+v", res)
			}
		}},
		{name: "POST", method: "POST", header: []string{"Content-Length: 5"}, body: "hello"},
		{name: "PROPFIND", method: "PROPFIND"},
		{name: "expects to continue", method: "PUT", header: []string{"Content-Length: 5", "Expect: 100-continue"}},
		{name: "HTTP/1.0", method: "GET", version: "HTTP/1.0", check: func(t *testing.T, res *gatetest.Response) {
			if !res.Closed {
				t.Error("the connection stays open")
			}
		}},
		{name: "cross-origin", method: "GET", header: []string{"Origin: https://page.example"}, check: wantCORS("https://page.example", "true")},
		{name: "opaque origin", method: "GET", header: []string{"Origin: null"}, check: wantCORS("null", "")},
		{name: "forged marks", method: "GET", header: []string{"X-Robots-Gate: allow", "Proxy-Status: x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			version := test.version
			if version == "" {
				version = "HTTP/1.1"
			}
			lines := append([]string{test.method + " " + url + " " + version, "Host: ok.test", "User-Agent: examplebot/1.0"}, test.header...)
			res := r.Raw(test.method, strings.Join(lines, "\r\n")+"\r\n\r\n"+test.body)
			if res.Status != 403 || res.Header.Get("X-Robots-Gate") != "deny; reason=disallowed" ||
				res.Header.Get("Proxy-Status") != `robotsgate; error=http_request_denied; details="disallowed"` {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			if test.check != nil {
				test.check(t, res)
			} else if test.method != "HEAD" {
				r.Problem(res)
			}
			wantFields(t, r.Record(i+1), map[string]any{"reason": "disallowed", "seq": float64(i + 1)})
		})
	}
	if seen := r.Seen("ok.test"); len(seen) > 0 {
		t.Errorf("the origin saw %q", seen)
	}
}

func wantCORS(origin, credentials string) func(*testing.T, *gatetest.Response) {
	return func(t *testing.T, res *gatetest.Response) {
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": credentials,
			"Access-Control-Expose-Headers": "X-Robots-Gate, Proxy-Status, Retry-After", "Vary": "Origin",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s is %q, not %q", name, got, want)
			}
		}
	}
}
