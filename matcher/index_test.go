package matcher

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

// Files with many rules take other ways to the same verdicts.

func TestManyRulesWithOnePattern(t *testing.T) {
	file := "User-agent: *\n" + strings.Repeat("Disallow: /ab\n", 30) + "Allow: /%61b\n" + strings.Repeat("Disallow: /ab$\n", 30)
	m := New(parser.Parse([]byte(file)))
	if m.literal == nil || len(m.literal.rules) > 3 {
		t.Fatalf("not merged: %+v", m.literal)
	}
	for path, want := range map[string]parser.Rule{
		"/abc": {Allow: true, Pattern: "/%61b", Line: 32},
		"/ab":  {Pattern: "/ab$", Line: 33},
	} {
		if got := m.Match(path).Rule; got != want {
			t.Errorf("Match(%q): got %+v, want %+v", path, got, want)
		}
	}
}

func TestManyLengths(t *testing.T) {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for n := 1; n < 300; n += 3 {
		fmt.Fprintf(&file, "Disallow: /%s\n", strings.Repeat("a", n-1))
	}
	m := New(parser.Parse([]byte(file.String())))
	for n := 1; n < 320; n++ {
		path := "/" + strings.Repeat("a", n-1) + "b"
		want := min((n-1)/3*3+1, 298) // the longest pattern up to n octets
		if got := m.Match(path).Rule; len(got.Pattern) != want || got.Line != 2+(want-1)/3 {
			t.Errorf("path of %d octets: pattern of %d octets in line %d, want %d", len(path), len(got.Pattern), got.Line, want)
		}
	}
}

func TestManyWildcardsInLongForm(t *testing.T) {
	long := strings.Repeat("x", longForm)
	for _, test := range []struct {
		pattern, path string
		match         bool
	}{
		{"/*ab*cd", "/" + long + "abcd", true},
		{"/*ab*cd", "/cd" + long + "ab", false},
		{"/*ab*bc$", "/" + long + "abc", false},
		{"/*ab*bc$", "/" + long + "abbc", true},
		{"/*ab*b*c$", "/" + long + "abc", false},
		{"/" + long + "*y$", "/" + long + "y", true},
		{"/" + long + "xy*y$", "/" + long + "xy", false},
	} {
		file := "User-agent: *\n" + strings.Repeat("Disallow: /*q*r\n", manyScanned) + "Disallow: " + test.pattern
		if got := New(parser.Parse([]byte(file))).Match(test.path).Matched; got != test.match {
			t.Errorf("%.20s on %.20s…%s: got %t, want %t", test.pattern, test.path, test.path[len(test.path)-4:], got, test.match)
		}
	}
}
