package integration_test

import (
	"bufio"
	"bytes"
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

// process is the binary at work.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout string        // the file that holds what it writes there
	exited chan struct{} // closed when it has ended with waitErr

	waitErr error

	mu     sync.Mutex
	stderr bytes.Buffer
}

// start runs a binary in a directory that serves as its home, and returns when
// its standard error holds a line with the given text.
func start(t *testing.T, dir, readyText, binary string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), exited: make(chan struct{}), stdout: filepath.Join(dir, "stdout")}
	p.cmd.Dir = dir
	// A proxy in the environment must not be used: nothing listens there.
	p.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir,
		"HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1")
	stdout, err := os.Create(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	p.cmd.Stdout = stdout
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		defer close(p.exited)
		found := false
		lines := bufio.NewScanner(pipe)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.mu.Lock()
			p.stderr.Write(lines.Bytes())
			p.stderr.WriteByte('\n')
			p.mu.Unlock()
			if !found && strings.Contains(lines.Text(), readyText) {
				found = true
				close(ready)
			}
		}
		p.waitErr = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended by itself in most tests
		<-p.exited
	})
	select {
	case <-ready:
	case <-p.exited:
		t.Fatalf("the gate ended before it served:\n%s", p.output())
	case <-time.After(startLimit):
		t.Fatalf("the gate did not serve within %v:\n%s", startLimit, p.output())
	}
	return p
}

// output is what it has written to its standard error so far.
func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// stop ends the gate as an operator would and demands a clean exit.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopLimit):
		p.t.Fatalf("the gate still runs %v after SIGTERM:\n%s", stopLimit, p.output())
	}
	out := p.output()
	if p.waitErr != nil {
		p.t.Errorf("the gate ended with %v:\n%s", p.waitErr, out)
	}
	for _, bad := range []string{"panic", "DATA RACE", "goroutine "} {
		if strings.Contains(out, bad) {
			p.t.Errorf("the gate's log speaks of %q:\n%s", bad, out)
		}
	}
}
