package oracle

import (
	"slices"
	"strings"
)

// rule is one allow or disallow line with a value.
type rule struct {
	allow   bool
	pattern string // as written
	line    int

	// normal is the pattern in the normal form of paths, less a final "$".
	// Every "*" in it is the operator: a literal one is written "%2A".
	normal   string
	anchored bool // a final "$" was there
}

func newRule(allow bool, pattern string, line int) rule {
	body, anchored := strings.CutSuffix(pattern, "$")
	return rule{allow, pattern, line, strings.ReplaceAll(normalise(body), "$", "%24"), anchored}
}

// length is the number of octets of the normal form, operators counted.
func (r rule) length() int {
	if r.anchored {
		return len(r.normal) + 1
	}
	return len(r.normal)
}

// matches fills the textbook table: cell [i][j] says whether the first i
// octets of the pattern can match the first j octets of the path.
func (r rule) matches(path string) bool {
	row := make([]bool, len(path)+1)
	row[0] = true
	for _, c := range []byte(r.normal) {
		next := make([]bool, len(path)+1)
		for j := range next {
			switch {
			case c == '*':
				next[j] = row[j] || j > 0 && next[j-1]
			case j > 0:
				next[j] = row[j-1] && path[j-1] == c
			}
		}
		if !slices.Contains(next, true) {
			return false
		}
		row = next
	}
	if r.anchored {
		return row[len(path)]
	}
	return true
}
