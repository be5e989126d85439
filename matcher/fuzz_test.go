package matcher

import (
	"slices"
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

// FuzzMatch compares every verdict with the oracle's.
func FuzzMatch(f *testing.F) {
	f.Add("User-agent: a\nDisallow: /x*y$\nAllow: /x%2A\n", "a", "/x/../xy;z")
	f.Fuzz(func(t *testing.T, file, token, path string) {
		o := newOracle(file)
		rules, used := o.rules([]string{token})
		m := New(parser.Parse([]byte(file)), token)
		if m.Token() != used {
			t.Fatalf("group of %q, want %q", m.Token(), used)
		}
		if err := compareVerdicts(m, rules, path); err != nil {
			t.Fatal(err)
		}
		if m.DisallowsNothing() {
			if v, form := m.MatchStrict(path); !v.Allowed {
				t.Errorf("denied in %v although nothing is disallowed", form)
			}
		}
	})
}

// FuzzForms compares the normal forms with the oracle's.
func FuzzForms(f *testing.F) {
	f.Add("/a/%2e%2e//b%2f..%5C;c/d?e/../f")
	f.Fuzz(func(t *testing.T, path string) {
		forms, want := Forms(path), oracleForms(path)
		if !slices.Equal(forms[:], want) {
			t.Fatalf("forms %q, want %q", forms, want)
		}
		same := forms == [5]string{forms[0], forms[0], forms[0], forms[0], forms[0]}
		if sameForms(forms[0], octetsOf(forms[0])) && !same {
			t.Errorf("taken for the same: %q", forms)
		}
	})
}

// FuzzPathOf holds for any text what PathOf promises.
func FuzzPathOf(f *testing.F) {
	f.Add("https://user@h:8/p/q?r#s")
	f.Fuzz(func(t *testing.T, url string) {
		path := PathOf(url)
		if path == "" || path[0] != '/' {
			t.Errorf("PathOf(%q) = %q does not begin with a slash", url, path)
		}
	})
}
