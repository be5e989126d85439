package audit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/decision"
)

// separator divides the parts of a tally's composite names. It cannot occur in
// a header or URL that reached the gate.
const separator = "\x00"

// maxShown bounds the length of a path or User-Agent in a report, in octets.
const maxShown = 300

// collector adds up the records of all logs, in their order.
type collector struct {
	report Report

	byHour  map[int64]*Counts
	reasons *tally
	origins *tally
	jobs    *tally
	agents  *tally
	notBots *tally
	tunnels *tally
	paths   *tally
	tokens  *tally
	overs   *tally
	robots  robotsHistory

	lastHour   int64
	lastCounts *Counts
	name       []byte // room for composite names
}

func newCollector() *collector {
	return &collector{
		byHour:  map[int64]*Counts{},
		reasons: newTally(maxReasons), origins: newTally(maxNames), jobs: newTally(maxNames), agents: newTally(maxNames),
		notBots: newTally(maxReasons), tunnels: newTally(maxReasons), paths: newTally(maxPaths),
		tokens: newTally(maxReasons), overs: newTally(maxReasons),
		robots: robotsHistory{files: map[string]*robotsFile{}},
	}
}

func (c *collector) merge(out *entries) {
	c.report.Lines.add(out.lines)
	for i := range out.rows {
		c.add(&out.rows[i])
	}
}

func (c *collector) add(e *entry) {
	c.report.Total.add(e.counts)
	c.time(e)
	c.reasons.count(c.join([]byte(e.reason), verdictOf(e)), e.counts)
	c.origins.count(orElse(e.origin, "(no origin)"), e.counts)
	c.jobs.count(orElse(e.job, "(no job named)"), e.counts)
	c.agents.count(orElse(e.agent, unnamed(e)), e.counts)
	c.notJudged(e)
	if e.tokens != nil {
		c.tokens.count(c.join(e.agent, bytes.Join(e.tokens, []byte(" ")), e.tokenSource, e.job), e.counts)
	}
	if e.path != nil {
		c.paths.count(c.join(shown(e.path), e.rule, strconv.AppendInt(nil, int64(e.line), 10), []byte(e.reason)), e.counts)
	}
	c.robots.see(e)
}

func unnamed(e *entry) string {
	if e.notBot {
		return "(not a bot)"
	}
	return "(no name)"
}

func verdictOf(e *entry) []byte {
	if e.counts.Allowed > 0 {
		return []byte(decision.Allow)
	}
	return []byte(decision.Deny)
}

func orElse(text []byte, otherwise string) []byte {
	if len(text) == 0 {
		return []byte(otherwise)
	}
	return text
}

// shown cuts what is only shown to people.
func shown(text []byte) []byte {
	if len(text) <= maxShown {
		return text
	}
	return append(bytes.ToValidUTF8(bytes.Clone(text[:maxShown]), nil), "…"...)
}

// join makes a composite name in memory that is reused.
func (c *collector) join(parts ...[]byte) []byte {
	c.name = c.name[:0]
	for i, part := range parts {
		if i > 0 {
			c.name = append(c.name, separator...)
		}
		c.name = append(c.name, part...)
	}
	return c.name
}

func (c *collector) time(e *entry) {
	if e.at.IsZero() {
		c.report.Undated.add(e.counts)
		return
	}
	if c.report.From.IsZero() || e.at.Before(c.report.From) {
		c.report.From = e.at
	}
	if e.at.After(c.report.To) {
		c.report.To = e.at
	}
	h := e.at.Unix() / 3600
	if c.lastCounts == nil || h != c.lastHour {
		row := c.byHour[h]
		if row == nil {
			if len(c.byHour) >= maxHours {
				c.report.Undated.add(e.counts)
				return
			}
			row = new(Counts)
			c.byHour[h] = row
		}
		c.lastHour, c.lastCounts = h, row
	}
	c.lastCounts.add(e.counts)
}

func (c *collector) notJudged(e *entry) {
	n := &c.report.NotJudged
	if e.notBot {
		n.NotBot++
		c.notBots.count(shown(orElse(e.userAgent, "(not in the log)")), e.counts)
	}
	if e.tunnel {
		c.tunnels.count(orElse(e.origin, "(no origin)"), e.counts)
		if e.counts.Denied > 0 {
			n.TunnelsRefused++
		} else {
			n.TunnelsOpened++
		}
	}
	if e.hasOverride {
		o := &e.override
		c.overs.count(c.join(o.origin, o.owner, o.reason, o.until), e.counts)
		if e.counts.Allowed > 0 {
			n.OverridesAllowed++
		} else {
			n.OverridesDenied++
		}
	}
	if e.unenforced {
		n.ReportMode++
		n.WouldBeDenied += e.counts.WouldBeDenied
	}
	if e.reason == decision.UnreachableAllowed {
		n.UnreachableAllowed++
	}
	if e.stale {
		n.Stale++
	}
}

// finish turns what was counted into the report.
func (c *collector) finish() *Report {
	r := &c.report
	n := &r.NotJudged
	n.NoRecord = r.Lines.Unjudged
	n.NotBotAgents, n.TunnelDestinations = c.notBots.table(), c.tunnels.table()
	n.Overrides = []OverrideUse{}
	for _, row := range c.overs.table().Rows {
		p := strings.Split(row.Name, separator)
		n.Overrides = append(n.Overrides, OverrideUse{p[0], p[1], p[2], p[3], row.Requests, row.Allowed})
	}
	r.OtherTokens = []TokenUse{}
	for _, row := range c.tokens.table().Rows {
		p := strings.Split(row.Name, separator)
		r.OtherTokens = append(r.OtherTokens, TokenUse{Agent: p[0], Tokens: p[1], Source: p[2], Job: p[3], Requests: row.Requests})
	}
	r.Reasons, r.Origins, r.Jobs, r.Agents = c.reasons.table(), c.origins.table(), c.jobs.table(), c.agents.table()
	for i := range r.Reasons.Rows {
		r.Reasons.Rows[i].Name = reasonName(r.Reasons.Rows[i].Name)
	}
	r.Refused = c.refused()
	r.Robots = c.robots.changes()
	c.days()
	return r
}

// reasonName tells the two uses of the reason override apart.
func reasonName(name string) string {
	reason, verdict, _ := strings.Cut(name, separator)
	if reason == string(decision.Overridden) {
		return reason + " (" + verdict + ")"
	}
	return reason
}

func (c *collector) refused() RefusedPaths {
	table := c.paths.table()
	out := RefusedPaths{Rows: []RefusedPath{}, Other: table.Other.Requests, Complete: table.Complete}
	for _, row := range table.Rows {
		p := strings.Split(row.Name, separator)
		line, _ := strconv.Atoi(p[2])
		out.Rows = append(out.Rows, RefusedPath{p[0], p[1], line, p[3], row.Denied, row.WouldBeDenied})
	}
	return out
}

// hour is what was counted in one hour, UTC.
type hour struct {
	begin time.Time
	Counts
}

// days adds the hours up to days, UTC.
func (c *collector) days() {
	r := &c.report
	for h, counts := range c.byHour {
		r.hours = append(r.hours, hour{time.Unix(h*3600, 0).UTC(), *counts})
	}
	slices.SortFunc(r.hours, func(a, b hour) int { return a.begin.Compare(b.begin) })
	r.Days = []Row{}
	for _, h := range r.hours {
		day := h.begin.Format(time.DateOnly)
		if len(r.Days) == 0 || r.Days[len(r.Days)-1].Name != day {
			r.Days = append(r.Days, Row{Name: day})
		}
		r.Days[len(r.Days)-1].add(h.Counts)
	}
}
