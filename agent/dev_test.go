package agent

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared returns the path of a file of labelled User-Agents, and skips the
// test where the development sets are absent.
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
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "agents", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the development sets are absent: %v", err)
	}
	return path
}

func rows(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() != "" {
			rows = append(rows, s.Text())
		}
	}
	return rows
}

// TestTokens reads the labelled pairs as the specification by example.
func TestTokens(t *testing.T) {
	for _, row := range rows(t, "tokens.dev.tsv") {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(row, "\t")
		a := Identify(f[0])
		if f[1] == "" {
			if a.Bot || len(a.Tokens()) != 0 {
				t.Errorf("Identify(%q) = %+v, want a browser", f[0], a)
			}
			continue
		}
		has := func(token string) bool {
			return slices.ContainsFunc(a.Tokens(), func(s string) bool { return strings.EqualFold(s, token) })
		}
		if !a.Bot || !has(f[1]) || f[2] != "" && !has(f[2]) {
			t.Errorf("Identify(%q) = %v %q, want the tokens %q and %q", f[0], a.Bot, a.Tokens(), f[1], f[2])
		}
	}
}
