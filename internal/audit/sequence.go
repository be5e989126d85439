package audit

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

const (
	// maxGates bounds the gates that are told apart: a gate is a start of a
	// process.
	maxGates = 10_000
	// maxPages bounds the pages of all gates together, complete ones apart.
	maxPages = 100_000
	// maxGaps bounds the gaps that are listed for a gate.
	maxGaps = 20
	// pageNumbers is how many numbers a page has.
	pageNumbers = 4096
)

// GateSequence is the numbers that one gate gave its records.
type GateSequence struct {
	Gate    string `json:"gate"`
	Engine  string `json:"engine,omitempty"`
	Records int64  `json:"records"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	// Missing is how many numbers between First and Last are not there, and
	// Gaps the first runs of them.
	Missing uint64 `json:"missing"`
	Gaps    []Gap  `json:"gaps,omitempty"`
	// Duplicates is how many records bear a number that was there before.
	Duplicates int64 `json:"duplicates"`
}

// Gap is a run of missing numbers, both ends included.
type Gap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// String names the numbers of a gap.
func (g Gap) String() string {
	if g.From == g.To {
		return fmt.Sprint(g.From)
	}
	return fmt.Sprintf("%d to %d", g.From, g.To)
}

// numberPage has one bit for each of a run of numbers.
type numberPage struct {
	bits  [pageNumbers / 64]uint64
	count int
}

// complete stands for every page that has all its numbers: of a log without
// gaps nothing else remains in memory.
var complete = func() *numberPage {
	p := &numberPage{count: pageNumbers}
	for i := range p.bits {
		p.bits[i] = ^uint64(0)
	}
	return p
}()

// gateNumbers is the numbers seen of one gate.
type gateNumbers struct {
	engine     string
	records    int64
	duplicates int64
	pages      map[uint64]*numberPage
}

// sequences watches the numbers of all gates.
type sequences struct {
	gates map[string]*gateNumbers
	pages int
	full  bool
}

func newSequences() sequences {
	return sequences{gates: map[string]*gateNumbers{}}
}

// add notes a number. It returns the engine that the gate had so far, where
// that is another one than this record's.
func (s *sequences) add(n *numbered) (otherEngine string) {
	g := s.gates[string(n.gate)]
	if g == nil {
		if len(s.gates) >= maxGates {
			s.full = true
			return ""
		}
		g = &gateNumbers{engine: string(n.engine), pages: map[uint64]*numberPage{}}
		s.gates[string(n.gate)] = g
	}
	g.records++
	s.mark(g, n.seq)
	if g.engine != string(n.engine) {
		return g.engine
	}
	return ""
}

func (s *sequences) mark(g *gateNumbers, seq uint64) {
	number := seq / pageNumbers
	p := g.pages[number]
	if p == nil {
		if s.pages >= maxPages {
			s.full = true
			return
		}
		s.pages++
		p = new(numberPage)
		g.pages[number] = p
	}
	word, bit := seq%pageNumbers/64, uint64(1)<<(seq%64)
	if p.bits[word]&bit != 0 {
		g.duplicates++
		return
	}
	p.bits[word] |= bit
	if p.count++; p.count == pageNumbers {
		g.pages[number] = complete
		s.pages--
	}
}

// list is the sequences of all gates, by name.
func (s *sequences) list() []GateSequence {
	out := []GateSequence{}
	for name, g := range s.gates {
		out = append(out, g.sequence(name))
	}
	slices.SortFunc(out, func(a, b GateSequence) int { return cmp.Compare(a.Gate, b.Gate) })
	return out
}

func (g *gateNumbers) sequence(name string) GateSequence {
	out := GateSequence{Gate: name, Engine: g.engine, Records: g.records, Duplicates: g.duplicates}
	numbers := make([]uint64, 0, len(g.pages))
	for number := range g.pages {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		for i, word := range g.pages[number].bits {
			base := number*pageNumbers + uint64(i)*64
			if word == ^uint64(0) && out.Last+1 == base && out.First > 0 {
				out.Last = base + 63
				continue
			}
			for ; word != 0; word &= word - 1 {
				out.next(base + uint64(bits.TrailingZeros64(word)))
			}
		}
	}
	return out
}

// next takes the number that follows, over a gap perhaps.
func (s *GateSequence) next(n uint64) {
	switch {
	case s.First == 0:
		s.First = n
	case n > s.Last+1:
		s.Missing += n - s.Last - 1
		if len(s.Gaps) < maxGaps {
			s.Gaps = append(s.Gaps, Gap{s.Last + 1, n - 1})
		}
	}
	s.Last = n
}
