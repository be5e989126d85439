package matcher

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns the directory of that name in the material that lies beside a
// checkout of this repository and is not part of it.
func shared(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = parent
	}
	dir = filepath.Join(dir, "..", "shared", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is absent: the shared test material is not part of the repository", dir)
	}
	return dir
}
