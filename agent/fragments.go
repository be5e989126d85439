package agent

import "strings"

// fragment is a part of a word that bots' names have.
type fragment struct {
	text    string
	class   class // automated for a strong fragment, hinting for a weak one, browserly
	bounded bool  // no small letter may follow
}

// fragments are grouped by their first two letters; fragmentGroup has the
// number of the group for each of these pairs, so that most positions of a word
// cost one test. Group 0 is empty.
var fragments, fragmentGroup = buildFragments()

func buildFragments() ([][]fragment, [1 << 10]uint8) {
	groups := make([][]fragment, 1)
	var number [1 << 10]uint8
	class := automated
	for line := range wordLines("fragments") {
		switch line {
		case "[strong]":
			class = automated
			continue
		case "[weak]":
			class = hinting
			continue
		case "[browser]":
			class = browserly
			continue
		}
		for word := range strings.FieldsSeq(line) {
			text, bounded := strings.CutSuffix(word, ".")
			n := &number[pairBit(text[0], text[1])]
			if *n == 0 {
				*n = uint8(len(groups))
				groups = append(groups, nil)
			}
			groups[*n] = append(groups[*n], fragment{text, class, bounded})
		}
	}
	return groups, number
}

// pairBit maps two lower-case letters to their bit.
func pairBit(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// unlisted adds to the class of a word that no list has, or that is generic,
// what its looks say. A generic word is a hint at most.
func unlisted(w string, c class) class {
	looks := fragmentClass(w)
	if strings.IndexByte(w, '.') > 0 && isDomain(w) {
		looks |= domain
	}
	if c&generic != 0 && looks&automated != 0 {
		looks = looks&^automated | hinting
	}
	return c | looks
}

// fragmentClass returns the classes of the fragments in an unknown word.
func fragmentClass(w string) class {
	var c class
	for i := 0; i+1 < len(w); i++ {
		group := fragmentGroup[pairBit(w[i], w[i+1])]
		if group == 0 {
			continue
		}
		for _, f := range fragments[group] {
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
