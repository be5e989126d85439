package matcher

import "github.com/robotsgate/robotsgate/parser"

// Normalize returns the form F1 of a path and query; see [parser.Normalize].
func Normalize(pathQuery string) string { return parser.Normalize(pathQuery) }

// A pattern is a rule's path pattern in normal form.
type pattern struct {
	text   string // "*" stands only as operator; without the final "$"
	atEnd  bool   // the final "$": matches only at the end of the URL
	octets int    // length, operators counted
}

func normalizePattern(written string) pattern {
	text, atEnd := parser.NormalizePattern(written)
	p := pattern{text: text, atEnd: atEnd, octets: len(text)}
	if atEnd {
		p.octets++
	}
	return p
}
