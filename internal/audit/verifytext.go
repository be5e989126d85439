package audit

import (
	"bufio"
	"fmt"
	"io"
)

// WriteText writes the verification for a terminal.
func (r *Verification) WriteText(out io.Writer) error {
	w := textWriter{bufio.NewWriter(out)}
	w.line("%s of %s decided again: %s re-derived, %s attested, %s impossible, %s contradicted.",
		plural(r.Records, "record"), plural(int64(len(r.Logs)), "log"),
		number(r.Rederived), number(r.Attested), number(r.Impossible), number(r.Contradicted))
	l := r.Lines
	if skipped := l.All() - l.Records; skipped > 0 {
		w.line("%s skipped: %s without a record, %s that repeat one, %s of other logs, %s cut or garbled.",
			plural(skipped, "line"), plural(l.Unjudged, "request"), number(l.Repeats), number(l.Foreign), number(l.Damaged))
	}
	for _, d := range r.Damage {
		w.line("! %s could not be read to its end: %s", printable(d.Log), printable(d.Cause))
	}
	r.textContradictions(w)
	w.causes("Impossible: evidence is gone", r.ImpossibleFor)
	w.causes("Attested: only the gate could see it", r.AttestedFor)
	w.causes("Worth a look", r.Remarks)
	r.textGates(w)
	w.heading("Not covered")
	w.line("A change in these goes unnoticed:")
	for _, u := range r.NotCovered {
		w.line("  %-18s %s", u.Field, u.What)
	}
	return w.Flush()
}

func (r *Verification) textContradictions(w textWriter) {
	if r.Contradicted == 0 {
		return
	}
	w.heading("Contradicted")
	for _, c := range r.Contradictions {
		w.line("%s line %d: %s %s", printable(c.Log), c.Line, c.Field, printable(c.What))
	}
	if left := r.Contradicted - int64(len(r.Contradictions)); left > 0 {
		w.line("and %s more", number(left))
	}
}

func (w textWriter) causes(title string, causes []Cause) {
	if len(causes) == 0 {
		return
	}
	w.heading(title)
	for _, c := range causes {
		w.line("%12s  %s (first: %s line %d)", number(c.Records), printable(c.Cause), printable(c.Log), c.Line)
	}
}

func (r *Verification) textGates(w textWriter) {
	w.heading("Sequences")
	for i := range r.Gates {
		g := &r.Gates[i]
		text := fmt.Sprintf("gate %s: %s, numbers %d to %d", printable(g.Gate), plural(g.Records, "record"), g.First, g.Last)
		switch {
		case g.Missing > 0:
			text += ", " + number(int64(g.Missing)) + " missing"
		case g.Duplicates == 0:
			text += ", without a gap"
		}
		if g.Duplicates > 0 {
			text += ", " + number(g.Duplicates) + " there twice"
		}
		w.line("%s", text)
		for _, gap := range g.Gaps {
			w.line("  missing: %s", gap)
		}
		if g.Missing > 0 && len(g.Gaps) == maxGaps {
			w.line("  and perhaps more")
		}
	}
	if !r.GatesComplete {
		w.line("More gates or gaps than are kept apart: sequences may be incomplete.")
	}
}
