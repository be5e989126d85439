package parser

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// Report is a robots.txt file as [Inspect] explains it.
type Report struct {
	Size     int           `json:"size"`     // octets of the file
	Lines    int           `json:"lines"`    // lines of the file
	Encoding string        `json:"encoding"` // "utf-8", "utf-8 with byte order mark", "utf-16le", "utf-16be" or "not utf-8"
	Groups   []ReportGroup `json:"groups"`
	Records  []Record      `json:"records"` // Sitemap and whatever else is neither user-agent line nor rule
	Warnings []Warning     `json:"warnings"`
}

// ReportGroup is a [Group] spelt out.
type ReportGroup struct {
	Line   int     `json:"line"`
	Agents []Agent `json:"agents"`
	Rules  []Rule  `json:"rules"`
}

// Warning is something in a file that probably does not do what its author
// meant, or not with every crawler.
type Warning struct {
	Line    int    `json:"line"`              // line number, from 1
	Code    string `json:"code"`              // one of the Warn constants
	Message string `json:"message"`           // what is wrong and what it leads to
	Instead string `json:"instead,omitempty"` // what to write or do instead
}

// String returns message and remedy as one text.
func (w Warning) String() string {
	if w.Instead == "" {
		return w.Message
	}
	return w.Message + "; instead: " + w.Instead
}

// Inspect reads a robots.txt file as [Parse] does and explains it. Nothing in
// the report is nil; warnings are in the order of their lines.
func Inspect(body []byte) *Report {
	r := Parse(body)
	decoded := decode(body)
	report := &Report{
		Size:     len(body),
		Encoding: encodingOf(body),
		Groups:   []ReportGroup{},
		Records:  slices.AppendSeq([]Record{}, r.Records()),
	}
	for g := range r.Groups() {
		report.Groups = append(report.Groups, ReportGroup{
			Line:   g.Line(),
			Agents: slices.Collect(g.Agents()),
			Rules:  slices.AppendSeq([]Rule{}, g.Rules()),
		})
	}
	in := inspector{utf8: report.Encoding != encodingUnknown, warnings: []Warning{}}
	in.file(report.Encoding, decoded)
	report.Lines = in.lines(decoded)
	in.groups(report.Groups)
	slices.SortStableFunc(in.warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
	report.Warnings = in.warnings
	return report
}

func encodingOf(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		return encodingUTF16LE
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		return encodingUTF16BE
	case !utf8.Valid(decode(body)):
		return encodingUnknown
	case len(body) > 0 && body[0] == 0xEF && len(decode(body)) < len(body):
		return encodingUTF8BOM
	default:
		return encodingUTF8
	}
}

// inspector collects warnings.
type inspector struct {
	utf8     bool // the whole file is UTF-8
	html     bool // it is a page: its lines are not worth a warning each
	grouped  bool // a user-agent line has been seen
	open     int  // line where a run of user-agent lines began that no rule has ended, or 0
	warnings []Warning
}

func (in *inspector) warn(line int, code, message, instead string) {
	in.warnings = append(in.warnings, Warning{line, code, message, instead})
}
