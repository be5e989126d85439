package matcher

import (
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

const sample = `User-agent: *
Disallow: /private
Allow: /private/open

User-agent: FooBot
Disallow: /foo
Crawl-delay: 3

User-agent: foobot
Disallow: /*.gif$

User-agent: empty
`

func TestRFC9309_2_2_1_Groups(t *testing.T) {
	r := parser.Parse([]byte(sample))
	for _, test := range []struct {
		name     string
		tokens   []string
		token    string
		hasGroup bool
		nothing  bool
		path     string
		want     Verdict
	}{
		{"groups of a token merge", []string{"FOOBOT"}, "FOOBOT", true, false, "/x.gif", Verdict{false, true, parser.Rule{Pattern: "/*.gif$", Line: 10}}},
		{"named groups shut out the global one", []string{"foobot"}, "foobot", true, false, "/private", Verdict{Allowed: true}},
		{"a group without rules too", []string{"Empty"}, "Empty", true, true, "/private", Verdict{Allowed: true}},
		{"whole names only", []string{"foo", "foobots"}, "*", true, false, "/private", Verdict{false, true, parser.Rule{Pattern: "/private", Line: 2}}},
		{"first token with a group", []string{"other", "empty", "foobot"}, "empty", true, true, "/foo", Verdict{Allowed: true}},
		{"no token", nil, "*", true, false, "/private/open/x", Verdict{true, true, parser.Rule{Allow: true, Pattern: "/private/open", Line: 3}}},
		{"empty token", []string{""}, "*", true, false, "/private", Verdict{false, true, parser.Rule{Pattern: "/private", Line: 2}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(r, test.tokens...)
			if m.Token() != test.token || m.HasGroup() != test.hasGroup || m.DisallowsNothing() != test.nothing {
				t.Errorf("token %q, has group %t, disallows nothing %t; want %q, %t, %t",
					m.Token(), m.HasGroup(), m.DisallowsNothing(), test.token, test.hasGroup, test.nothing)
			}
			if got := m.Match(test.path); got != test.want {
				t.Errorf("Match(%q) = %+v, want %+v", test.path, got, test.want)
			}
		})
	}
}

func TestNoGroup(t *testing.T) {
	m := New(parser.Parse([]byte("User-agent: a\nDisallow: /\n")), "b")
	if got := m.Match("/"); got != (Verdict{Allowed: true}) || m.Token() != "" || m.HasGroup() || !m.DisallowsNothing() {
		t.Errorf("verdict %+v, token %q, group %t; want all allowed without a group", got, m.Token(), m.HasGroup())
	}
}

func TestPrecedence(t *testing.T) {
	for _, test := range []struct{ name, rules, path, want string }{
		{"RFC9309_2.2.2_longest wins", "Disallow: /a\nAllow: /ab", "/abc", "Allow: /ab"},
		{"RFC9309_2.2.2_order does not count", "Allow: /a\nDisallow: /ab", "/abc", "Disallow: /ab"},
		{"RFC9309_2.2.2_Allow wins ties", "Disallow: /a\nAllow: /a", "/a", "Allow: /a"},
		{"octets of the normal form count", "Disallow: /ツ\nAllow: /********", "/ツ", "Disallow: /ツ"},
		{"unreserved escapes count once", "Disallow: /%61%61%61\nAllow: /aaaa", "/aaaa", "Allow: /aaaa"},
		{"* counts", "Disallow: /ab\nAllow: /ab*", "/ab", "Allow: /ab*"},
		{"$ counts", "Allow: /ab\nDisallow: /ab$", "/ab", "Disallow: /ab$"},
		{"inner $ is an octet escaped", "Disallow: /a$b\nAllow: /****", "/a$b", "Disallow: /a$b"},
		{"first $ of two is literal", "Disallow: /a$$", "/a", ""},
		{"first $ of two matches itself", "Disallow: /a$$", "/a%24", "Disallow: /a$$"},
		{"* before $", "Disallow: /a*$", "/abc", "Disallow: /a*$"},
		{"* at the start", "Disallow: *b", "/ab", "Disallow: *b"},
		{"no leading slash", "Disallow: a", "/a", ""},
		{"wildcard may match nothing", "Disallow: /a*b", "/ab", "Disallow: /a*b"},
		{"last segment at the end", "Disallow: /*ab$", "/abxab", "Disallow: /*ab$"},
		{"end may not overlap", "Disallow: /ab*b$", "/ab", ""},
		{"earlier of the same", "Disallow: /a\nDisallow: /a", "/a", "Disallow: /a"},
		{"literal * is no operator", "Disallow: /a%2Ab", "/axb", ""},
		{"/robots.txt", "Disallow: /", "/robots.txt", ""},
		{"/robots.txt only", "Disallow: /", "/robots.txt?", "Disallow: /"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(parser.Parse([]byte("User-agent: *\n" + test.rules)))
			v := m.Match(test.path)
			if got := v.Rule.String(); got != test.want || v.Matched != (test.want != "") || v.Allowed != (test.want == "" || v.Rule.Allow) {
				t.Errorf("%q: got %+v, want %q", test.path, v, test.want)
			}
		})
	}
}

func TestMatchStrict(t *testing.T) {
	m := New(parser.Parse([]byte("User-agent: *\nDisallow: /private\nAllow: /public/\nDisallow: /sec%2Fret\n")))
	for _, test := range []struct{ path, form, rule string }{
		{"/", "", ""},
		{"/private/x", "F1", "Disallow: /private"},
		{"/%70rivate", "F1", "Disallow: /private"},
		{"/public/x", "", "Allow: /public/"},
		{"/public/../private", "F2", "Disallow: /private"},
		{"/public/%2e%2e/private", "F2", "Disallow: /private"},
		{"//private/x", "F3", "Disallow: /private"},
		{"/a//../private/x", "F3", "Disallow: /private"},
		{"/a//%2e%2e/private/x", "F3", "Disallow: /private"},
		{"/a/b//..//../private/x", "F3", "Disallow: /private"},
		{"/a/%2f../private/x", "F4", "Disallow: /private"},
		{"/a/;b/../private/x", "F5", "Disallow: /private"},
		{"/.//private/x", "F3", "Disallow: /private"},
		{"/%2fprivate", "F4", "Disallow: /private"},
		{`/a\..\private`, "F4", "Disallow: /private"},
		{"/;/private/x", "F5", "Disallow: /private"},
		{"/a/..;/private/x", "F5", "Disallow: /private"},
		{"/private;a=b/x", "F1", "Disallow: /private"},
		{"/x/../sec%2fret", "F2", "Disallow: /sec%2Fret"},
		{"/x?/../private", "", ""},
		{"/%2570rivate", "", ""},
		{"/PRIVATE", "", ""},
		{"/robots.txt", "", ""},
		{"/private/../robots.txt", "F1", "Disallow: /private"},
	} {
		v, form := m.MatchStrict(test.path)
		if form.String() != test.form || v.Rule.String() != test.rule || v.Allowed != (test.form == "") {
			t.Errorf("MatchStrict(%q) = %+v in %q, want %q in %q", test.path, v, form, test.rule, test.form)
		}
	}
}
