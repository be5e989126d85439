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

// TestDevelopmentSets holds the rates that the product promises. The command
// benchmarks/agents prints what is wrong.
func TestDevelopmentSets(t *testing.T) {
	const shape = "Mozilla/5.0 ("
	tests := []struct {
		name, file, prefix string
		bot                bool
		rate               float64
	}{
		{"crawlers", "bots.dev.txt", "", true, .99},
		{"HTTP libraries and tools", "tools.dev.txt", "", true, .995},
		{"crawlers of the browsers' shape", "bots.dev.txt", shape, true, .955},
		{"browsers of the browsers' shape", "browsers.dev.txt", shape, false, .999},
		{"browsers of every shape", "browsers.dev.txt", "", false, .94},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var right, all int
			for _, ua := range rows(t, tt.file) {
				if strings.HasPrefix(ua, tt.prefix) {
					all++
					if Identify(ua).Bot == tt.bot {
						right++
					}
				}
			}
			if rate := float64(right) / float64(all); rate < tt.rate {
				t.Errorf("right are %d of %d, %.4f, want %.4f", right, all, rate, tt.rate)
			}
		})
	}
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
				t.Errorf("Identify(%q) = %v %q, want a browser", f[0], a.Bot, a.Tokens())
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

// TestHostileGroupNames holds that no group name made to catch everybody is a
// token of anybody, and that a browser has no token at all.
func TestHostileGroupNames(t *testing.T) {
	hostile := strings.Fields(`bot bots robot crawler spider mozilla applewebkit webkit compatible chrome
		safari gecko khtml like windows linux android macintosh x11 http https www com version mobile * -`)
	for _, name := range []string{"bots.dev.txt", "tools.dev.txt", "browsers.dev.txt"} {
		for _, ua := range rows(t, name) {
			a := Identify(ua)
			if !a.Bot && len(a.Tokens()) > 0 {
				t.Errorf("Identify(%q) is no bot and has the tokens %q", ua, a.Tokens())
			}
			for _, token := range a.Tokens() {
				if slices.Contains(hostile, strings.ToLower(token)) {
					t.Errorf("Identify(%q) has the token %q", ua, token)
				}
			}
		}
	}
}

// TestExplainAgrees holds that every answer has reasons, and that they are for
// the answer given.
func TestExplainAgrees(t *testing.T) {
	for _, name := range []string{"bots.dev.txt", "tools.dev.txt", "browsers.dev.txt"} {
		for _, ua := range rows(t, name) {
			why := Explain(ua)
			if len(why) == 0 {
				t.Fatalf("Explain(%q) gives no reason", ua)
			}
			if not := strings.HasPrefix(why[0], "not a bot"); not == Identify(ua).Bot {
				t.Errorf("Identify(%q).Bot = %v, but %q", ua, Identify(ua).Bot, why)
			}
		}
	}
}

// TestCommonPartsAreShortcutsOnly holds that headers with the parts that are
// read at one stroke get the answers of headers that differ in a version alone.
func TestCommonPartsAreShortcutsOnly(t *testing.T) {
	slow := strings.NewReplacer("AppleWebKit/537.36", "AppleWebKit/537.37", "Safari/537.36", "Safari/537.37")
	for _, name := range []string{"bots.dev.txt", "browsers.dev.txt"} {
		for _, ua := range rows(t, name) {
			other := slow.Replace(ua)
			if rest, ok := strings.CutPrefix(other, "Mozilla/5.0 ("); ok {
				other = "mozilla/5.0 (" + rest
			}
			a, b := Identify(ua), Identify(other)
			if a.Bot != b.Bot || a.Name != b.Name || !slices.Equal(a.Tokens(), b.Tokens()) {
				t.Errorf("Identify(%q) = %v %q, without shortcuts %v %q", ua, a.Bot, a.Tokens(), b.Bot, b.Tokens())
			}
		}
	}
}

// TestBriefIsComplete holds that reading on after the best name changes
// neither the answer nor the name and the tokens.
func TestBriefIsComplete(t *testing.T) {
	for _, name := range []string{"bots.dev.txt", "tools.dev.txt"} {
		for _, ua := range rows(t, name) {
			var brief, whole report
			brief.examine(ua, true)
			whole.examine(ua, false)
			a, b := brief.agent(), whole.agent()
			if a.Bot != b.Bot || a.Name != b.Name || !slices.Equal(a.Tokens(), b.Tokens()) {
				t.Errorf("Identify(%q) = %v %q, read to its end %v %q", ua, a.Bot, a.Tokens(), b.Bot, b.Tokens())
			}
		}
	}
}
