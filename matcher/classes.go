package matcher

import (
	"strings"

	"github.com/robotsgate/robotsgate/parser"
)

// octetSet says which octets a path or pattern consists of: what they ask for,
// in the lowest bits, and above them which are there, rarer ones each with a bit
// of its own and the others in groups.
type octetSet uint64

const (
	special octetSet = 1 << iota // normalising
	star                         // normalising in a URL; an operator in a pattern
	dollar                       // the same

	classBits = iota
	present   = ^octetSet(1<<classBits - 1) // all bits that say what is there
)

var octetSets = func() (t [256]octetSet) {
	const alone = "/?=&%.-_~:;,+!@'()[]#" + "abcdefghijklmnopqrstuvwxyz"
	for c := range t {
		octet := string([]byte{byte(c)})
		bit := strings.Index(alone, octet)
		if bit < 0 {
			bit = len(alone) + c%(64-classBits-len(alone))
		}
		t[c] = 1 << (classBits + bit)
		if parser.Normalize(octet) != octet {
			t[c] |= special
		}
	}
	t['%'] |= special
	t['*'] = star
	t['$'] = dollar
	return t
}()

// octetsOf returns the set of the octets of s. None of the three classes in it
// means that s is in form F1.
func octetsOf(s string) octetSet {
	var all octetSet
	for len(s) >= 8 {
		all |= octetSets[s[0]] | octetSets[s[1]] | octetSets[s[2]] | octetSets[s[3]] |
			octetSets[s[4]] | octetSets[s[5]] | octetSets[s[6]] | octetSets[s[7]]
		s = s[8:]
	}
	for i := range len(s) {
		all |= octetSets[s[i]]
	}
	return all
}
