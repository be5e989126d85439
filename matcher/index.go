package matcher

import (
	"math/bits"
	"math/rand/v2"
)

// prefixIndex finds among many patterns without "*" the one of highest
// precedence that matches: a hash table of patterns, asked for the prefixes of
// the URL that have the length of a pattern, the hash of each following from
// that of the one before.
type prefixIndex struct {
	rules   []rule
	table   []uint32 // open addressing: above places, bits of the hash; below, 1 + place in rules; 0 for none
	places  uint32   // mask of the lower part
	lengths []uint32 // of the patterns that match prefixes, rising
	exact   int      // length of the longest pattern that ends in "$", 0 without
}

// Secrets of the hash, new in every process so that no file can be made whose
// patterns collide.
var hashSeed, hashStep, hashEnd = rand.Uint64(), rand.Uint64() | 1, rand.Uint64() | 1

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// endHash finishes a hash: tail is the octets after the last eight, and
// patterns that end in "$" lie apart.
func endHash(state, tail uint64, length int, atEnd bool) uint64 {
	if atEnd {
		state = ^state
	}
	return mix(state^tail, hashEnd+uint64(length)<<1)
}

// hash is the hash of all of s.
func hash(s string, atEnd bool) uint64 {
	state := hashSeed
	n := len(s)
	for len(s) >= 8 {
		state = mix(state^load(s), hashStep)
		s = s[8:]
	}
	return endHash(state, load(s), n, atEnd)
}

// newPrefixIndex keeps rules. Of several with the same pattern only the one of
// highest precedence stays.
func newPrefixIndex(rules []rule) *prefixIndex {
	size := 1 << bits.Len(uint(2*len(rules)))
	x := &prefixIndex{
		rules:  make([]rule, 0, len(rules)),
		table:  make([]uint32, size),
		places: uint32(size - 1),
	}
	var lengths []bool
	for _, r := range rules {
		text := r.text()
		x.insert(r, text)
		if r.atEnd() {
			x.exact = max(x.exact, len(text))
			continue
		}
		if len(text) >= len(lengths) {
			lengths = append(lengths, make([]bool, len(text)+64-len(lengths))...)
		}
		lengths[len(text)] = true
	}
	for n, there := range lengths {
		if there {
			x.lengths = append(x.lengths, uint32(n))
		}
	}
	return x
}

func (x *prefixIndex) insert(r rule, text string) {
	h := hash(text, r.atEnd())
	tag := uint32(h>>32) &^ x.places
	for i := uint32(h); ; i++ {
		slot := &x.table[i&x.places]
		if *slot == 0 {
			x.rules = append(x.rules, r)
			*slot = tag | uint32(len(x.rules))
			return
		}
		if *slot&^x.places != tag {
			continue
		}
		if same := &x.rules[*slot&x.places-1]; same.text() == text && same.atEnd() == r.atEnd() {
			if r.rank > same.rank {
				*same = r
			}
			return
		}
	}
}

// lookup returns the rule whose text is s and has this hash, nil without one.
func (x *prefixIndex) lookup(h uint64, s string, atEnd bool) *rule {
	tag := uint32(h>>32) &^ x.places
	for i := uint32(h); ; i++ {
		slot := x.table[i&x.places]
		if slot == 0 {
			return nil
		}
		if slot&^x.places != tag {
			continue
		}
		if r := &x.rules[slot&x.places-1]; r.atEnd() == atEnd && r.text() == s {
			return r
		}
	}
}

// best returns the rule of highest precedence that matches form, nil without
// one.
func (x *prefixIndex) best(form string) *rule {
	if len(form) <= x.exact {
		if r := x.lookup(hash(form, true), form, true); r != nil {
			return r // longer, by its "$", than any that matches a prefix
		}
	}
	var found *rule
	state, hashed := hashSeed, 0
	for _, length := range x.lengths {
		n := int(length)
		if n > len(form) {
			break
		}
		for hashed+8 <= n {
			state = mix(state^load(form[hashed:]), hashStep)
			hashed += 8
		}
		tail := load(form[hashed:]) & (1<<(8*(n-hashed)) - 1)
		if r := x.lookup(endHash(state, tail, n, false), form[:n], false); r != nil {
			found = r
		}
	}
	return found
}

func (x *prefixIndex) size() int {
	size := 96 + 24*cap(x.rules) + 4*cap(x.table) + 4*cap(x.lengths)
	for i := range x.rules {
		size += x.rules[i].size()
	}
	return size
}
