package agent

import "strings"

// fragment is a part of a word that bots' names have.
type fragment struct {
	text    string
	class   class // automated for a strong fragment, hinting for a weak one
	bounded bool  // no small letter may follow
}

// fragments are the fragments by their first two letters; pairs has a bit for
// each of these pairs, so that most positions cost one test.
var fragments, pairs = buildFragments()

func buildFragments() (map[uint16][]fragment, [1 << 10]bool) {
	byPair := make(map[uint16][]fragment)
	var pairs [1 << 10]bool
	class := automated
	for line := range wordLines("fragments") {
		switch line {
		case "[strong]":
			class = automated
			continue
		case "[weak]":
			class = hinting
			continue
		}
		for word := range strings.FieldsSeq(line) {
			text, bounded := strings.CutSuffix(word, ".")
			pair := uint16(text[0])<<8 | uint16(text[1])
			byPair[pair] = append(byPair[pair], fragment{text, class, bounded})
			pairs[pairBit(text[0], text[1])] = true
		}
	}
	return byPair, pairs
}

// pairBit maps two lower-case letters to their bit.
func pairBit(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// fragmentClass returns the classes of the fragments in an unknown word.
func fragmentClass(w string) class {
	var c class
	for i := 0; i+1 < len(w); i++ {
		if !pairs[pairBit(w[i], w[i+1])] {
			continue
		}
		for _, f := range fragments[uint16(folded[w[i]])<<8|uint16(folded[w[i+1]])] {
			if hasPrefix(w[i:], f.text) && (!f.bounded || !smallLetter(w, i+len(f.text))) {
				c |= f.class
			}
		}
	}
	return c
}

func smallLetter(w string, i int) bool {
	return i < len(w) && 'a' <= w[i] && w[i] <= 'z'
}
