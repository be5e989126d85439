package egress_test

import (
	"net"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
)

// TestLoop sends the gate its own Via back: 508, once, and never an endless
// chain. Another proxy's Via is no loop.
func TestLoop(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	r.Get(r.URL("wire.test", "/a"))
	log := r.Origin.Log("wire.test")
	via := log[len(log)-1].Header.Get("Via")
	for _, header := range []string{via, "1.0 fred, " + via, via + " (comment), 1.1 fred"} {
		res := r.Get(r.URL("wire.test", "/b"), "Via: "+header)
		if res.Status != 508 || res.Header.Get("X-Robots-Gate") != "deny; reason=loop" ||
			res.Header.Get("Proxy-Status") != `robotsgate; error=proxy_loop_detected; details="loop"` {
			t.Errorf("Via: %s is answered with %d %v", header, res.Status, res.Header)
		}
	}
	rec := r.Record(2)
	if rec["reason"] != "loop" || rec["decision"] != "deny" || rec["enforced"] != true || rec["url"] != r.URL("wire.test", "/b") {
		t.Errorf("the record is %v", rec)
	}
	if res := r.Get(r.URL("wire.test", "/c"), "Via: 1.1 robotsgate-0000000000000000, 1.1 Caddy"); res.Status != 200 {
		t.Errorf("another gate's Via is answered with %d", res.Status)
	}
	if seen := strings.Join(r.Seen("wire.test"), " "); seen != "/a /c" {
		t.Errorf("the origin saw %q", seen)
	}
}

// TestOwnListener asks the gate for itself: denied even where its range and
// port are open, for pages and robots.txt alike.
func TestOwnListener(t *testing.T) {
	r := gatetest.New(t)
	// The gate has to open its own port, so the port must be known before.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, r.Port, _ = net.SplitHostPort(ln.Addr().String())
	_ = ln.Close()
	r.Load("", ":"+r.Port+" {\nbind 127.0.0.1\nlog\n"+gatetest.Forward+"}\n")
	for i, host := range []string{"127.0.0.1", "gate.test", "127.0.0.1"} {
		res := r.Get(r.URL(host, []string{"/x", "/x", "/robots.txt"}[i]))
		if res.Status != 403 || res.Header.Get("X-Robots-Gate") != "deny; reason=address_denied" ||
			!strings.Contains(res.Header.Get("Proxy-Status"), "error=destination_ip_prohibited") {
			t.Errorf("%s is answered with %d %v", host, res.Status, res.Header)
		}
		if rec := r.Record(i + 1); rec["reason"] != "address_denied" || rec["enforced"] != true {
			t.Errorf("the record is %v", rec)
		}
	}
}

// TestRewriteIsJudged rewrites the request behind the gate: what is sent is
// judged again, by the same policy, and the record says so.
func TestRewriteIsJudged(t *testing.T) {
	for _, test := range []struct {
		name, site, reason string
		status             int
	}{
		{"path", "rewrite * /private", "disallowed", 403},
		{"report", "rewrite * /private", "disallowed", 200},
		{"to an allowed path", "rewrite * /open", "no_rule", 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			mode := "enforce"
			if test.name == "report" {
				mode = "report"
			}
			r := gatetest.Start(t, "route {\nrobots_gate {\nagents all\nmode "+mode+"\n}\n"+test.site+"\negress_proxy\n}\n")
			res := r.Get(r.URL("ok.test", "/public"))
			if res.Status != test.status {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			rec := r.Record(1)
			if rec["reason"] != test.reason || rec["seq"] != 1.0 || rec["url"] == r.URL("ok.test", "/public") {
				t.Errorf("the record is %v", rec)
			}
			if test.name == "report" && res.Header.Get("X-Robots-Gate") != "would-deny; reason=disallowed" {
				t.Errorf("the answer bears %v", res.Header)
			}
		})
	}
}

// TestWithoutGate forwards without judging, but the address policy holds and
// its refusals leave a record.
func TestWithoutGate(t *testing.T) {
	r := gatetest.Start(t, "egress_proxy")
	if res := r.Get(r.URL("ok.test", "/private")); res.Status != 200 {
		t.Errorf("a page is answered with %d", res.Status)
	}
	if e := r.Access(1)[0]; e.Robots != nil {
		t.Errorf("what nobody judged has a record: %s", e.Line)
	}
	for i, test := range []struct{ url, reason string }{
		{r.URL("metadata.special.test", "/"), "address_denied"},
		{"http://ok.test:1/", "port_denied"},
		{"ftp://ok.test/", "bad_target"},
	} {
		res := r.Get(test.url)
		if got := res.Header.Get("X-Robots-Gate"); got != "deny; reason="+test.reason {
			t.Errorf("%s is answered with %d %v", test.url, res.Status, res.Header)
		}
		if rec := r.Record(i + 2); rec["reason"] != test.reason || rec["enforced"] != true || rec["seq"] != float64(i+1) {
			t.Errorf("the record is %v", rec)
		}
	}
}
