package integration_test

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsgate/robotsgate/integration_test/repo"
)

// TestExamples holds every example to what a user does with it: it is
// formatted, says whom it is for, logs, is valid as it stands, and starts. Only
// the addresses to listen on are changed for the start, so that nothing else on
// the machine is in the way.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repo.Root(t), "caddyfile-examples", "*.Caddyfile"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples found (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitN(string(text), "\n", 3)
			if len(lines) < 3 || !strings.HasPrefix(lines[0], "# ") || !strings.HasPrefix(lines[1], "# ") {
				t.Error("does not open with two comment lines on whom it is for")
			}
			if !bytes.Contains(text, []byte("\tlog")) {
				t.Error("has no log: its decisions would leave no record")
			}
			if !bytes.Equal(caddyfile.Format(text), text) {
				t.Error("is not formatted: run `robotsgate fmt --overwrite` on it")
			}
			home := t.TempDir()
			tool(t, home, "validate", "--config", file, "--adapter", "caddyfile")
			config := filepath.Join(home, "config.json")
			adapted := tool(t, home, "adapt", "--config", file, "--adapter", "caddyfile")
			if err := os.WriteFile(config, onFreePorts(t, adapted), 0o600); err != nil {
				t.Fatal(err)
			}
			start(t, home, "serving initial configuration", gateBinary, "run", "--config", config).stop()
		})
	}
}

// tool runs the binary to its end and returns its standard output.
func tool(t *testing.T, home string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), gateBinary, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("robotsgate %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	if strings.Contains(stderr.String(), "not formatted") {
		t.Errorf("robotsgate %s warns:\n%s", strings.Join(args, " "), stderr.String())
	}
	return out
}

// onFreePorts moves every server of a configuration to a free port of the
// loopback interface and turns the admin API off.
func onFreePorts(t *testing.T, config []byte) []byte {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(config, &root); err != nil {
		t.Fatal(err)
	}
	root["admin"] = map[string]any{"disabled": true}
	servers := root["apps"].(map[string]any)["http"].(map[string]any)["servers"].(map[string]any)
	for name, server := range servers {
		listen := server.(map[string]any)["listen"].([]any)
		for i := range listen {
			if _, _, err := net.SplitHostPort(listen[i].(string)); err != nil {
				t.Fatalf("server %s listens on %v: %v", name, listen[i], err)
			}
			listen[i] = freeAddr(t)
		}
	}
	moved, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return moved
}
