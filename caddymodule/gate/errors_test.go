package gate_test

import (
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// TestErrorRoutes lets the error routes of a server meet a denial: a body of
// theirs is the answer, and without one ours stands, with the gate's headers
// either way.
func TestErrorRoutes(t *testing.T) {
	gate := ":0 {\nbind 127.0.0.1\nlog\n" + gatetest.Forward
	for _, test := range []struct {
		name, sites string
		ours        bool
		status      int
		body        string
		header      map[string]string
	}{
		{
			name:  "writes a body",
			sites: gate + "handle_errors {\nheader Content-Type text/plain\nrespond \"{err.status_code} {http.robots_gate.reason} {http.robots_gate.rule}\"\n}\n}",
			body:  "403 disallowed Disallow: /private", status: 403, header: map[string]string{"Content-Type": "text/plain"},
		},
		{
			name:  "writes a body and another status",
			sites: gate + "handle_errors 403 {\nrespond \"gone\" 451\n}\n}",
			body:  "gone", status: 451,
		},
		{
			name:  "sets headers alone",
			sites: gate + "handle_errors {\nheader X-Site yes\n}\n}",
			ours:  true, status: 403, header: map[string]string{"X-Site": "yes"},
		},
		{
			name:  "writes a status alone",
			sites: gate + "handle_errors {\nrespond 404\n}\n}",
			ours:  true, status: 403,
		},
		{
			name:  "is for another status",
			sites: gate + "handle_errors 404 {\nrespond \"not here\"\n}\n}",
			ours:  true, status: 403,
		},
		{
			name:  "is a sibling's",
			sites: gate + "}\nhttp://sibling.test:0 {\nbind 127.0.0.1\nhandle_errors {\nrespond \"sibling\"\n}\n}",
			ours:  true, status: 403,
		},
		{
			name:  "fails itself",
			sites: gate + "handle_errors {\nerror \"broken\" 500\n}\n}",
			ours:  true, status: 403,
		},
		{
			name:  "fails to reach its own origin",
			sites: gate + "handle_errors {\nreverse_proxy 127.0.0.1:1\n}\n}",
			ours:  true, status: 403,
		},
		{
			name:  "compresses nothing",
			sites: gate + "handle_errors {\nencode gzip\nheader X-Site yes\n}\n}",
			ours:  true, status: 403,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := gatetest.New(t)
			r.Load("", test.sites+"\n")
			res := r.Get(r.URL("ok.test", "/private"), "Accept-Encoding: gzip")
			if res.Status != test.status || res.Header.Get("X-Robots-Gate") != "deny; reason=disallowed" || res.Header.Get("Proxy-Status") == "" {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			for name, want := range test.header {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s is %q, not %q", name, got, want)
				}
			}
			if test.ours {
				wantFields(t, r.Problem(res), map[string]any{"status": float64(test.status), "reason": "disallowed"})
			} else if res.Body != test.body {
				t.Errorf("the body is %q, not %q", res.Body, test.body)
			}
			entry := r.Access(1)[0]
			wantFields(t, entry.Robots, map[string]any{"reason": "disallowed", "seq": 1.0})
			wantFields(t, entry.Fields, map[string]any{"status": float64(test.status)})
		})
	}
}

// TestReport passes on what robots.txt denies, marked and recorded, and
// enforces everything else.
func TestReport(t *testing.T) {
	site := all("mode report")
	t.Run("robots decisions", func(t *testing.T) {
		r := gatetest.New(t)
		serveHosts(r)
		r.Serve(site)
		for i, test := range []struct{ host, path, reason string }{
			{"grouped.test", "/private", "disallowed"},
			{"grouped.test", "/a/../private", "disallowed_normalized"},
			{"down.test", "/x", "unreachable"},
		} {
			res := r.Get(r.URL(test.host, test.path))
			if res.Status != 200 || res.Body != "page" || strings.Join(res.Header.Values("X-Robots-Gate"), "|") != "would-deny; reason="+test.reason {
				t.Errorf("%s is answered with %d %v", test.reason, res.Status, res.Header)
			}
			rec := r.Record(i + 1)
			wantFields(t, rec, map[string]any{"decision": "deny", "enforced": false, "reason": test.reason})
			wantFields(t, r.Log("request denied", i+1)[i].Robots, map[string]any{"enforced": false, "seq": rec["seq"]})
		}
		if res := r.Get(r.URL("grouped.test", "/open")); len(res.Header.Values("X-Robots-Gate")) > 0 {
			t.Errorf("an allow is marked: %v", res.Header)
		}
	})
	t.Run("the rest", func(t *testing.T) {
		r := gatetest.Start(t, site)
		for i, test := range []struct {
			url, reason string
			status      int
		}{
			{r.URL("169.254.169.254", "/private"), "address_denied", 403},
			{r.URL("metadata.special.test", "/private"), "address_denied", 403},
			{"http://ok.test:1/private", "port_denied", 403},
			{"http://" + r.Addr + "/private", "port_denied", 403},
			{r.URL("ok.test", "/private#top"), "bad_target", 400},
		} {
			res := r.Get(test.url)
			if res.Status != test.status || res.Header.Get("X-Robots-Gate") != "deny; reason="+test.reason {
				t.Errorf("%s is answered with %d %v", test.url, res.Status, res.Header)
			}
			wantFields(t, r.Record(i+1), map[string]any{"decision": "deny", "enforced": true, "reason": test.reason})
		}
	})
	t.Run("the page fails", func(t *testing.T) {
		r := gatetest.New(t)
		r.Pages("page.test", grouped, faultorigin.ByName("rst"))
		r.Serve(site)
		res := r.Get(r.URL("page.test", "/private"))
		if res.Status != 502 || res.Header.Get("X-Robots-Gate") != "would-deny; reason=disallowed" {
			t.Errorf("the answer is %d %v", res.Status, res.Header)
		}
		wantFields(t, r.Record(1), map[string]any{"decision": "deny", "enforced": false, "reason": "disallowed"})
	})
}

