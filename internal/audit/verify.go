package audit

import (
	"context"
)

// Outcome is what became of a record that was decided again.
type Outcome uint8

// The outcomes.
const (
	// Rederived: the evidence gives the decision that was logged.
	Rederived Outcome = iota
	// Attested: the decision rests on something that only the gate could see,
	// and everything else about it fits.
	Attested
	// Impossible: evidence that it needs is gone.
	Impossible
	// Contradicted: the evidence gives another decision, or the record does
	// not agree with itself.
	Contradicted
)

// Verification is the result of deciding the records of access logs again.
type Verification struct {
	Logs   []string `json:"logs"`
	Damage []Damage `json:"damage,omitempty"`
	Lines  Lines    `json:"lines"`

	Records      int64 `json:"records"`
	Rederived    int64 `json:"rederived"`
	Attested     int64 `json:"attested"`
	Impossible   int64 `json:"impossible"`
	Contradicted int64 `json:"contradicted"`

	// AttestedFor and ImpossibleFor count by cause, each with its first line.
	AttestedFor   []Cause `json:"attested_for"`
	ImpossibleFor []Cause `json:"impossible_for"`
	// Contradictions are the first ones; Contradicted has their number.
	Contradictions []Contradiction `json:"contradictions"`
	// Remarks count what is no contradiction and may be worth a look.
	Remarks []Cause `json:"remarks"`

	Gates []GateSequence `json:"gates"`
	// GatesComplete: no gate was left out for lack of memory.
	GatesComplete bool `json:"gates_complete"`

	// NotCovered are the fields, or the parts of fields, that nothing in the
	// archive can be held against.
	NotCovered []Uncovered `json:"not_covered"`
}

// Cause is why records have an outcome, and how many.
type Cause struct {
	Cause   string `json:"cause"`
	Records int64  `json:"records"`
	// Log and Line say where the first of them stands.
	Log  string `json:"log"`
	Line int    `json:"line"`
}

// Contradiction is a record that the evidence speaks against.
type Contradiction struct {
	Log  string `json:"log"`
	Line int    `json:"line"`
	Gate string `json:"gate,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
	// Field is the first one that does not fit, What says how.
	Field string `json:"field"`
	What  string `json:"what"`
}

// maxContradictions bounds the contradictions that are kept.
const maxContradictions = 100

// finding is what became of one record.
type finding struct {
	outcome Outcome
	field   field
	// what is a cause, of which there are few, or of contradictions a text.
	what string
}

// verdicts is one block of a log.
type verdicts struct {
	lines    Lines
	outcomes [4]int64
	causes   []causeCount
	against  []Contradiction
	numbers  []numbered
	r        lineReader
}

// causeCount counts the records of one block with the same cause.
type causeCount struct {
	outcome Outcome
	remark  bool
	what    string
	line    int
	records int64
}

// numbered is a record's place in the sequence of its gate. Its slices point
// into the log's buffer.
type numbered struct {
	line   int
	gate   []byte
	engine []byte
	seq    uint64
}

// Verify decides every record of the logs again from User-Agent, URL, archived
// policy and archived robots.txt, and compares only then. progress may be nil.
func Verify(ctx context.Context, logs []Log, archive Archive, progress Progress) (*Verification, error) {
	c := &verifyCollector{sequences: newSequences(), causes: map[causeKey]*Cause{}}
	for _, log := range logs {
		c.Logs = append(c.Logs, log.Name)
	}
	lib := newLibrary(ctx, archive)
	p := pipeline[verdicts]{
		logs:   logs,
		worker: func() func(*block, *verdicts) { return newVerifier(lib).block },
		merge: func(b *block, out *verdicts) {
			c.merge(logs[b.log].Name, out)
			if progress != nil {
				progress(logs[b.log], c.Lines.All())
			}
		},
		damage: func(d Damage) { c.Damage = append(c.Damage, d) },
	}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	return c.finish(), nil
}

// block verifies the records of a block.
func (v *verifier) block(b *block, out *verdicts) {
	out.lines = Lines{Damaged: int64(b.long)}
	out.outcomes = [4]int64{}
	out.causes, out.against, out.numbers = out.causes[:0], nil, out.numbers[:0]
	out.r.reset()
	var l line
	b.lines(func(number int, text []byte) {
		out.r.read(text, &l)
		l.number = number
		out.lines.count(l.kind)
		if l.kind != KindRecord {
			return
		}
		f := v.verify(&l)
		out.outcomes[f.outcome]++
		out.note(&l, f)
		if remark := remarkOn(&l); remark != "" {
			out.count(causeCount{remark: true, what: remark, line: number})
		}
		if rec := &l.record; len(rec.text[fieldGate]) > 0 && rec.number[fieldSeq] > 0 {
			out.numbers = append(out.numbers, numbered{number, rec.text[fieldGate], rec.text[fieldEngine], rec.number[fieldSeq]})
		}
	})
}

// note keeps what a finding says beyond its outcome.
func (out *verdicts) note(l *line, f finding) {
	switch {
	case f.outcome == Rederived:
	case f.outcome != Contradicted:
		out.count(causeCount{outcome: f.outcome, what: f.what, line: l.number})
	case len(out.against) < maxContradictions:
		out.against = append(out.against, Contradiction{
			Line: l.number, Gate: string(l.record.text[fieldGate]), Seq: l.record.number[fieldSeq],
			Field: f.field.String(), What: f.what,
		})
	}
}

func (out *verdicts) count(c causeCount) {
	for i := range out.causes {
		if have := &out.causes[i]; have.outcome == c.outcome && have.remark == c.remark && have.what == c.what {
			have.records++
			return
		}
	}
	c.records = 1
	out.causes = append(out.causes, c)
}
