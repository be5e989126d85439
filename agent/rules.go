package agent

import "strings"

// judge applies the rules about names to a phrase that has ended.
func (s *scanner) judge(p *phrase) {
	r := s.r
	switch {
	case p.class&listed != 0 && (p.class&whole != 0 || !s.device()):
		r.find(ruleListed, p.start, p.end)
	case p.class&automated != 0:
		r.find(ruleWord, p.start, p.end)
	case s.compatible > 0 && !s.named && p.named:
		r.find(ruleCompatible, p.start, p.end)
	case s.layout && p.named:
		r.find(ruleLayout, p.start, p.end)
	case !r.mozilla:
	case p.class&domain != 0 && (r.modern || r.seen&engine == 0 || s.comments == 1 && s.depth == 1):
		r.find(ruleURL, p.start, p.end)
	case r.seen&handset != 0 || s.depth == 0 && !r.modern || s.comments == 1 && r.seen&engine != 0 && !r.modern:
		// Apps, and the extensions of old browsers, write what they like.
	case p.class&(hinting|browserly) == hinting && (p.named || p.words > 1):
		r.find(ruleHint, p.start, p.end)
	case s.comments == 1 && s.depth == 1:
		if s.item.words == 0 && s.compatible == 0 && r.seen&engine == 0 && s.opens(p) &&
			p.class&browserly == 0 && properName(s.h[p.start:p.end]) {
			s.item = *p
		}
	case s.depth == 0 && r.seen&ending != 0 && properName(s.h[p.start:p.end]) && !s.derived(p):
		r.find(ruleProduct, p.start, p.end)
	}
}

// opens reports whether a phrase is the first of its item.
func (s *scanner) opens(p *phrase) bool {
	before := strings.TrimRight(s.h[:p.start], " +")
	return strings.HasSuffix(before, ";") || strings.HasSuffix(before, "(")
}

// judgeItem applies the rule on names among the systems, which holds for the
// desktop browsers of our day alone and can be told at the end only.
func (s *scanner) judgeItem() {
	if s.item.words > 0 && s.r.modern && s.r.seen&handset == 0 {
		s.r.find(ruleItem, s.item.start, s.item.end)
	}
}

// device reports whether the scanner is in a handset's first comment, where
// makers and models have names of every kind.
func (s *scanner) device() bool {
	return s.comments == 1 && s.depth == 1 && s.r.seen&handset != 0
}

// derived reports whether a product seems to be a browser built on the one
// named before it: it says so, has the same version, or one of four numbers.
func (s *scanner) derived(p *phrase) bool {
	if p.class&browserly != 0 {
		return true
	}
	version := s.h[p.end:versionEnd(s.h, p.end)]
	return len(version) > 1 && (major(version[1:]) == s.major || strings.Count(version, ".") == 3)
}

// major returns the first number of a version, 0 without one.
func major(version string) int {
	n := 0
	for i := 0; i < len(version) && isDigit(version[i]) && n < 1e6; i++ {
		n = n*10 + int(version[i]-'0')
	}
	return n
}

// properName reports whether an unknown phrase looks like a name that somebody
// chose, not like a serial number or an abbreviation.
func properName(w string) bool {
	if len(w) > 2 && (w[2] == '-' || w[2] == '_') { // a language
		return false
	}
	small, digits := 0, 0
	for i := range len(w) {
		switch {
		case 'a' <= w[i] && w[i] <= 'z':
			small++
		case isDigit(w[i]):
			digits++
		case w[i] >= 0x80 || w[i] == '_':
			return false
		}
	}
	return small >= 3 && digits <= 2 && letter(w[0])
}

// bestScore is that of a known bot behind "compatible;".
const bestScore = 107

// score rates a phrase as the sender's name by where it stands.
func (s *scanner) score(p *phrase, versioned bool) uint8 {
	score := uint8(40) // an item of a comment
	switch {
	case s.compatible == s.depth+1 && !s.named:
		score = 92
	case s.compatible == s.depth+1:
		score = 60
	case s.depth == 0 && p.first:
		score = 91
	case s.depth == 0:
		score = 75
	case versioned:
		score = 65
	}
	if p.class&(automated|listed) != 0 {
		score += 15
	}
	return score
}
