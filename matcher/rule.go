package matcher

import "github.com/robotsgate/robotsgate/parser"

// rule is a rule as it is compared.
//
// str is the pattern as written where that is its normal form (but for a final
// "$"), else the normal form and then the pattern as written.
//
// rank orders rules by precedence, the highest first: from the highest bits
// down, the length in octets with operators counted; Allow; the line, earlier
// ones higher; and the two flags below.
type rule struct {
	str  string
	rank uint64
}

const (
	flagAtEnd      = 1 << iota // the pattern ends in the operator "$"
	flagNormalized             // str begins with the normal form
	lineShift      = iota
	allowShift     = lineShift + 32
	octetsShift    = allowShift + 1
)

// newRule normalises what parser read. wild says that it has a "*".
func newRule(written parser.Rule) (r rule, wild bool) {
	text := written.Pattern
	var flags, allow uint64
	if text[len(text)-1] == '$' {
		flags = flagAtEnd
		text = text[:len(text)-1]
	}
	octets := octetsOf(text)
	r.str = written.Pattern
	if octets&(special|dollar) != 0 {
		text, _ = parser.NormalizePattern(written.Pattern)
		r.str = text + written.Pattern
		flags |= flagNormalized
	}
	length := uint64(len(text)) + flags&flagAtEnd
	if written.Allow {
		allow = 1
	}
	r.rank = length<<octetsShift | allow<<allowShift | uint64(^uint32(written.Line))<<lineShift | flags
	return r, octets&star != 0
}

func (r *rule) atEnd() bool { return r.rank&flagAtEnd != 0 }

// text is the pattern in normal form without the final "$".
func (r *rule) text() string { return r.str[:r.rank>>octetsShift-r.rank&flagAtEnd] }

// written is the rule as parser gave it.
func (r *rule) written() parser.Rule {
	pattern := r.str
	if r.rank&flagNormalized != 0 {
		pattern = pattern[len(r.text()):]
	}
	return parser.Rule{
		Allow:   r.rank>>allowShift&1 != 0,
		Pattern: pattern,
		Line:    int(^uint32(r.rank >> lineShift)),
	}
}

// size is the memory in bytes that r keeps besides itself.
func (r *rule) size() int {
	if r.rank&flagNormalized != 0 {
		return len(r.str)
	}
	return 0
}