// TestPlaceholders uses the record in Caddy's own directives.
func TestPlaceholders(t *testing.T) {
	r := gatetest.Start(t, `
	route {
		robots_gate {
			agents all
			job "{http.request.header.X-Job}"
			token {http.request.header.X-Token}
		}
		header X-Reason {http.robots_gate.reason}
		header X-Token {http.robots_gate.token}
		header X-Bot {http.robots_gate.bot}
		log_append why {http.robots_gate.reason}
		respond "{http.robots_gate.decision} {http.robots_gate.url} {http.robots_gate.line}[{http.robots_gate.rule}]"
	}
`)
	r.Pages("page.test", grouped, faultorigin.Answer(200, "", "page"))
	res := r.Get(r.URL("page.test", "/private/open"), "X-Job: nightly", "X-Token: ExampleBot")
	if want := "allow " + r.URL("page.test", "/private/open") + " 5[Allow: /private/open]"; res.Body != want {
		t.Errorf("the body is %q, not %q", res.Body, want)
	}
	for name, want := range map[string]string{"X-Reason": "rule_allowed", "X-Token": "ExampleBot", "X-Bot": "true"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	wantFields(t, r.Access(1)[0].Fields, map[string]any{"why": "rule_allowed"})
	wantFields(t, r.Record(1), map[string]any{"job": "nightly", "token_source": "config", "tokens": []any{"ExampleBot"}})

	// A token that comes out empty leaves the group of everyone.
	r.Get(r.URL("page.test", "/private/open"))
	wantFields(t, r.Record(2), map[string]any{"job": "", "token_source": "config", "tokens": "", "token": "*", "reason": "disallowed"})
}

// TestWhoIsJudged lets identity decide: bots by default, with exceptions.
func TestWhoIsJudged(t *testing.T) {
	const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	for _, test := range []struct{ options, agent, reason string }{
		{"", "examplebot/1.0", "disallowed"},
		{"", "", "disallowed"},
		{"", browser, "not_bot"},
		{"bot firefox", browser, "disallowed"},
		{"not_bot EXAMPLE", "examplebot/1.0", "not_bot"},
		{"agents all", browser, "disallowed"},
		{"agents all\nnot_bot example", "examplebot/1.0", "disallowed"},
	} {
		t.Run(test.options+" "+test.agent, func(t *testing.T) {
			r := gatetest.Start(t, "robots_gate {\n"+test.options+"\n}\negress_proxy\n")
			head := "GET " + r.URL("ok.test", "/private") + " HTTP/1.1\r\nHost: ok.test\r\n"
			if test.agent != "" {
				head += "User-Agent: " + test.agent + "\r\n"
			}
			r.Raw("GET", head+"\r\n")
			wantFields(t, r.Record(1), map[string]any{"reason": test.reason})
		})
	}
}

// TestRedact keeps query values out of everything that is ours.
func TestRedact(t *testing.T) {
	r := gatetest.Start(t, all("redact query"))
	res := r.Get(r.URL("ok.test", "/private?token=hunter2&hunter3&empty="))
	want := r.URL("ok.test", "/private?token=REDACTED&REDACTED&empty=REDACTED")
	wantFields(t, r.Problem(res), map[string]any{"url": want})
	wantFields(t, r.Record(1), map[string]any{"url": want})
	if denied := r.Log("request denied", 1)[0]; strings.Contains(denied.Line+res.Body, "hunter") {
		t.Errorf("a query value is told: %s\n%s", denied.Line, res.Body)
	}
	r.Get(r.URL("ok.test", "/open?token=hunter2"))
	if seen := r.Seen("ok.test"); len(seen) != 1 || seen[0] != "/open?token=hunter2" {
		t.Errorf("the origin saw %q", seen)
	}
}
