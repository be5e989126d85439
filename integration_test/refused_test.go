package integration_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type wrongRequest struct {
	name   string
	head   string // request line and header lines, in which HOST stands for the site
	status int
	reason string // empty where no handler sees the request
}

// TestWrongRequests sends what no gate may pass on: each gets its status and
// reason and leaves a record, and nothing is forwarded.
func TestWrongRequests(t *testing.T) {
	o := newOrigin(t, []site{{Host: "site" + domain, Robots: []byte("User-agent: *\nAllow: /\n")}})
	host := "site" + domain + ":" + o.Port
	const bot = "User-Agent: ExampleBot/1.0\r\n"
	tests := []wrongRequest{
		{"https on a plain listener", "GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"ftp", "GET ftp://HOST/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"no host in the URL", "GET http:///x HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"no authority in the URL", "GET http:/x HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"no host at all", "GET /x HTTP/1.0\r\n" + bot, 400, "bad_target"},
		{"user information", "GET http://user:secret@HOST/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"number sign", "GET http://HOST/a#b HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"NUL in the path", "GET http://HOST/a%00b HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"line end in the path", "GET http://HOST/a%0Ab HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"DEL in the path", "GET http://HOST/a%7fb HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"port beyond 65535", "GET http://site" + domain + ":99999/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"decimal address", "GET http://2130706433/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"short address", "GET http://127.1/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, "bad_target"},
		{"two User-Agents", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n" + bot + "User-Agent: Other/1.0\r\n", 400, "bad_target"},
		{"closed port", "GET http://site" + domain + ":22/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 403, "port_denied"},
		{"special address", "GET http://10.0.0.1:PORT/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 403, "address_denied"},
		{"metadata address", "GET http://169.254.169.254:PORT/latest HTTP/1.1\r\nHost: HOST\r\n" + bot, 403, "address_denied"},
		{"tunnel", "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n" + bot, 403, "tunnel_opaque"},
		{"tunnel without a port", "CONNECT site HTTP/1.1\r\nHost: site\r\n" + bot, 400, "bad_target"},
		// Go's server answers these before any handler sees them: no record.
		{"name in brackets", "GET http://[site]/ HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, ""},
		{"half an escape", "GET http://HOST/%zz HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, ""},
		{"control octet", "GET http://HOST/a\x01b HTTP/1.1\r\nHost: HOST\r\n" + bot, 400, ""},
		{"two Hosts", "GET /x HTTP/1.1\r\nHost: HOST\r\nHost: other\r\n" + bot, 400, ""},
	}
	g := startGate(t, gateBinary, rigOptions(t, o), proxySite())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", g.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s\r\n", strings.NewReplacer("HOST", host, "PORT", o.Port).Replace(tt.head))
			got := readAnswer(bufio.NewReader(conn), &http.Request{Method: http.MethodGet})
			if tt.reason == "" {
				if got.Status != tt.status {
					t.Errorf("got %d %s, want %d", got.Status, got.Error, tt.status)
				}
				return
			}
			if got.Status != tt.status || got.Gate != "deny; reason="+tt.reason || got.Type != problemType {
				t.Errorf("got %d %q %s %s, want %d %s", got.Status, got.Gate, got.Type, got.Error, tt.status, tt.reason)
			}
		})
	}
	g.stop()
	judged := slices.IndexFunc(tests, func(tt wrongRequest) bool { return tt.reason == "" })
	records := readLog(t, g.log)
	if len(records) != judged {
		t.Errorf("%d requests left %d records", judged, len(records))
	}
	for i, r := range records {
		if i < judged && (r.Robots.Decision != "deny" || r.Robots.Reason != tests[i].reason || r.Status != tests[i].status) {
			t.Errorf("%s: the record says %+v", tests[i].name, r)
		}
	}
	if pages, robots := o.exchanges(); len(pages)+len(robots)+len(o.junk) > 0 {
		t.Errorf("the origin saw %v %v %q, want nothing", pages, robots, o.junk)
	}
}

// TestSilentOrigin asks an origin that takes connections and says nothing, and
// one that is not there: both are unreachable, and the gate lives on.
func TestSilentOrigin(t *testing.T) {
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // what it has not accepted ends with it
	gone := freeAddr(t)
	o := newOrigin(t, []site{{Host: "site" + domain}})
	_, silentPort, _ := net.SplitHostPort(silent.Addr().String())
	_, gonePort, _ := net.SplitHostPort(gone)
	g := startGate(t, gateBinary, fmt.Sprintf("fetch {\n\t\t\ttimeout 1s\n\t\t}\n\t\tresolvers %s\n\t\tallow_ranges 127.0.0.0/8\n\t\tports %s %s %s",
		newDNS(t), o.Port, silentPort, gonePort), proxySite())
	var requests []request
	for _, port := range []string{silentPort, gonePort, o.Port} {
		requests = append(requests, request{Host: "site" + domain + ":" + port, Target: "/x", Agent: "ExampleBot/1.0", Method: http.MethodGet})
	}
	answers := sendGo(t, g.Addr, requests)
	for i, want := range []string{"deny; reason=unreachable", "deny; reason=unreachable", ""} {
		if answers[i].Gate != want || answers[i].Error != "" || want != "" && answers[i].Status != http.StatusServiceUnavailable {
			t.Errorf("%s: got %+v, want %q", requests[i].url(), answers[i], want)
		}
	}
	g.stop()
	if n := len(readLog(t, g.log)); n != len(requests) {
		t.Errorf("%d requests left %d records", len(requests), n)
	}
}
