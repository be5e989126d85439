package audit

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// textRows is how many rows of a table the terminal gets.
	textRows = 15
	// nameWidth is the width of a table's first column, in characters.
	nameWidth = 56
)

// textWriter writes for a terminal; the first error stays.
type textWriter struct{ *bufio.Writer }

func (w textWriter) line(format string, args ...any) {
	fmt.Fprintf(w, format+"\n", args...)
}

func (w textWriter) heading(title string) {
	w.line("\n%s\n%s", title, strings.Repeat("-", utf8.RuneCountInString(title)))
}

// fact writes one label and its value.
func (w textWriter) fact(label, value string) {
	w.line("%-34s %s", label, value)
}

// WriteText writes the report for a terminal.
func (r *Report) WriteText(out io.Writer) error {
	w := textWriter{bufio.NewWriter(out)}
	w.line("Robots report, %s", r.Period())
	w.line("%s", r.linesText())
	for _, d := range r.Damage {
		w.line("! %s could not be read to its end: %s", printable(d.Log), printable(d.Cause))
	}
	r.textNotJudged(w)
	r.textOtherTokens(w)
	w.heading("How the requests were decided")
	w.line("%s", r.Summary())
	w.counts("By day (UTC)", Table{Rows: r.Days, Complete: true}, len(r.Days))
	w.counts("By reason", r.Reasons, len(r.Reasons.Rows))
	w.counts("By origin", r.Origins, textRows)
	w.counts("By job", r.Jobs, textRows)
	w.counts("By agent", r.Agents, textRows)
	r.textRefused(w)
	r.textRobots(w)
	return w.Flush()
}

// Period is the time that the report covers, for people.
func (r *Report) Period() string {
	if r.From.IsZero() {
		return "no dated request"
	}
	const minute = "2006-01-02 15:04"
	from, to := r.From.Format(minute), r.To.Format(minute)
	if r.From.Format(time.DateOnly) == r.To.Format(time.DateOnly) {
		to = r.To.Format("15:04")
	}
	return from + " to " + to + " UTC"
}

// Summary is the totals in one sentence.
func (r *Report) Summary() string {
	t := r.Total
	return fmt.Sprintf("%s: %s allowed, %s denied, %s would have been denied (report mode). For %s, robots.txt could not be read.",
		plural(t.Requests, "request"), share(t.Allowed, t.Requests), share(t.Denied, t.Requests),
		share(t.WouldBeDenied, t.Requests), share(t.Unreachable, t.Requests))
}

func (r *Report) linesText() string {
	l := r.Lines
	return fmt.Sprintf("%s in %s: %s with a record, %s, %s that the access log repeats, %s of other logs, %s.",
		plural(l.All(), "line"), plural(int64(len(r.Logs)), "log"), number(l.Records),
		plural(l.Unjudged, "request")+" without one", plural(l.Repeats, "denial entry"), number(l.Foreign),
		number(l.Damaged)+" cut or garbled")
}

func (r *Report) textNotJudged(w textWriter) {
	n := &r.NotJudged
	w.heading("What was not judged")
	for _, f := range n.Facts(r.Total.Requests) {
		w.fact(f.Label, f.Value)
		if f.Count > 0 {
			w.line("%34s %s", "", f.Meaning)
		}
	}
	w.names("User-Agents that were not judged", n.NotBotAgents)
	w.names("Destinations of tunnels", n.TunnelDestinations)
	if len(n.Overrides) > 0 {
		w.line("\nOverrides")
		for _, o := range n.Overrides {
			w.line("%12s  %s", number(o.Requests), printable(o.String()))
		}
	}
}

// Fact is one line about what was not judged.
type Fact struct {
	Label, Value, Meaning string
	Count                 int64
}

// Facts lists what was not judged out of all requests.
func (n *NotJudged) Facts(all int64) []Fact {
	facts := []Fact{
		{"Taken for no bot", "", "they passed without a look at robots.txt; `agents all` judges them too", n.NotBot},
		{"Tunnels opened", "", "CONNECT requests that were not intercepted: nobody saw the requests inside", n.TunnelsOpened},
		{"Tunnels refused", "", "CONNECT requests that were not intercepted and not passed on", n.TunnelsRefused},
		{"Decided by an override", "", "the operator's exception counted, not robots.txt", n.OverridesAllowed + n.OverridesDenied},
		{"In report mode", "", "decided and recorded, but passed on whatever the decision", n.ReportMode},
		{"Allowed although unreachable", "", "robots.txt could not be read, and the gate is set to `unreachable allow`", n.UnreachableAllowed},
		{"Judged by an old copy", "", "the origin did not answer; its last good robots.txt counted", n.Stale},
	}
	for i := range facts {
		facts[i].Value = share(facts[i].Count, all)
	}
	return append(facts, Fact{"Requests without a record", number(n.NoRecord), "requests in these access logs that reached no gate", n.NoRecord})
}

// String names the override for people.
func (o OverrideUse) String() string {
	s := o.Origin
	if o.Allowed == o.Requests {
		s += " allowed"
	} else if o.Allowed == 0 {
		s += " denied"
	}
	for _, part := range []struct{ label, value string }{{"reason", o.Reason}, {"owner", o.Owner}, {"until", o.Until}} {
		if part.value != "" {
			s += ", " + part.label + ": " + part.value
		}
	}
	return s
}

