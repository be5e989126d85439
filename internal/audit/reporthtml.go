package audit

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

// The rows that the page shows of each table.
const (
	pageNames   = 50
	pageAsides  = 10
	pagePaths   = 100
	pageChanges = 200
)

//go:embed report.html
var pageText string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"number": number, "share": share, "plural": plural, "printable": printable, "prose": prose,
	"count": func(n int) string { return number(int64(n)) },
}).Parse(pageText))

// page is what the template shows.
type page struct {
	*Report
	Facts     []Fact
	Chart     template.HTML
	ChartUnit string
	Tables    []pageTable
	Reasons   pageTable
	Days      pageTable
	Parts     []pagePart
	Refused   []RefusedPath
	Changes   []RobotsChange
	NotBots   pageNamesTable
	Tunnels   pageNamesTable
	Overrides []OverrideUse
	Tokens    []TokenUse
	// Left counts the rows that do not fit on the page.
	RefusedLeft, ChangesLeft, TokensLeft, OverridesLeft int
}

// pagePart is an entry of the charts' legend with its total.
type pagePart struct {
	Class, Label, Total string
}

type pageTable struct {
	Title, Column string
	Rows          []pageRow
	Complete      bool
}

type pageRow struct {
	Name string
	Counts
	Bar   template.HTML
	Other bool
}

type pageNamesTable struct {
	Title, Column string
	Rows          []Row
	Left          int
}

// WriteHTML writes the report as one page that needs nothing but itself: no
// script, no font and no image from elsewhere.
func (r *Report) WriteHTML(out io.Writer) error {
	n := &r.NotJudged
	unit, _ := spans(r.hours)
	p := page{
		Report: r, Facts: n.Facts(r.Total.Requests), Chart: timeChart(r.hours), ChartUnit: unit.name,
		Reasons: countsTable("By reason", "Reason", r.Reasons, pageNames),
		Days:    countsTable("By day", "Day (UTC)", Table{Rows: r.Days, Complete: true}, len(r.Days)),
		Tables: []pageTable{
			countsTable("By origin", "Origin", r.Origins, pageNames),
			countsTable("By job", "Job", r.Jobs, pageNames),
			countsTable("By agent", "Agent", r.Agents, pageNames),
		},
		NotBots: namesTable("User-Agents that were not judged", "User-Agent", n.NotBotAgents),
		Tunnels: namesTable("Destinations of tunnels", "Origin", n.TunnelDestinations),
	}
	for _, part := range parts {
		p.Parts = append(p.Parts, pagePart{part.class, part.label, share(part.value(r.Total), r.Total.Requests)})
	}
	p.Refused, p.RefusedLeft = head(r.Refused.Rows, pagePaths)
	p.Changes, p.ChangesLeft = head(r.Robots.Changes, pageChanges)
	p.Tokens, p.TokensLeft = head(r.OtherTokens, 2*pageAsides)
	p.Overrides, p.OverridesLeft = head(n.Overrides, 2*pageAsides)
	return pageTemplate.Execute(out, p)
}

// head returns the first n rows and how many are left.
func head[T any](rows []T, n int) ([]T, int) {
	if len(rows) <= n {
		return rows, 0
	}
	return rows[:n], len(rows) - n
}

func countsTable(title, column string, t Table, limit int) pageTable {
	out := pageTable{Title: title, Column: column, Complete: t.Complete}
	rows, _ := head(t.Rows, limit)
	var largest int64
	for _, row := range rows {
		largest = max(largest, row.Requests)
	}
	for _, row := range rows {
		out.Rows = append(out.Rows, pageRow{Name: printable(row.Name), Counts: row.Counts, Bar: shareBar(row.Counts, largest)})
	}
	rest := t.Other
	for _, row := range t.Rows[len(rows):] {
		rest.add(row.Counts)
	}
	if rest.Requests > 0 {
		out.Rows = append(out.Rows, pageRow{Name: "all others", Counts: rest, Other: true})
	}
	return out
}

func namesTable(title, column string, t Table) pageNamesTable {
	rows, left := head(t.Rows, pageAsides)
	return pageNamesTable{Title: title, Column: column, Rows: rows, Left: left}
}

// prose marks up the words of ours that stand between backquotes.
func prose(s string) template.HTML {
	var b strings.Builder
	for i, text := range strings.Split(s, "`") {
		text = template.HTMLEscapeString(text)
		if i%2 == 1 {
			text = "<code>" + text + "</code>"
		}
		b.WriteString(text)
	}
	return template.HTML(b.String()) // escaped above
}
