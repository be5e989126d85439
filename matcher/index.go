package matcher

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// prefixIndex finds among many patterns without "*" the one of highest
// precedence that matches: a hash table of patterns, asked for the prefixes of
// the URL that have the length of a pattern that begins like it, the hash of each
// following from that of the one before.
type prefixIndex struct {
	rules   []rule
	order   []uint32 // places of rules by bucket, above them the bits of the hash that name no bucket
	buckets []uint32 // where each bucket begins in order, and the end of the last
	starts  []uint64 // lengths of the patterns that begin with eight octets of this hash, bit 0 standing for 8
	short   uint8    // lengths below 8, as bits
	long    []uint32 // lengths from longLength on, rising; the last bit of starts says that there are any
	exact   int      // length of the longest pattern that ends in "$", 0 without
}

// longLength is the least length of a pattern that starts has no own bit for.
const longLength = 8 + 63

// crowd is how many rules no bucket has by chance, but by repeated patterns.
const crowd = 16

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

// newPrefixIndex returns an index of rules, which it keeps.
func newPrefixIndex(rules []rule) *prefixIndex {
	x := &prefixIndex{rules: rules}
	if x.fill() > crowd {
		x.rules = distinct(rules)
		x.fill()
	}
	x.starts = make([]uint64, max(len(x.buckets)/4, 8))
	var long []bool
	for i := range x.rules {
		r := &x.rules[i]
		switch text := r.text(); {
		case r.atEnd():
			x.exact = max(x.exact, len(text))
		case len(text) < 8:
			x.short |= 1 << len(text)
		case len(text) < longLength:
			*x.start(load(text)) |= 1 << (len(text) - 8)
		default:
			*x.start(load(text)) |= 1 << 63
			if len(text) >= len(long) {
				long = append(long, make([]bool, len(text)+64-len(long))...)
			}
			long[len(text)] = true
		}
	}
	for n, there := range long {
		if there {
			x.long = append(x.long, uint32(n))
		}
	}
	return x
}

// fill sorts the rules into buckets, by counting, and returns how many the
// fullest has.
func (x *prefixIndex) fill() int {
	size := 1 << bits.Len(uint(len(x.rules)))
	x.buckets = make([]uint32, size+1)
	x.order = make([]uint32, len(x.rules))
	hashes := make([]uint32, len(x.rules))
	for i := range x.rules {
		r := &x.rules[i]
		h := uint32(hash(r.text(), r.atEnd()))
		hashes[i] = h
		x.buckets[h&x.mask()]++
	}
	end, fullest := uint32(0), uint32(0)
	for i, n := range x.buckets {
		fullest = max(fullest, n)
		end += n
		x.buckets[i] = end
	}
	for i, h := range hashes {
		bucket := &x.buckets[h&x.mask()]
		*bucket-- // from where the bucket ends to where it begins
		x.order[*bucket] = h&^x.mask() | uint32(i)
	}
	return int(fullest)
}

// mask covers the bits of a hash that name the bucket, which are enough for the
// place of any rule.
func (x *prefixIndex) mask() uint32 { return uint32(len(x.buckets) - 2) }

// distinct leaves of rules with the same pattern only the one of highest
// precedence.
func distinct(rules []rule) []rule {
	type pattern struct {
		text  string
		atEnd bool
	}
	places := make(map[pattern]int)
	var kept []rule
	for _, r := range rules {
		p := pattern{r.text(), r.atEnd()}
		if i, ok := places[p]; !ok {
			places[p] = len(kept)
			kept = append(kept, r)
		} else if r.rank > kept[i].rank {
			kept[i] = r
		}
	}
	return slices.Clip(kept)
}

// start returns the lengths of the patterns that may begin with these octets.
func (x *prefixIndex) start(first uint64) *uint64 {
	return &x.starts[(first*hashStep>>32)&uint64(len(x.starts)-1)]
}

// lookup returns the rule of highest precedence whose text is s and has this
// hash, nil without one.
func (x *prefixIndex) lookup(h uint64, s string, atEnd bool) *rule {
	var found *rule
	bucket := uint32(h) & x.mask()
	for _, entry := range x.order[x.buckets[bucket]:x.buckets[bucket+1]] {
		if (entry^uint32(h))&^x.mask() != 0 {
			continue
		}
		r := &x.rules[entry&x.mask()]
		if (found == nil || r.rank > found.rank) && r.atEnd() == atEnd && r.text() == s {
			found = r
		}
	}
	return found
}

// best returns the rule of highest precedence that matches form, nil without
// one.
func (x *prefixIndex) best(form string) *rule {
	if len(form) <= x.exact {
		if r := x.lookup(hash(form, true), form, true); r != nil {
			return r // longer, by its "$", than any that matches a prefix
		}
	}
	first := load(form)
	var found *rule
	for lengths := x.short; lengths != 0; lengths &= lengths - 1 {
		n := bits.TrailingZeros8(lengths)
		if n > len(form) {
			return found
		}
		tail := first & (1<<(8*n) - 1)
		if r := x.lookup(endHash(hashSeed, tail, n, false), form[:n], false); r != nil {
			found = r
		}
	}
	if len(form) < 8 {
		return found
	}
	p := prefixes{x: x, form: form, state: mix(hashSeed^first, hashStep), hashed: 8}
	lengths := *x.start(first)
	for ; lengths&^(1<<63) != 0; lengths &= lengths - 1 {
		n := 8 + bits.TrailingZeros64(lengths)
		if n > len(form) {
			return found
		}
		if r := p.lookup(n); r != nil {
			found = r
		}
	}
	if lengths == 0 {
		return found
	}
	for _, n := range x.long {
		if int(n) > len(form) {
			return found
		}
		if r := p.lookup(int(n)); r != nil {
			found = r
		}
	}
	return found
}

// prefixes looks up prefixes of form, of rising length.
type prefixes struct {
	x      *prefixIndex
	form   string
	state  uint64 // hash state after
	hashed int    // so many octets
}

// lookup returns the rule whose text is the first n octets, nil without one.
func (p *prefixes) lookup(n int) *rule {
	for p.hashed+8 <= n {
		p.state = mix(p.state^load(p.form[p.hashed:]), hashStep)
		p.hashed += 8
	}
	tail := load(p.form[p.hashed:]) & (1<<(8*(n-p.hashed)) - 1)
	return p.x.lookup(endHash(p.state, tail, n, false), p.form[:n], false)
}

func (x *prefixIndex) size() int {
	size := 160 + 24*cap(x.rules) + 4*cap(x.order) + 4*cap(x.buckets) + 8*cap(x.starts) + 4*cap(x.long)
	for i := range x.rules {
		size += x.rules[i].size()
	}
	return size
}
