package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startLimit and stopLimit bound how long a gate may take to be ready, and to
// end after SIGTERM. They are wide: they tell a hang from a slow machine.
const (
	startLimit = 60 * time.Second
	stopLimit  = 60 * time.Second
)

// gate is a running binary.
type gate struct {
	t      *testing.T
	Addr   string // host:port of the proxy
	log    string // its access log
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended with waitErr

	waitErr error

	mu     sync.Mutex
	stderr bytes.Buffer
}

// startGate runs a binary with a Caddyfile made of the global options and the
// directives of one proxy site, and returns when it serves.
func startGate(t *testing.T, binary, global, directives string) *gate {
	t.Helper()
	dir := t.TempDir()
	g := &gate{t: t, Addr: freeAddr(t), log: filepath.Join(dir, "access.log"), exited: make(chan struct{})}
	_, port, _ := net.SplitHostPort(g.Addr)
	config := fmt.Sprintf("{\n\tadmin off\n\tstorage file_system %s\n%s\n}\n:%s {\n\tbind 127.0.0.1\n\tlog {\n\t\toutput file %s {\n\t\t\troll_disabled\n\t\t}\n\t\tformat json\n\t}\n%s\n}\n",
		filepath.Join(dir, "storage"), global, port, g.log, directives)
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.cmd = exec.Command(binary, "run", "--config", file, "--adapter", "caddyfile")
	// A proxy in the environment must not be used: nothing listens there.
	g.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir,
		"HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1")
	g.start("serving initial configuration")
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

// start runs the command and waits for a line with the given text on its
// standard error.
func (g *gate) start(readyText string) {
	g.t.Helper()
	pipe, err := g.cmd.StderrPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		defer close(g.exited)
		found := false
		lines := bufio.NewScanner(pipe)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			g.mu.Lock()
			g.stderr.Write(lines.Bytes())
			g.stderr.WriteByte('\n')
			g.mu.Unlock()
			if !found && strings.Contains(lines.Text(), readyText) {
				found = true
				close(ready)
			}
		}
		g.waitErr = g.cmd.Wait()
	}()
	g.t.Cleanup(func() {
		_ = g.cmd.Process.Kill() // it has ended by itself in most tests
		<-g.exited
	})
	select {
	case <-ready:
	case <-g.exited:
		g.t.Fatalf("the gate ended before it served:\n%s", g.output())
	case <-time.After(startLimit):
		g.t.Fatalf("the gate did not serve within %v:\n%s", startLimit, g.output())
	}
}

func (g *gate) output() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stderr.String()
}

// stop ends the gate as an operator would and demands a clean exit.
func (g *gate) stop() {
	g.t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		g.t.Fatal(err)
	}
	select {
	case <-g.exited:
	case <-time.After(stopLimit):
		g.t.Fatalf("the gate still runs %v after SIGTERM:\n%s", stopLimit, g.output())
	}
	out := g.output()
	if g.waitErr != nil {
		g.t.Errorf("the gate ended with %v:\n%s", g.waitErr, out)
	}
	for _, bad := range []string{"panic", "DATA RACE", "goroutine "} {
		if strings.Contains(out, bad) {
			g.t.Errorf("the gate's log speaks of %q:\n%s", bad, out)
		}
	}
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
	Status int `json:"status"`
	Robots struct {
		Decision string   `json:"decision"`
		Enforced *bool    `json:"enforced"`
		Reason   string   `json:"reason"`
		URL      string   `json:"url"`
		Origin   string   `json:"origin"`
		Form     string   `json:"form"`
		Tokens   []string `json:"tokens"`
		Token    string   `json:"token"`
		Source   string   `json:"token_source"`
		Rule     string   `json:"rule"`
		Line     int      `json:"line"`
		Status   int      `json:"robots_status"`
		SHA256   string   `json:"robots_sha256"`
		Error    string   `json:"error"`
		Gate     string   `json:"gate"`
		Seq      uint64   `json:"seq"`
	} `json:"robots"`
}

func (r record) agent() string {
	return strings.Join(r.Request.Headers["User-Agent"], "\n")
}

// records reads the access log of a gate that has stopped.
func (g *gate) records() []record {
	g.t.Helper()
	data, err := os.ReadFile(g.log)
	if err != nil {
		g.t.Fatal(err)
	}
	var all []record
	for line := range bytes.Lines(data) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			g.t.Fatalf("reading the access log: %v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}
