package agent

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"sync/atomic"
)

const (
	ways = 4
	// answerSets bounds the answers kept for repeated headers, and
	// maxCachedHeader the length of these, so that they take 1.5 MiB at most.
	answerSets      = 512
	maxCachedHeader = 512
	// identitySets bounds the names kept with their tokens.
	identitySets = 2048
)

var seed = maphash.MakeSeed()

// shelf is a bounded set-associative cache. Reading takes no lock; the sets
// forget what they please.
type shelf[T any] struct {
	sets [][ways]atomic.Pointer[T]
}

func newShelf[T any](sets int) *shelf[T] {
	return &shelf[T]{sets: make([][ways]atomic.Pointer[T], sets)}
}

func (s *shelf[T]) set(hash uint64) *[ways]atomic.Pointer[T] {
	return &s.sets[hash%uint64(len(s.sets))]
}

// put takes a free place of the set or one at random.
func put[T any](set *[ways]atomic.Pointer[T], v *T) {
	for i := range set {
		if set[i].CompareAndSwap(nil, v) {
			return
		}
	}
	set[rand.IntN(ways)].Store(v)
}

func full[T any](set *[ways]atomic.Pointer[T]) bool {
	for i := range set {
		if set[i].Load() == nil {
			return false
		}
	}
	return true
}

// answers remembers the answers to headers that came at least twice: a header
// costs memory only then, and a stream of ever new ones allocates nothing.
type answers struct {
	kept *shelf[answer]
	seen []atomic.Uint32 // fingerprints of headers that came once
}

type answer struct {
	header string
	agent  Agent
}

func newAnswers() *answers {
	return &answers{
		kept: newShelf[answer](answerSets),
		seen: make([]atomic.Uint32, answerSets*ways),
	}
}

func (a *answers) get(hash uint64, header string) (Agent, bool) {
	set := a.kept.set(hash)
	for i := range set {
		if e := set[i].Load(); e != nil && e.header == header {
			return e.agent, true
		}
	}
	return Agent{}, false
}

// offer keeps the answer if the header has come before. Where others have to
// yield it does so once in sixteen times, so that more headers than there are
// places do not push each other out at every request.
func (a *answers) offer(hash uint64, header string, agent Agent) {
	mark := &a.seen[hash>>32%uint64(len(a.seen))]
	if fingerprint := uint32(hash); mark.Load() != fingerprint {
		mark.Store(fingerprint)
		return
	}
	set := a.kept.set(hash)
	if full(set) && rand.Uint32()%16 != 0 {
		return
	}
	put(set, &answer{strings.Clone(header), agent})
}

// identity is a bot's name with the tokens derived from it and from the
// further products, which is determined by a part of the header and by where
// the candidates stand in it.
type identity struct {
	part   string
	spans  [maxCandidates]span
	name   string
	tokens []string
}

// span is a candidate's place in identity.part.
type span struct{ start, end uint16 }

var identities = newShelf[identity](identitySets)

// identity returns the sender's name and tokens, from the shelf where it can.
func (r *report) identity() *identity {
	part, spans := r.naming()
	set := identities.set(maphash.String(seed, part))
	for i := range set {
		if e := set[i].Load(); e != nil && e.spans == spans && e.part == part {
			return e
		}
	}
	e := newIdentity(strings.Clone(part), spans)
	put(set, e)
	return e
}

// naming returns the smallest part of the header that holds the candidates that
// give tokens: the best, and where it stands outside comments the others that
// do.
func (r *report) naming() (string, [maxCandidates]span) {
	best := r.candidates[0]
	start, end := best.start, best.end
	spans := [maxCandidates]span{{start, end}}
	if n := 1; best.outside {
		for _, c := range r.candidates[1:r.proposed] {
			if c.outside {
				start, end = min(start, c.start), max(end, c.end)
				spans[n] = span{c.start, c.end}
				n++
			}
		}
	}
	for i := range spans {
		if spans[i].end > 0 {
			spans[i].start -= start
			spans[i].end -= start
		}
	}
	return r.text(start, end), spans
}
