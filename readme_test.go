package robotsgate_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestREADME runs the commands that the README shows and compares what they
// print with what it promises; an ellipsis there stands for anything on its
// line, and ports are replaced by free ones.
func TestREADME(t *testing.T) {
	for _, tool := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("needs %s", tool)
			}
			t.Skipf("needs %s", tool)
		}
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)<!-- executed: (\\S+) -->\n```console\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no block marked as executed")
	}
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			runBlock(t, withFreePorts(t, block[2]))
		})
	}
}

// withFreePorts replaces the ports that the README listens on.
func withFreePorts(t *testing.T, script string) string {
	t.Helper()
	for _, port := range []string{"8888", "8000"} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free := fmt.Sprint(ln.Addr().(*net.TCPAddr).Port)
		defer ln.Close()
		if port == "8888" {
			script = strings.ReplaceAll(script, "robots egress", "robots egress --listen 127.0.0.1:"+free)
		}
		script = strings.ReplaceAll(script, port, free)
	}
	return script
}

func runBlock(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	for step := range strings.SplitSeq(strings.TrimPrefix(script, "$ "), "\n$ ") {
		command, want, _ := strings.Cut(strings.TrimRight(step, "\n"), "\n")
		command = strings.ReplaceAll(command, "> access.log", "> "+dir+"/access.log")
		if background, ok := strings.CutSuffix(command, "&"); ok {
			startBackground(t, background)
			continue
		}
		out, err := exec.Command("sh", "-c", command).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		compareOutput(t, command, strings.ReplaceAll(string(out), "\r\n", "\n"), want)
	}
}

// startBackground runs a command until the test ends and waits until it
// listens where it says.
func startBackground(t *testing.T, command string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("sh", "-c", "exec "+command)
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Logf("%s: %v", command, err)
		}
	})
	address := regexp.MustCompile(`--listen (\S+)`).FindStringSubmatch(command)
	if address == nil {
		t.Fatalf("%s does not say where it listens", command)
	}
	// Building takes as long as it takes: the process's end is the only limit.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", address[1])
		if err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v\n%s", command, err, stderr.String())
		case <-tick.C:
		}
	}
}

func compareOutput(t *testing.T, command, got, want string) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(want, "\n")), "…", `[^\n]*`) + "\n*$"
	if !regexp.MustCompile(pattern).MatchString(got) {
		t.Errorf("%s\nprinted:\n%s\nREADME.md promises:\n%s", command, got, want)
	}
}
