// Package integration_test proves the binary end to end: real clients send
// real requests through a running gate to an origin that logs every octet of
// its sockets, and each decision is held against an independent oracle.
//
// ROBOTSGATE_REAL chooses the size: "full" uses every file of
// ../shared/robots-real, "small" few requests; the default lies between.
// Clients that are not installed are skipped, and fail the test where CI is
// "true" or ROBOTSGATE_CLIENTS is "required".
package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/integration_test/repo"
)

// gateBinary is the program under test, built once for the whole package.
var gateBinary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "robotsgate-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gateBinary = filepath.Join(dir, "robotsgate")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", gateBinary, "github.com/robotsgate/robotsgate/cmd/robotsgate")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the binary under test: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patch is one seeded defect: in a source file of the repository, old (which
// must stand there exactly once) becomes new.
type patch struct {
	file, old, new string
}

// buildBroken builds the binary with patches applied through an overlay; the
// checkout itself stays as it is.
func buildBroken(t *testing.T, patches ...patch) string {
	t.Helper()
	root, dir := repo.Root(t), t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for i, p := range patches {
		path := filepath.Join(root, p.file)
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(source, []byte(p.old)); n != 1 {
			t.Fatalf("%s holds %q %d times, want once: choose a new place for this defect", p.file, p.old, n)
		}
		broken := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		text := strings.Replace(string(source), p.old, p.new, 1)
		if err := os.WriteFile(broken, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[path] = broken
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	overlayFile, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "robotsgate")
	if err := os.WriteFile(overlayFile, list, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay", overlayFile, "-o", binary, "./cmd/robotsgate")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the broken binary: %v\n%s", err, out)
	}
	return binary
}
