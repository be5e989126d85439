package audit

import (
	"cmp"
	"slices"
)

// Lines counts the lines of logs by what they are. Blank lines are not counted.
type Lines struct {
	// Records are the lines with a record: judged requests.
	Records int64 `json:"records"`
	// Unjudged are requests in these access logs that no gate saw.
	Unjudged int64 `json:"unjudged"`
	// Repeats are the gate's own entries on denials that the access log has too.
	Repeats int64 `json:"repeats"`
	// Foreign are lines of other logs.
	Foreign int64 `json:"foreign"`
	// Damaged lines are cut or garbled.
	Damaged int64 `json:"damaged"`
}

// All is the number of lines.
func (c *Lines) All() int64 {
	return c.Records + c.Unjudged + c.Repeats + c.Foreign + c.Damaged
}

func (c *Lines) count(k Kind) {
	switch k {
	case KindRecord:
		c.Records++
	case KindUnjudged:
		c.Unjudged++
	case KindRepeat:
		c.Repeats++
	case KindForeign:
		c.Foreign++
	case KindDamaged:
		c.Damaged++
	}
}

func (c *Lines) add(other Lines) {
	c.Records += other.Records
	c.Unjudged += other.Unjudged
	c.Repeats += other.Repeats
	c.Foreign += other.Foreign
	c.Damaged += other.Damaged
}

// Counts says how requests were decided. Requests is the sum of Allowed, Denied
// and WouldBeDenied.
type Counts struct {
	Requests int64 `json:"requests"`
	Allowed  int64 `json:"allowed"`
	// Denied requests were refused, for whatever reason.
	Denied int64 `json:"denied"`
	// WouldBeDenied requests were passed on by a gate in report mode.
	WouldBeDenied int64 `json:"would_be_denied"`
	// Unreachable counts, among all of these, the requests whose robots.txt
	// could not be read and had no usable copy.
	Unreachable int64 `json:"unreachable"`
}

func (c *Counts) add(other Counts) {
	c.Requests += other.Requests
	c.Allowed += other.Allowed
	c.Denied += other.Denied
	c.WouldBeDenied += other.WouldBeDenied
	c.Unreachable += other.Unreachable
}

// Row is what was counted under one name.
type Row struct {
	Name string `json:"name"`
	Counts
}

// Table is the rows of one view, the most requested first.
type Table struct {
	Rows []Row `json:"rows"`
	// Other is what stands under no row of its own. Where Names is larger
	// than the rows that are kept, the counts of rows may be too low, by no
	// more than Other has.
	Other Counts `json:"other"`
	// Complete: every name has its row, and Other is zero.
	Complete bool `json:"complete"`
}

// tally counts by name in bounded memory: when there are twice as many names as
// it may keep, those with the fewest requests go to other. A name that is asked
// for often comes back, however late it begins.
type tally struct {
	limit int
	rows  map[string]*Counts
	other Counts
	full  bool
}

func newTally(limit int) *tally {
	return &tally{limit: limit, rows: make(map[string]*Counts)}
}

func (t *tally) count(name []byte, c Counts) {
	row := t.rows[string(name)]
	if row == nil {
		if len(t.rows) >= 2*t.limit {
			t.prune(t.limit)
		}
		row = new(Counts)
		t.rows[string(name)] = row
	}
	row.add(c)
}

// prune moves all but the n largest rows to other.
func (t *tally) prune(n int) {
	for _, row := range t.sorted()[n:] {
		t.other.add(row.Counts)
		delete(t.rows, row.Name)
	}
	t.full = true
}

func (t *tally) sorted() []Row {
	rows := make([]Row, 0, len(t.rows))
	for name, c := range t.rows {
		rows = append(rows, Row{name, *c})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func (t *tally) table() Table {
	if len(t.rows) > t.limit {
		t.prune(t.limit)
	}
	return Table{Rows: t.sorted(), Other: t.other, Complete: !t.full}
}
