package matcher

import (
	"slices"
	"strings"

	"github.com/robotsgate/robotsgate/parser"
)

// robotsPath is always allowed (RFC 9309 §2.2.2).
const robotsPath = "/robots.txt"

// Verdict is what the rules say about a request.
type Verdict struct {
	Allowed bool
	Matched bool        // a rule decided; otherwise nothing spoke against the request
	Rule    parser.Rule // the deciding rule, in the file's own words; zero unless Matched
}

// Matcher decides for one file and one crawler. It is immutable and safe for
// concurrent use.
type Matcher struct {
	token string
	rules []rule // by falling precedence
}

type rule struct {
	pattern pattern
	written parser.Rule
}

// New returns the matcher for the crawler with these product tokens, in order
// of preference. The first token that groups of r name counts, and the rules of
// all groups that name it are merged; without one the global groups ("*") count,
// and without those everything is allowed. An empty token stands for "*".
func New(r *parser.Robots, tokens ...string) *Matcher {
	m := &Matcher{}
	for _, token := range tokens {
		if m.take(r, token) {
			return m
		}
	}
	m.take(r, "*")
	return m
}

// take uses the groups that name token, if there are any.
func (m *Matcher) take(r *parser.Robots, token string) bool {
	if token == "" {
		token = "*"
	}
	for group := range r.Groups() {
		if !group.Names(token) {
			continue
		}
		m.token = token
		for written := range group.Rules() {
			m.rules = append(m.rules, rule{normalizePattern(written.Pattern), written})
		}
	}
	slices.SortStableFunc(m.rules, func(a, b rule) int {
		if d := b.pattern.octets - a.pattern.octets; d != 0 || a.written.Allow == b.written.Allow {
			return d
		}
		if a.written.Allow {
			return -1
		}
		return 1
	})
	return m.token != ""
}

// Token returns the token whose groups are used, as it was given to New; "*"
// for the global group, "" when no group applies and everything is allowed.
func (m *Matcher) Token() string { return m.token }

// HasGroup reports whether any group applies.
func (m *Matcher) HasGroup() bool { return m.token != "" }

// DisallowsNothing reports that no request can be denied, because no group
// applies or the groups that do have no Disallow rule at all. It is cautious:
// false does not mean that there is a request that is denied.
func (m *Matcher) DisallowsNothing() bool {
	return !slices.ContainsFunc(m.rules, func(r rule) bool { return !r.written.Allow })
}

// Size returns the memory in bytes that m keeps besides the Robots it was made
// from, whose octets it refers to.
func (m *Matcher) Size() int {
	size := 64
	for _, r := range m.rules {
		size += 96 + len(r.pattern.text)
	}
	return size
}

// Match decides on a path and query as they go over the wire, in form F1
// (RFC 9309 §2.2.2).
func (m *Matcher) Match(pathQuery string) Verdict {
	if pathQuery == robotsPath {
		return Verdict{Allowed: true}
	}
	return m.match(Normalize(pathQuery))
}

// MatchStrict decides like Match and then in the forms F2 to F5. The request is
// denied if it is disallowed in any of them; the first such form is returned
// with its verdict. An allowed request comes back with Match's verdict and no
// form. For a path without dot segment, "//", %2F, %5C, "\" and ";" all forms
// are the same and it answers as Match does.
func (m *Matcher) MatchStrict(pathQuery string) (Verdict, Form) {
	if pathQuery == robotsPath {
		return Verdict{Allowed: true}, 0
	}
	f1 := Normalize(pathQuery)
	verdict := m.match(f1)
	if !verdict.Allowed {
		return verdict, F1
	}
	if sameForms(f1) {
		return verdict, 0
	}
	forms := Forms(pathQuery)
	for i := 1; i < len(forms); i++ {
		if forms[i] == forms[i-1] {
			continue
		}
		if v := m.match(forms[i]); !v.Allowed {
			return v, F1 + Form(i)
		}
	}
	return verdict, 0
}

// match decides on a form.
func (m *Matcher) match(form string) Verdict {
	for i := range m.rules {
		if r := &m.rules[i]; r.pattern.matches(form) {
			return Verdict{Allowed: r.written.Allow, Matched: true, Rule: r.written}
		}
	}
	return Verdict{Allowed: true}
}

// matches compares greedily, segment by segment, which never backtracks: the
// leftmost place for a segment leaves the most room for the rest.
func (p pattern) matches(form string) bool {
	prefix, rest, wild := strings.Cut(p.text, "*")
	form, ok := strings.CutPrefix(form, prefix)
	if !ok {
		return false
	}
	if !wild {
		return !p.atEnd || form == ""
	}
	for {
		segment, next, more := strings.Cut(rest, "*")
		if !more && p.atEnd {
			return strings.HasSuffix(form, segment)
		}
		i := strings.Index(form, segment)
		if i < 0 {
			return false
		}
		if !more {
			return true
		}
		form, rest = form[i+len(segment):], next
	}
}
