// Package oracle decides robots.txt questions in the slowest and plainest way
// that the documents allow, so that tests can hold the gate against it.
//
// It is written from RFC 9309, the project's rulings on cases where sources
// disagree, and the five normal forms of a path (F1 to F5). It shares no
// function with the parser and matcher packages: a defect there must not be
// able to hide here. Speed and memory do not matter.
package oracle

import (
	"slices"
	"strings"
)

// Reasons that a verdict may carry; they are the gate's own words.
const (
	RuleAllowed          = "rule_allowed"
	NoRule               = "no_rule"
	NoGroup              = "no_group"
	RobotsTxt            = "robots_txt"
	Disallowed           = "disallowed"
	DisallowedNormalised = "disallowed_normalized"
)

// Verdict is what the documents say about one request.
type Verdict struct {
	Allowed bool
	Reason  string

	// Token is the product token, lower-cased, whose group was used, or "*".
	// Empty when no group applies.
	Token string

	// Form is "F1" … "F5": the first form of the path that is disallowed.
	// Empty when the request is allowed.
	Form string

	// Lines are the lines, counted from 1, of every rule that could be named
	// as deciding, for rules of the same kind and length tie; Patterns are
	// their patterns as written.
	Lines    []int
	Patterns []string
}

// Robots is a robots.txt that has been read.
type Robots struct{ groups []group }

// Read reads a robots.txt; it never fails.
func Read(body []byte) Robots { return Robots{parse(body)} }

// Judge decides whether a crawler with the given product tokens, the most
// preferred first, may ask for target, a path with an optional query as it
// stands on the request line. With strict, all five forms of the path are
// judged; without, the normative one alone.
func (r Robots) Judge(tokens []string, target string, strict bool) Verdict {
	if target == "/robots.txt" { // RFC 9309 section 2.2.2
		return Verdict{Allowed: true, Reason: RobotsTxt}
	}
	token, rules := choose(r.groups, tokens)
	if token == "" {
		return Verdict{Allowed: true, Reason: NoGroup}
	}
	forms := Forms(target)
	if !strict {
		forms = forms[:1]
	}
	first := decide(rules, forms[0])
	for i, form := range forms {
		v := decide(rules, form)
		if v.Allowed && i >= 2 {
			v = decide(rules, Merged(target)[i-2])
		}
		if v.Allowed {
			continue
		}
		v.Token = token
		v.Form = formNames[i]
		if i > 0 {
			v.Reason = DisallowedNormalised
		}
		return v
	}
	first.Token = token
	return first
}

// choose returns the rules that apply: those of every group that names the
// first token with groups, else those of the global groups (RFC 9309 section
// 2.2.1). The returned token is empty where neither exists.
func choose(groups []group, tokens []string) (string, []rule) {
	for _, token := range append(append([]string{}, tokens...), "*") {
		token = strings.ToLower(token)
		if token == "" {
			token = "*"
		}
		found := false
		var rules []rule
		for _, g := range groups {
			for _, name := range g.names {
				if name == token {
					found = true
					rules = append(rules, g.rules...)
					break
				}
			}
		}
		if found {
			return token, rules
		}
	}
	return "", nil
}

// decide applies RFC 9309 section 2.2.2 to one form of the path: the longest
// matching pattern wins, and allow wins a tie.
func decide(rules []rule, path string) Verdict {
	best := -1
	var winners []rule
	for _, r := range rules {
		if r.length() < best || !r.matches(path) {
			continue
		}
		if r.length() > best {
			best, winners = r.length(), nil
		}
		winners = append(winners, r)
	}
	if len(winners) == 0 {
		return Verdict{Allowed: true, Reason: NoRule}
	}
	v := Verdict{Reason: Disallowed}
	if slices.ContainsFunc(winners, func(r rule) bool { return r.allow }) {
		v = Verdict{Allowed: true, Reason: RuleAllowed}
	}
	for _, r := range winners {
		if r.allow == v.Allowed {
			v.Lines = append(v.Lines, r.line)
			v.Patterns = append(v.Patterns, r.pattern)
		}
	}
	return v
}
