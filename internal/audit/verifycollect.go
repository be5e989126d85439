package audit

import (
	"cmp"
	"fmt"
	"slices"
)

// maxCauses bounds the causes that are told apart.
const maxCauses = 200

type causeKey struct {
	outcome Outcome
	remark  bool
	what    string
}

// verifyCollector adds up what became of the records, in their order.
type verifyCollector struct {
	Verification
	causes    map[causeKey]*Cause
	sequences sequences
}

func (c *verifyCollector) merge(log string, out *verdicts) {
	c.Lines.add(out.lines)
	c.Rederived += out.outcomes[Rederived]
	c.Attested += out.outcomes[Attested]
	c.Impossible += out.outcomes[Impossible]
	c.Contradicted += out.outcomes[Contradicted]
	for _, cause := range out.causes {
		c.cause(log, cause)
	}
	for _, against := range out.against {
		against.Log = log
		c.contradict(against)
	}
	for i := range out.numbers {
		n := &out.numbers[i]
		if engine := c.sequences.add(n); engine != "" {
			// One gate is one process, which does not change its version.
			c.cause(log, causeCount{
				remark: true, line: n.line, records: 1,
				what: "engine is not that of the earlier records of the same gate",
			})
		}
	}
}

func (c *verifyCollector) cause(log string, cause causeCount) {
	key := causeKey{cause.outcome, cause.remark, cause.what}
	have := c.causes[key]
	if have == nil {
		if len(c.causes) >= maxCauses {
			key.what = "other causes"
			have = c.causes[key]
		}
		if have == nil {
			have = &Cause{Cause: key.what, Log: log, Line: cause.line}
			c.causes[key] = have
		}
	}
	have.Records += cause.records
}

func (c *verifyCollector) contradict(against Contradiction) {
	if len(c.Contradictions) < maxContradictions {
		c.Contradictions = append(c.Contradictions, against)
	}
}

func (c *verifyCollector) finish() *Verification {
	r := &c.Verification
	r.Records = r.Rederived + r.Attested + r.Impossible + r.Contradicted
	r.AttestedFor, r.ImpossibleFor, r.Remarks = []Cause{}, []Cause{}, []Cause{}
	for key, cause := range c.causes {
		switch {
		case key.remark:
			r.Remarks = append(r.Remarks, *cause)
		case key.outcome == Attested:
			r.AttestedFor = append(r.AttestedFor, *cause)
		default:
			r.ImpossibleFor = append(r.ImpossibleFor, *cause)
		}
	}
	for _, list := range [][]Cause{r.AttestedFor, r.ImpossibleFor, r.Remarks} {
		slices.SortFunc(list, func(a, b Cause) int {
			return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Cause, b.Cause))
		})
	}
	if r.Contradictions == nil {
		r.Contradictions = []Contradiction{}
	}
	r.Gates, r.GatesComplete = c.sequences.list(), !c.sequences.full
	r.NotCovered = notCovered
	return r
}

// Uncovered is a field, or what of it, that verify cannot hold against
// anything. A change there goes unnoticed.
type Uncovered struct {
	Field string `json:"field"`
	What  string `json:"what"`
}

var notCovered = []Uncovered{
	{"reason", "which one, of denials that only the gate could see: address, port, target, tunnel authority, failure"},
	{"job", "where the policy takes it from a placeholder"},
	{"url", "path and query, where the decision is the same; they are compared with request>uri where the line has it"},
	{"tokens", "where the policy takes them from placeholders"},
	{"robots_final_url", "where robots.txt redirected to"},
	{"robots_status", "which status of the same access result"},
	{"robots_sha256", "where the archive has another robots.txt of that hash, with the same size and decision"},
	{"truncated", "that the file was longer than was read"},
	{"fetched_at", "as long as it is not after validated_at"},
	{"validated_at", fmt.Sprintf("within %s", slack)},
	{"expires_at", "as long as it is within a day of validated_at and fits source"},
	{"age", fmt.Sprintf("within %s", slack)},
	{"fetch_user_agent", "who fetched robots.txt"},
	{"source", "memory, storage, fetched or coalesced"},
	{"archived", "whether the archive had the file already when the request was decided"},
	{"policy", "where the archive has another policy of that hash that decides the same"},
	{"error", "its text"},
	{"engine", "in logs with a single record of a gate; else a change is remarked"},
	{"gate", "the id itself; a changed one leaves a gap in its sequence"},
	{"seq", "the number itself; a changed one leaves a gap"},
}
