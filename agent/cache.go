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
	sets []set[T]
}

// set is the place of everything whose hash it has. The tags, parts of the
// hashes, spare most looks at what is kept for another hash; they may be wrong
// while the set is written to, so that what is found is always compared.
type set[T any] struct {
	tags [ways]atomic.Uint32
	kept [ways]atomic.Pointer[T]
}

func newShelf[T any](sets int) *shelf[T] {
	return &shelf[T]{sets: make([]set[T], sets)}
}

// set returns the place of a hash and its tag there.
func (s *shelf[T]) set(hash uint64) (*set[T], uint32) {
	return &s.sets[hash%uint64(len(s.sets))], uint32(hash >> 32)
}

// put takes a free place of the set or one at random.
func (s *set[T]) put(tag uint32, v *T) {
	for i := range s.kept {
		if s.kept[i].CompareAndSwap(nil, v) {
			s.tags[i].Store(tag)
			return
		}
	}
	i := rand.IntN(ways)
	s.kept[i].Store(v)
	s.tags[i].Store(tag)
}

func (s *set[T]) full() bool {
	for i := range s.kept {
		if s.kept[i].Load() == nil {
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
	set, tag := a.kept.set(hash)
	for i := range set.tags {
		if set.tags[i].Load() != tag {
			continue
		}
		if e := set.kept[i].Load(); e != nil && e.header == header {
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
	set, tag := a.kept.set(hash)
	if set.full() && rand.Uint32()%16 != 0 {
		return
	}
	set.put(tag, &answer{strings.Clone(header), agent})
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
	part, alone := r.naming()
	set, tag := identities.set(maphash.String(seed, part))
	for i := range set.tags {
		if set.tags[i].Load() != tag {
			continue
		}
		if e := set.kept[i].Load(); e != nil && e.part == part && (alone && len(e.name) == len(part) || e.spans == r.spans()) {
			return e
		}
	}
	e := newIdentity(strings.Clone(part), r.spans())
	set.put(tag, e)
	return e
}

// naming returns the smallest part of the header that holds the candidates that
// give tokens: the best, and where it stands outside comments the others that
// do; and whether that is the best alone.
func (r *report) naming() (part string, alone bool) {
	start, end := r.candidates[0].start, r.candidates[0].end
	alone = true
	if r.candidates[0].outside {
		for i := 1; i < int(r.proposed); i++ {
			if c := &r.candidates[i]; c.outside {
				start, end = min(start, c.start), max(end, c.end)
				alone = false
			}
		}
	}
	return r.text(start, end), alone
}

// spans returns where the candidates that give tokens stand in the part of the
// header that naming returns, the best one first.
func (r *report) spans() (spans [maxCandidates]span) {
	start := r.candidates[0].start
	n := 0
	for i, c := range r.candidates[:r.proposed] {
		if i == 0 || r.candidates[0].outside && c.outside {
			start = min(start, c.start)
			spans[n] = span{c.start, c.end}
			n++
		}
	}
	for i := range n {
		spans[i].start -= start
		spans[i].end -= start
	}
	return spans
}
