package matcher

import (
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
	token     string
	literal   *prefixIndex // rules without wildcards where they are many, else nil
	scan      scanList     // all other rules
	disallows bool         // there is a Disallow rule
}

// fewLiterals is up to how many rules without wildcards are tried one by one.
const fewLiterals = 24

// New returns the matcher for the crawler with these product tokens, in order
// of preference. The first token that groups of r name counts, and the rules of
// all groups that name it are merged; without one the global groups ("*") count,
// and without those everything is allowed. An empty token stands for "*".
func New(r *parser.Robots, tokens ...string) *Matcher {
	for _, token := range tokens {
		if m := newFor(r, token); m != nil {
			return m
		}
	}
	if m := newFor(r, "*"); m != nil {
		return m
	}
	return &Matcher{}
}

// newFor returns the matcher for one token, nil if no group names it.
func newFor(r *parser.Robots, token string) *Matcher {
	if token == "" {
		token = "*"
	}
	var groups []parser.Group
	count := 0
	for group := range r.Groups() {
		if group.Names(token) {
			groups = append(groups, group)
			count += group.RuleCount()
		}
	}
	if len(groups) == 0 {
		return nil
	}
	m := &Matcher{token: token}
	literals := make([]rule, 0, count)
	var scan []scanRule
	for _, group := range groups {
		for written := range group.Rules() {
			m.disallows = m.disallows || !written.Allow
			if r, wild := newRule(written); wild {
				scan = append(scan, newScanRule(r, true))
			} else {
				literals = append(literals, r)
			}
		}
	}
	if len(literals) > fewLiterals {
		m.literal = newPrefixIndex(literals)
	} else {
		for _, r := range literals {
			scan = append(scan, newScanRule(r, false))
		}
	}
	m.scan = newScanList(scan)
	return m
}

// Token returns the token whose groups are used, as it was given to New; "*"
// for the global group, "" when no group applies and everything is allowed.
func (m *Matcher) Token() string { return m.token }

// HasGroup reports whether any group applies.
func (m *Matcher) HasGroup() bool { return m.token != "" }

// DisallowsNothing reports that no request can be denied, because no group
// applies or the groups that do have no Disallow rule at all. It is cautious:
// false does not mean that there is a request that is denied.
func (m *Matcher) DisallowsNothing() bool { return !m.disallows }

// Size returns the memory in bytes that m keeps besides the Robots it was made
// from, to whose octets it refers.
func (m *Matcher) Size() int {
	size := 96 + m.scan.size()
	if m.literal != nil {
		size += m.literal.size()
	}
	return size
}

// Match decides on a path and query as they go over the wire, in form F1
// (RFC 9309 §2.2.2).
func (m *Matcher) Match(pathQuery string) Verdict {
	if pathQuery == robotsPath {
		return Verdict{Allowed: true}
	}
	octets := octetsOf(pathQuery)
	if octets&^present == 0 {
		return m.match(pathQuery, octets)
	}
	var room [shortForm]byte
	form := normalIn(room[:0], pathQuery)
	return m.match(form, octetsOf(form))
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
	octets := octetsOf(pathQuery)
	if octets&^present == 0 {
		return m.matchForms(pathQuery, octets)
	}
	var room [shortForm]byte
	f1 := normalIn(room[:0], pathQuery)
	return m.matchForms(f1, octetsOf(f1))
}

// matchForms decides on f1, which is in form F1 and consists of octets, and on
// the forms that follow from it.
func (m *Matcher) matchForms(f1 string, octets octetSet) (Verdict, Form) {
	verdict := m.match(f1, octets)
	if !verdict.Allowed {
		return verdict, F1
	}
	if sameForms(f1, octets) {
		return verdict, 0
	}
	forms := formsOf(f1)
	merged := mergedFirst(f1)
	for i := 1; i < len(forms); i++ {
		if forms[i] != forms[i-1] {
			if v := m.match(forms[i], octetsOf(forms[i])); !v.Allowed {
				return v, F1 + Form(i)
			}
		}
		if i < 2 || merged[i-2] == forms[i] || i > 2 && merged[i-2] == merged[i-3] {
			continue
		}
		if v := m.match(merged[i-2], octetsOf(merged[i-2])); !v.Allowed {
			return v, F1 + Form(i)
		}
	}
	return verdict, 0
}

// match decides on a form that consists of octets.
func (m *Matcher) match(form string, octets octetSet) Verdict {
	var best *rule
	var rank uint64
	if m.literal != nil {
		if best = m.literal.best(form); best != nil {
			rank = best.rank
		}
	}
	if r := m.scan.best(form, octets, rank); r != nil {
		best = r
	}
	if best == nil {
		return Verdict{Allowed: true}
	}
	written := best.written()
	return Verdict{Allowed: written.Allow, Matched: true, Rule: written}
}
