package parser

import (
	"fmt"
	"slices"
	"strings"
)

// groups warns about what only groups as a whole show.
func (in *inspector) groups(groups []ReportGroup) {
	firstGroup := map[string]int{} // token → index of its first group
	merged := map[string][]Rule{}  // tokens of groups → their rules
	for i, g := range groups {
		tokens := in.tokens(g, i, groups, firstGroup)
		if len(tokens) == 0 {
			continue
		}
		slices.Sort(tokens)
		key := strings.Join(slices.Compact(tokens), " ")
		merged[key] = append(merged[key], g.Rules...)
	}
	for _, rules := range merged {
		in.neverWin(rules)
	}
}

// tokens returns the tokens that g, the group with this index, names, and warns
// about repeated ones.
func (in *inspector) tokens(g ReportGroup, index int, groups []ReportGroup, firstGroup map[string]int) []string {
	var tokens []string
	for _, a := range g.Agents {
		if a.Token == "" {
			continue
		}
		token := strings.ToLower(a.Token)
		tokens = append(tokens, token)
		switch first, seen := firstGroup[token]; {
		case !seen:
			firstGroup[token] = index
		case first == index:
			in.warn(a.Line, WarnRepeatedAgent, a.Token+" is named twice in this group", "leave the line out")
		default:
			in.warn(a.Line, WarnRepeatedGroup,
				fmt.Sprintf("%s has a group in line %d already; the rules of both are merged, but some crawlers read only one", a.Token, groups[first].Line),
				fmt.Sprintf("put these rules into the group of line %d", groups[first].Line))
		}
	}
	return tokens
}

// neverWin warns about rules that match just the URLs that another rule of the
// same crawlers matches, which takes precedence (RFC 9309 §2.2.2).
func (in *inspector) neverWin(rules []Rule) {
	best := map[string]Rule{}
	for _, r := range rules {
		key := coverage(r)
		if winner, ok := best[key]; !ok || precedes(r, winner) {
			best[key] = r
		}
	}
	for _, r := range rules {
		winner := best[coverage(r)]
		if winner == r {
			continue
		}
		effect := "which says the same"
		if winner.Allow != r.Allow {
			effect = "which says the opposite"
		}
		in.warn(r.Line, WarnNeverWins,
			fmt.Sprintf("the rule never decides: %q in line %d matches the same URLs and takes precedence, %s", winner, winner.Line, effect),
			"leave one of the two out")
	}
}

// coverage is the same for patterns that match the same URLs, whatever their
// length: a final "*" adds nothing, nor does one after another.
func coverage(r Rule) string {
	text, atEnd := NormalizePattern(r.Pattern)
	for strings.Contains(text, "**") {
		text = strings.ReplaceAll(text, "**", "*")
	}
	if strings.HasSuffix(text, "*") {
		return text[:len(text)-1]
	}
	if atEnd {
		text += "$"
	}
	return text
}

// precedes reports whether r wins over s where both match.
func precedes(r, s Rule) bool {
	if m, n := patternLength(r), patternLength(s); m != n {
		return m > n
	}
	return r.Allow && !s.Allow
}

func patternLength(r Rule) int {
	text, atEnd := NormalizePattern(r.Pattern)
	if atEnd {
		return len(text) + 1
	}
	return len(text)
}
