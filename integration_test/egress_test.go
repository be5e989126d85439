package integration_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
)

// TestEgressCommand runs the gate as the README's first command does: without
// a configuration file, its access log on standard output.
func TestEgressCommand(t *testing.T) {
	o := newOrigin(t, []site{{Host: "127.0.0.1", Robots: []byte("User-agent: *\nDisallow: /private/\n")}})
	p := start(t, t.TempDir(), "robotsgate listens on", gateBinary, "robots", "egress",
		"--listen", "127.0.0.1:0", "--allow-ranges", "127.0.0.0/8", "--ports", o.Port)
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output())
	if address == nil {
		t.Fatalf("the gate does not print its address:\n%s", p.output())
	}
	var requests []request
	for _, target := range []string{"/public", "/private/x"} {
		requests = append(requests, request{Host: "127.0.0.1:" + o.Port, Target: target, Agent: "ExampleBot/1.0", Method: http.MethodGet})
	}
	answers := sendGo(t, address[1], requests)
	status, _ := page(requests[0].Host, "/public")
	if answers[0].Status != status || answers[0].Gate != "" {
		t.Errorf("/public: got %+v, want the origin's %d", answers[0], status)
	}
	if answers[1].Status != http.StatusForbidden || answers[1].Gate != "deny; reason=disallowed" {
		t.Errorf("/private/x: got %+v, want a denial", answers[1])
	}
	p.stop()
	var reasons []string
	for _, r := range readLog(t, p.stdout) {
		reasons = append(reasons, r.Robots.Reason)
	}
	if !slices.Equal(reasons, []string{"no_rule", "disallowed"}) {
		t.Errorf("standard output records the reasons %q", reasons)
	}
}
