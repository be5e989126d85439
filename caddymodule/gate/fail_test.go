package gate_test

import (
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// TestRobotsFails lets the robots.txt of an origin fail in ways that a page of
// rules never shows: unreachable, never a hang and never an allow.
func TestRobotsFails(t *testing.T) {
	r := gatetest.New(t)
	r.Load("fetch {\n\ttimeout 200ms\n}", ":0 {\nbind 127.0.0.1\nlog\n"+gatetest.Forward+"}\n")
	for i, mode := range []string{
		"hang", "drip", "dripbody", "rst", "rst-body", "short", "badchunk", "gzip-cut", "gzip-bogus", "br",
		"noloc", "st-206", "st-304", "st-429", "st-500", "st-599", "st-999", "two-cl", "neg-cl", "badheader",
		"nul", "bigheaders", "http09", "st-20x", "continue",
	} {
		t.Run(mode, func(t *testing.T) {
			host := mode + ".fault.test"
			res := r.Get(r.URL(host, "/open"))
			if res.Status != 503 || res.Header.Get("X-Robots-Gate") != "deny; reason=unreachable" || res.Header.Get("Retry-After") == "" {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			rec := r.Record(i + 1)
			wantFields(t, rec, map[string]any{"reason": "unreachable", "robots_url": r.URL(host, "/robots.txt")})
			if rec["error"] == nil {
				t.Errorf("the record does not say what failed: %v", rec)
			}
			if seen := r.Seen(host); len(seen) > 0 {
				t.Errorf("the origin saw %q", seen)
			}
		})
	}
}

// TestPageFails lets the origin of an allowed request fail. That is no robots
// decision: it stays an allow, and error says what happened.
func TestPageFails(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /private\n"
	for _, test := range []struct {
		name, proxyError string
		page             faultorigin.Mode
		status           int
	}{
		{"silent", "http_response_timeout", faultorigin.ByName("hang"), 504},
		{"resets", "connection_terminated", faultorigin.ByName("rst"), 502},
		{"closes", "connection_terminated", func(*faultorigin.Conn) bool { return false }, 502},
		{"no HTTP", "http_protocol_error", faultorigin.Raw("SSH-2.0-x\r\n\r\n"), 502},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := gatetest.New(t)
			r.Pages("page.test", rules, test.page)
			r.Serve("robots_gate {\nagents all\n}\negress_proxy {\nresponse_header_timeout 200ms\n}\n")
			wantFailure(t, r, r.Get(r.URL("page.test", "/open")), test.status, test.proxyError)
		})
	}
	t.Run("refuses", func(t *testing.T) {
		r := gatetest.New(t)
		r.Pages("page.test", rules, faultorigin.Answer(200, "Connection: close\r\n", "page"))
		r.Serve(gatetest.Forward)
		r.Get(r.URL("page.test", "/robots.txt"))
		r.Get(r.URL("page.test", "/open"))
		r.Origin.Close()
		res := r.Get(r.URL("page.test", "/open"))
		if res.Status != 502 || !strings.Contains(res.Header.Get("Proxy-Status"), "error=connection_") {
			t.Errorf("the answer is %d %v", res.Status, res.Header)
		}
		wantFields(t, r.Record(3), map[string]any{"decision": "allow", "reason": "no_rule", "source": "memory"})
	})
	t.Run("behind reverse_proxy", func(t *testing.T) {
		r := gatetest.New(t)
		r.Pages("page.test", rules, faultorigin.ByName("rst"))
		r.Serve("robots_gate {\nagents all\ntarget http://page.test:" + r.Port + "{uri}\n}\nreverse_proxy " + r.Origin.PlainAddr() + " {\nheader_up Host page.test\n}\n")
		res := r.Get("http://gate.test/open")
		if res.Status != 502 || res.Header.Get("Proxy-Status") == "" {
			t.Errorf("the answer is %d %v", res.Status, res.Header)
		}
		rec := r.Record(1)
		wantFields(t, rec, map[string]any{"decision": "allow", "reason": "no_rule", "url": r.URL("page.test", "/open")})
		if rec["error"] == nil {
			t.Errorf("the record does not say what failed: %v", rec)
		}
	})
}

func wantFailure(t *testing.T, r *gatetest.Rig, res *gatetest.Response, status int, proxyError string) {
	t.Helper()
	if res.Status != status || !strings.HasPrefix(res.Header.Get("Proxy-Status"), "robotsgate; error="+proxyError+";") {
		t.Errorf("the answer is %d %v", res.Status, res.Header)
	}
	if mark := res.Header.Get("X-Robots-Gate"); mark != "" {
		t.Errorf("the answer bears the mark %q", mark)
	}
	wantFields(t, r.Problem(res), map[string]any{"status": float64(status), "decision": "allow", "reason": "no_rule"})
	rec := r.Record(1)
	wantFields(t, rec, map[string]any{"decision": "allow", "reason": "no_rule"})
	if rec["error"] == nil {
		t.Errorf("the record does not say what failed: %v", rec)
	}
}
