// Package repo finds the checkout that a test runs in, and the test material
// that may lie beside it.
package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Root returns the directory of the root module.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module github.com/robotsgate/robotsgate\n")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("the test does not run inside a checkout of robotsgate")
		}
		dir = parent
	}
}

// Shared returns a directory of ../shared, beside the checkout, and skips the
// test where there is none.
func Shared(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(Root(t)), "shared", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs ../shared/%s beside the checkout, which is not there", name)
	}
	return dir
}