func (r *Report) textOtherTokens(w textWriter) {
	w.heading("Judged under somebody else's product token")
	if len(r.OtherTokens) == 0 {
		w.line("None: every request was judged under a token that its User-Agent bears, or under the group *.")
		return
	}
	for _, u := range r.OtherTokens[:min(len(r.OtherTokens), textRows)] {
		w.line("%12s  %s", number(u.Requests), printable(u.String()))
	}
	w.more(len(r.OtherTokens)-textRows, "more")
}

// String tells people who was judged as whom.
func (u TokenUse) String() string {
	who := u.Agent
	if who == "" {
		who = "a User-Agent without a name"
	}
	s := who + " as " + u.Tokens
	if u.Job != "" {
		s += ", job " + u.Job
	}
	return s + " (" + u.Why() + ")"
}

// Why says what made the token count.
func (u TokenUse) Why() string {
	if u.Source == "config" {
		return "the gate's `token` says so"
	}
	return "that crawler's documentation falls back on it"
}

// counts writes a table of decisions.
func (w textWriter) counts(title string, t Table, rows int) {
	w.line("\n%-*s %11s %11s %11s %11s %11s", nameWidth, title, "requests", "allowed", "denied", "would-be", "unreachable")
	for _, row := range t.Rows[:min(len(t.Rows), rows)] {
		w.countRow(row.Name, row.Counts)
	}
	var rest Counts
	for _, row := range t.Rows[min(len(t.Rows), rows):] {
		rest.add(row.Counts)
	}
	rest.add(t.Other)
	if rest.Requests > 0 {
		w.countRow("(other)", rest)
	}
	if !t.Complete {
		w.line("More names than are kept apart: rows may be too low, the sum with (other) is exact.")
	}
}

func (w textWriter) countRow(name string, c Counts) {
	w.line("%s %11s %11s %11s %11s %11s", padded(printable(name)),
		number(c.Requests), number(c.Allowed), number(c.Denied), number(c.WouldBeDenied), number(c.Unreachable))
}

// names writes a table of requests alone, where there is one.
func (w textWriter) names(title string, t Table) {
	if len(t.Rows) == 0 {
		return
	}
	w.line("\n%s", title)
	for _, row := range t.Rows[:min(len(t.Rows), textRows)] {
		w.line("%12s  %s", number(row.Requests), printable(row.Name))
	}
	w.more(len(t.Rows)-textRows, "more")
}

func (w textWriter) more(n int, what string) {
	if n > 0 {
		w.line("%12s  and %d %s; --json and --html have them", "", n, what)
	}
}

func (r *Report) textRefused(w textWriter) {
	w.heading("Refused most often")
	if len(r.Refused.Rows) == 0 {
		w.line("Nothing was refused.")
		return
	}
	for _, p := range r.Refused.Rows[:min(len(r.Refused.Rows), textRows)] {
		w.line("%12s  %s", number(p.Denied+p.WouldBeDenied), printable(p.URL))
		w.line("%12s  %s", "", printable(p.Because()))
	}
	w.more(len(r.Refused.Rows)-textRows, "paths")
	if !r.Refused.Complete {
		w.line("More paths than are kept apart: rows may be too low.")
	}
}

// Because names the rule or, where there is none, the reason of a refusal.
func (p RefusedPath) Because() string {
	if p.Rule == "" {
		return p.Reason
	}
	return p.Rule + " (line " + strconv.Itoa(p.Line) + ", " + p.Reason + ")"
}

func (r *Report) textRobots(w textWriter) {
	w.heading("Changes of robots.txt")
	w.line("%s of %s changed.", number(int64(r.Robots.Changed)), plural(int64(r.Robots.Files), "file"))
	for _, c := range r.Robots.Changes[:min(len(r.Robots.Changes), textRows)] {
		w.line("%s  %s", printable(c.At), printable(c.RobotsURL))
		w.line("%20s  %s to %s", "", printable(c.Before.String()), printable(c.After.String()))
	}
	w.more(len(r.Robots.Changes)-textRows, "changes")
	if !r.Robots.Complete {
		w.line("More files or versions than are kept apart: changes may be missing.")
	}
}

// printable replaces what a terminal would act on: logs hold what strangers
// sent.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unprintable(c) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(c), "'"))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func unprintable(c rune) bool { return !unicode.IsPrint(c) }

// padded makes s nameWidth characters wide, cutting its middle if need be.
func padded(s string) string {
	runes := []rune(s)
	if len(runes) > nameWidth {
		half := nameWidth/2 - 1
		s = string(runes[:half]) + "…" + string(runes[len(runes)-half-1:])
	}
	return s + strings.Repeat(" ", max(0, nameWidth-utf8.RuneCountInString(s)))
}

// number writes n with its thousands apart.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// plural writes n and the noun in its number.
func plural(n int64, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return number(n) + " " + noun
}

// share writes n and what part of all it is.
func share(n, all int64) string {
	switch {
	case n == 0 || all == 0:
		return number(n)
	case n == all:
		return number(n) + " (100 %)"
	default:
		// Neither 0.0 % nor 100.0 % stands for what is not.
		percent := min(max(100*float64(n)/float64(all), 0.1), 99.9)
		return fmt.Sprintf("%s (%.1f %%)", number(n), percent)
	}
}
