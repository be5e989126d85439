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

// matches follows every way in which the pattern can match the path at once:
// ends are the places, in ascending order, where the octets of the pattern so
// far can have come to.
func (r rule) matches(path string) bool {
	ends := []int{0}
	for _, c := range []byte(r.normal) {
		var next []int
		if c == '*' {
			for end := ends[0]; end <= len(path); end++ {
				next = append(next, end)
			}
		} else {
			for _, end := range ends {
				if end < len(path) && path[end] == c {
					next = append(next, end+1)
				}
			}
		}
		if len(next) == 0 {
			return false
		}
		ends = next
	}
	return !r.anchored || slices.Contains(ends, len(path))
}
