package integration_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEgressIntercepts runs the gate without a configuration file and trusts
// what it prints: the file, and `robots ca` in its place.
func TestEgressIntercepts(t *testing.T) {
	o := newTLSOrigin(t)
	home := t.TempDir()
	// Origins are trusted through the system's roots here.
	t.Setenv("SSL_CERT_FILE", o.CAFile)
	p := start(t, home, "'robots ca' prints", gateBinary, "robots", "egress", "--listen", "127.0.0.1:0", "--allow-ranges", "127.0.0.0/8", "--ports", o.Port)
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output())
	file := regexp.MustCompile(`(?m)^ +(/.*root\.crt)$`).FindStringSubmatch(p.output())
	if address == nil || file == nil {
		t.Fatalf("the gate does not print its address and its certificate:\n%s", p.output())
	}
	for _, word := range []string{"HTTPS_PROXY", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "certutil", "--proxy-server"} {
		if !strings.Contains(p.output(), word) {
			t.Errorf("the gate does not say what to do with %s", word)
		}
	}
	root, err := os.ReadFile(file[1])
	if err != nil {
		t.Fatal(err)
	}
	if printed := tool(t, home, "robots", "ca"); !bytes.Equal(printed, root) {
		t.Errorf("robots ca prints %q, the file holds %q", printed, root)
	}
	copied := filepath.Join(home, "copy.pem")
	tool(t, home, "robots", "ca", "--out", copied)
	got := askCurl("--http2")(t, "http://"+address[1], copied, o.url("localhost", "/open"), o.url("localhost", "/private/x"))
	if got[0].Status != 200 || got[1].Status != 403 || got[1].Gate != "deny; reason=disallowed" {
		t.Errorf("got %+v", got)
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

// TestEgressWithoutInterception: --no-intercept refuses tunnels instead.
func TestEgressWithoutInterception(t *testing.T) {
	p := start(t, t.TempDir(), "every CONNECT tunnel is refused", gateBinary, "robots", "egress", "--listen", "127.0.0.1:0", "--no-intercept")
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output())
	_, _, resp := connect(t, address[1], "shop.test:443", "")
	if resp.StatusCode != 403 || resp.Header.Get("X-Robots-Gate") != "deny; reason=tunnel_opaque" {
		t.Errorf("got %s %v", resp.Status, resp.Header)
	}
	p.stop()
}

// TestCACommand prints the roots of a configuration's authorities, and of no
// others.
func TestCACommand(t *testing.T) {
	home := t.TempDir()
	config := filepath.Join(home, "Caddyfile")
	storage := filepath.Join(home, "kept")
	text := "{\n\tstorage file_system " + storage + "\n}\n\n:8888 {\n\ttls_intercept {\n\t\tca mine\n\t}\n\thandle /x/* {\n\t\ttls_intercept\n\t}\n}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var want []byte
	printed := tool(t, home, "robots", "ca", "--config", config)
	for _, id := range []string{"mine", "robotsgate"} {
		root, err := os.ReadFile(filepath.Join(storage, "pki", "authorities", id, "root.crt"))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, root...)
	}
	if !bytes.Equal(printed, want) {
		t.Errorf("got %s, want %s", printed, want)
	}
	if _, err := os.Stat(filepath.Join(storage, "pki", "authorities", "local")); err == nil {
		t.Error("the authority of Caddy's own sites was made")
	}
}
