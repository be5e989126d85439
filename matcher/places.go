package matcher

import (
	"math/bits"
	"math/rand/v2"
	"sync"
)

// places finds where segments of patterns occur in one form. Making it costs as
// much as a few searches, so it pays for a long form and many patterns, which
// together are what an attacker would try: then a segment is found, or found to
// be absent, in next to no time.
type places struct {
	form   string
	levels [maxLevel + 1]level // of windows of 1, 2, 4 … octets
	hashes []uint32            // scratch of build
}

// level is all windows of a length, by their hash.
type level struct {
	built   bool
	buckets []uint32 // where each bucket begins in starts, and the end of the last
	starts  []uint32 // where windows begin in the form, rising in each bucket
}

const (
	manyScanned = 64  // rules and
	longForm    = 512 // octets of a form from which on places is used
	maxLevel    = 14  // the longest windows have 1<<maxLevel octets
)

var placesPool = sync.Pool{New: func() any { return new(places) }}

func newPlaces(form string) *places {
	p := placesPool.Get().(*places)
	p.form = form
	for i := range p.levels {
		p.levels[i].built = false
	}
	return p
}

func (p *places) done() {
	p.form = ""
	placesPool.Put(p)
}

// next returns the first place at or after from where segment occurs, -1 without
// one.
func (p *places) next(segment string, from int) int {
	last := len(p.form) - len(segment)
	if from > last {
		return -1
	}
	if p.form[from:from+len(segment)] == segment {
		return from
	}
	k := min(bits.Len(uint(len(segment)))-1, maxLevel)
	window := 1 << k
	l := p.level(k)
	// The windows at both ends of the segment cover it. The rarer one shows where
	// to look.
	candidates, shift := l.bucket(windowHash(segment[:window])), 0
	if rear := l.bucket(windowHash(segment[len(segment)-window:])); len(rear) < len(candidates) {
		candidates, shift = rear, len(segment)-window
	}
	low, high := 0, len(candidates)
	for low < high {
		if mid := int(uint(low+high) / 2); int(candidates[mid]) < from+shift {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for _, start := range candidates[low:] {
		at := int(start) - shift
		if at > last {
			return -1
		}
		if p.form[at:at+len(segment)] == segment {
			return at
		}
	}
	return -1
}

// containsSegments is the function of this name for the form from a place up to
// another.
func (p *places) containsSegments(from, end int, text string) bool {
	for text != "" {
		segment := text
		if i := indexStar(text); i >= 0 {
			segment, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if segment == "" {
			continue
		}
		if from = p.next(segment, from); from < 0 {
			return false
		}
		if from += len(segment); from > end {
			return false
		}
	}
	return true
}

func indexStar(s string) int {
	for i := range len(s) {
		if s[i] == '*' {
			return i
		}
	}
	return -1
}

func (p *places) level(k int) *level {
	l := &p.levels[k]
	if !l.built {
		p.build(l, 1<<k)
	}
	return l
}

// windowBase is the base of the windows' polynomial hash, new in every process.
var windowBase = rand.Uint64() | 1

func windowHash(s string) uint64 {
	var h uint64
	for i := range len(s) {
		h = h*windowBase + uint64(s[i])
	}
	return h
}

// spread makes the low bits of a hash depend on all of it.
func spread(h uint64) uint32 { return uint32((h * hashStep) >> 32) }

func (l *level) bucket(h uint64) []uint32 {
	b := int(spread(h)) & (len(l.buckets) - 2)
	return l.starts[l.buckets[b]:l.buckets[b+1]]
}

// build sorts the windows into buckets, by counting.
func (p *places) build(l *level, window int) {
	n := max(len(p.form)-window+1, 0)
	size := 1 << bits.Len(uint(n))
	l.built = true
	l.buckets = zeroed(l.buckets, size+1)
	l.starts = zeroed(l.starts, n)
	p.hashes = zeroed(p.hashes, n)
	leaving := uint64(1) // what the octet that leaves the window counted
	for range window {
		leaving *= windowBase
	}
	if n > 0 {
		h := windowHash(p.form[:window])
		for i := range n {
			b := spread(h) & uint32(size-1)
			p.hashes[i] = b
			l.buckets[b]++
			if i+window < len(p.form) {
				h = h*windowBase + uint64(p.form[i+window]) - uint64(p.form[i])*leaving
			}
		}
	}
	end := uint32(0)
	for i, count := range l.buckets {
		end += count
		l.buckets[i] = end
	}
	for i := n - 1; i >= 0; i-- {
		bucket := &l.buckets[p.hashes[i]]
		*bucket-- // from where the bucket ends to where it begins
		l.starts[*bucket] = uint32(i)
	}
}

// zeroed returns n zeros, in s if it has room.
func zeroed(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	s = s[:n]
	clear(s)
	return s
}
