package gate_test

import (
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
)

// TestBadTarget sends requests over raw TCP that no target can be read from, or
// more than one: each is refused, leaves one record, and reaches no origin.
func TestBadTarget(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	const (
		host  = "Host: ok.test\r\n"
		agent = "User-Agent: examplebot/1.0\r\n"
	)
	at := "ok.test:" + r.Port
	for i, test := range []struct {
		name, head, says string
	}{
		{"two User-Agent lines", "GET http://AT/open HTTP/1.1\r\n" + host + agent + "User-Agent: other\r\n", "User-Agent"},
		{"userinfo", "GET http://user:secret@AT/open HTTP/1.1\r\n" + host + agent, "userinfo"},
		{"empty userinfo", "GET http://@AT/open HTTP/1.1\r\n" + host + agent, "userinfo"},
		{"fragment", "GET http://AT/open#top HTTP/1.1\r\n" + host + agent, "#"},
		{"fragment in the query", "GET http://AT/open?a#top HTTP/1.1\r\n" + host + agent, "#"},
		{"https in clear", "GET https://AT/open HTTP/1.1\r\n" + host + agent, "CONNECT"},
		{"NUL in the path", "GET http://AT/a%00b HTTP/1.1\r\n" + host + agent, "control"},
		{"line feed in the path", "GET http://AT/a%0ab HTTP/1.1\r\n" + host + agent, "control"},
		{"DEL in the path", "GET http://AT/a%7fb HTTP/1.1\r\n" + host + agent, "control"},
		{"ftp", "GET ftp://AT/open HTTP/1.1\r\n" + host + agent, "ftp"},
		{"gopher without slashes", "GET gopher:AT HTTP/1.1\r\n" + host + agent, "gopher"},
		{"http without slashes", "GET http:AT/open HTTP/1.1\r\n" + host + agent, ""},
		{"no host in the URL", "GET http:///open HTTP/1.1\r\n" + host + agent, "host"},
		{"no host but a path", "GET http:/open HTTP/1.1\r\n" + host + agent, "host"},
		{"HTTP/1.0 without any host", "GET /open HTTP/1.0\r\n" + agent, "host"},
		{"port 0", "GET http://ok.test:0/open HTTP/1.1\r\n" + host + agent, "port"},
		{"port 99999", "GET http://ok.test:99999/open HTTP/1.1\r\n" + host + agent, "port"},
		{"IPv6 zone", "GET http://[fe80::1%25eth0]/open HTTP/1.1\r\n" + host + agent, "zone"},
		{"short IPv4 address", "GET http://127.1/open HTTP/1.1\r\n" + host + agent, "IPv4"},
		{"hexadecimal IPv4 address", "GET http://0x7f000001/open HTTP/1.1\r\n" + host + agent, "IPv4"},
		{"asterisk without OPTIONS", "GET * HTTP/1.1\r\nHost: AT\r\n" + agent, ""},
		{"CONNECT without a port", "CONNECT ok.test HTTP/1.1\r\nHost: ok.test\r\n" + agent, "port"},
		{"CONNECT with a path", "CONNECT AT/open HTTP/1.1\r\nHost: AT\r\n" + agent, "CONNECT"},
		{"CONNECT with a URL", "CONNECT http://AT HTTP/1.1\r\nHost: AT\r\n" + agent, "CONNECT"},
		{"CONNECT with userinfo", "CONNECT user:secret@AT HTTP/1.1\r\nHost: AT\r\n" + agent, "userinfo"},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, _, _ := strings.Cut(test.head, " ")
			res := r.Raw(method, strings.ReplaceAll(test.head, "AT", at)+"\r\n")
			if res.Status != 400 || res.Header.Get("X-Robots-Gate") != "deny; reason=bad_target" ||
				res.Header.Get("Proxy-Status") != `robotsgate; error=http_request_error; details="bad_target"` {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			problem := r.Problem(res)
			if detail, _ := problem["detail"].(string); !strings.Contains(detail, test.says) {
				t.Errorf("the detail lacks %q: %s", test.says, detail)
			}
			entry := r.Access(i + 1)[i]
			wantFields(t, entry.Robots, map[string]any{"decision": "deny", "enforced": true, "reason": "bad_target", "seq": float64(i + 1)})
			if denials := r.Log("request denied", i+1); strings.Contains(denials[i].Line+res.Body, "secret") {
				t.Errorf("a password is repeated: %s\n%s", denials[i].Line, res.Body)
			}
			if entry.Robots["agent"] != "examplebot" && test.name != "two User-Agent lines" {
				t.Errorf("the record does not say who asked: %v", entry.Robots)
			}
		})
	}
	if seen := r.Origin.Log(""); len(seen) > 0 {
		t.Errorf("the origin saw %d requests, the first %q", len(seen), seen[0].Raw)
	}
}

// TestConnectRefused refuses a tunnel without interception, and says why in the
// headers, as clients drop the body.
func TestConnectRefused(t *testing.T) {
	for _, site := range []string{gatetest.Forward, "robots_gate\negress_proxy", "egress_proxy"} {
		t.Run(strings.Join(strings.Fields(site), " "), func(t *testing.T) {
			r := gatetest.Start(t, site)
			res := r.Raw("CONNECT", "CONNECT ok.test:"+r.SecurePort+" HTTP/1.1\r\nHost: ok.test:"+r.SecurePort+"\r\nUser-Agent: examplebot/1.0\r\n\r\n")
			if res.Status != 403 || res.Header.Get("X-Robots-Gate") != "deny; reason=tunnel_opaque" ||
				res.Header.Get("Proxy-Status") != `robotsgate; error=http_request_denied; details="tunnel_opaque"` {
				t.Errorf("the answer is %d %v", res.Status, res.Header)
			}
			wantFields(t, r.Record(1), map[string]any{
				"reason": "tunnel_opaque", "enforced": true, "decision": "deny",
				"origin": "https://ok.test:" + r.SecurePort, "seq": 1.0,
			})
			if n := r.Origin.Accepts(); n > 0 {
				t.Errorf("the origin got %d connections", n)
			}
		})
	}
}

// TestServerRefuses holds what Go's server refuses before any handler: 400,
// nothing forwarded, and no record, since no gate saw it.
func TestServerRefuses(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	for _, head := range []string{
		"GET http://ok.test/%zz HTTP/1.1\r\nHost: ok.test\r\n",
		"GET http://ok.test/a b HTTP/1.1\r\nHost: ok.test\r\n",
		"GET http://ok.test/\x01 HTTP/1.1\r\nHost: ok.test\r\n",
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: other.test\r\n",
		"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
		"GET http://[ok.test]/ HTTP/1.1\r\nHost: ok.test\r\n",
		"GET /open HTTP/1.1\r\n",
		"GET /open HTTP/1.1\r\nHost:\r\n",
	} {
		if res := r.Raw("GET", head+"\r\n"); res.Status != 400 {
			t.Errorf("%q is answered with %d", head, res.Status)
		}
	}
	if n := r.Origin.Accepts(); n > 0 {
		t.Errorf("the origin got %d connections", n)
	}
}
