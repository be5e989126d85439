package parser

import (
	"os"
	"path/filepath"
	"testing"
)

// realFiles returns the robots.txt files of real sites, which lie beside a
// checkout of this repository and are not part of it.
func realFiles(t testing.TB) [][]byte {
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
	dir = filepath.Join(dir, "..", "shared", "robots-real")
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("%s is absent: the shared test material is not part of the repository", dir)
	}
	files := make([][]byte, len(names))
	for i, name := range names {
		if files[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
