package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gate is a binary that runs as a forward proxy under a Caddyfile.
type gate struct {
	*process
	Addr string // host:port of the proxy
	log  string // its access log
}

// proxySite is a forward proxy that judges everybody.
func proxySite(settings ...string) string {
	return "robots_gate {\n\t\tagents all\n\t\t" + strings.Join(settings, "\n\t\t") + "\n\t}\n\tegress_proxy"
}

// startGate runs a binary with a Caddyfile made of the options of the
// robots_gate app and the directives of one proxy site.
func startGate(t *testing.T, binary, options, directives string) *gate {
	t.Helper()
	dir := t.TempDir()
	g := &gate{Addr: freeAddr(t), log: filepath.Join(dir, "access.log")}
	_, port, _ := net.SplitHostPort(g.Addr)
	config := fmt.Sprintf(`{
	admin off
	storage file_system %s
	robots_gate {
		%s
	}
}
:%s {
	bind 127.0.0.1
	log {
		output file %s {
			roll_disabled
		}
		format json
	}
	%s
}
`, filepath.Join(dir, "storage"), options, port, g.log, directives)
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.process = start(t, dir, "serving initial configuration", binary, "run", "--config", file, "--adapter", "caddyfile")
	return g
}

// freeAddr returns a loopback address that nothing listens on just now.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// record is one line of the access log: what Caddy received, and what the gate
// says of it.
type record struct {
	Request struct {
		Method  string              `json:"method"`
		Host    string              `json:"host"`
		URI     string              `json:"uri"`
		Headers map[string][]string `json:"headers"`
	} `json:"request"`
	Status int      `json:"status"`
	Robots evidence `json:"robots"`
}

// evidence is the gate's own account of a decision, as far as these tests look
// at it.
type evidence struct {
	Decision string `json:"decision"`
	Enforced *bool  `json:"enforced"`
	Reason   string `json:"reason"`
	URL      string `json:"url"`
	Form     string `json:"form"`
	Token    string `json:"token"`
	Rule     string `json:"rule"`
	Line     int    `json:"line"`
	Status   int    `json:"robots_status"`
	SHA256   string `json:"robots_sha256"`
	Error    string `json:"error"`
	Gate     string `json:"gate"`
	Seq      uint64 `json:"seq"`
}

func (r record) agent() string {
	return strings.Join(r.Request.Headers["User-Agent"], "\n")
}

// readLog reads the access log of a gate that has stopped.
func readLog(t *testing.T, file string) []record {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []record
	for line := range bytes.Lines(data) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("reading the access log: %v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}
