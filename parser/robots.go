package parser

import "iter"

// MaxLine is the number of octets of a line that are used; the rest of a longer
// line is ignored, as Google documents. Unit: octets.
const MaxLine = 16663

// RecommendedLimit is the size in octets up to which a crawler must parse a
// robots.txt file (RFC 9309 §2.5: at least 500 kibibytes).
const RecommendedLimit = 500 * 1024

// Robots is one parsed robots.txt file. It is immutable, safe for concurrent
// use, and independent of the octets it was parsed from. Make it with [Parse];
// the zero value is an empty file.
type Robots struct {
	// data holds the records that arena.go describes. Patterns, names and
	// values that the methods hand out are substrings of it.
	data string
	// kept is the memory behind data: its length rounded up by the allocator.
	kept int
}

// Rule is one allow or disallow line.
type Rule struct {
	Allow   bool   `json:"allow"`   // Allow line; otherwise Disallow
	Pattern string `json:"pattern"` // path pattern as written, comment and surrounding white space cut; never empty in a group
	Line    int    `json:"line"`    // line number, from 1
}

// String returns the rule as a line of robots.txt, "Disallow: /private". The
// zero Rule, which stands for no rule at all, gives "".
func (r Rule) String() string {
	switch {
	case r == Rule{}:
		return ""
	case r.Allow:
		return "Allow: " + r.Pattern
	default:
		return "Disallow: " + r.Pattern
	}
}

// Agent is one user-agent line.
type Agent struct {
	Name  string `json:"name"`  // value as written
	Token string `json:"token"` // product token in it: "*" for the global group, "" when it names nobody
	Line  int    `json:"line"`  // line number, from 1
}

// Record is a line that is neither a user-agent line nor a rule: Sitemap,
// Crawl-delay, Content-Signal and so on.
type Record struct {
	Key   string `json:"key"`   // key as written
	Value string `json:"value"` // value as written, possibly empty
	Line  int    `json:"line"`  // line number, from 1
	Group int    `json:"group"` // index of the group it stands in, counted as Groups yields them; -1 before the first
}

// Group is a run of user-agent lines with what follows up to the next run.
// Several groups may name the same token; RFC 9309 §2.2.1 has their rules
// merged, which package matcher does.
type Group struct {
	data  string // records of the section
	rules int
}

// Size returns the memory in bytes that r keeps, everything counted.
func (r *Robots) Size() int {
	const header = 24 // string header and kept
	return header + r.kept
}

// Groups yields the groups in the order of the file.
func (r *Robots) Groups() iter.Seq[Group] {
	return func(yield func(Group) bool) {
		_, rest := cutSection(r.data)
		for rest != "" {
			var group Group
			group, rest = cutSection(rest)
			if !yield(group) {
				return
			}
		}
	}
}

// Records yields the records other than user-agent lines and rules, in the
// order of the file.
func (r *Robots) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		group := -1
		for rest := r.data; rest != ""; group++ {
			var section Group
			section, rest = cutSection(rest)
			for e := range section.entries() {
				if e.kind != kindOther {
					continue
				}
				key, value, _ := splitLine(e.text)
				if !yield(Record{Key: key, Value: value, Line: e.line, Group: group}) {
					return
				}
			}
		}
	}
}

// Line returns the line number of the group's first user-agent line.
func (g Group) Line() int {
	for e := range g.entries() {
		return e.line
	}
	return 0
}

// Agents yields the group's user-agent lines.
func (g Group) Agents() iter.Seq[Agent] {
	return func(yield func(Agent) bool) {
		for e := range g.entries() {
			if e.kind != kindAgent {
				continue
			}
			if !yield(Agent{Name: e.text, Token: Token(e.text), Line: e.line}) {
				return
			}
		}
	}
}

// RuleCount returns how many rules Rules yields.
func (g Group) RuleCount() int { return g.rules }

// Rules yields the group's rules. Lines with an empty value are no rules and are
// left out.
func (g Group) Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		line := 0
		for pos := 0; pos < len(g.data); {
			k, step, start, end := record(g.data, pos)
			line += step
			pos = end
			if !k.isRule() || start == end {
				continue
			}
			if !yield(Rule{Allow: k == kindAllow, Pattern: g.data[start:end], Line: line}) {
				return
			}
		}
	}
}

// Names reports whether one of the group's user-agent lines names token, which
// is compared case-insensitively and whole; "*" asks for the global group.
func (g Group) Names(token string) bool {
	for e := range g.entries() {
		if e.kind.isRule() {
			return false
		}
		if e.kind == kindAgent && token != "" && equalFold(Token(e.text), token) {
			return true
		}
	}
	return false
}

// entry is a record of a section.
type entry struct {
	kind kind
	line int
	text string
}

func (g Group) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		line := 0
		for pos := 0; pos < len(g.data); {
			k, step, start, end := record(g.data, pos)
			line += step
			pos = end
			if !yield(entry{k, line, g.data[start:end]}) {
				return
			}
		}
	}
}
