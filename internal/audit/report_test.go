package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/parser"
)

// access is one request as a test describes it.
type access struct {
	at        time.Time
	method    string
	userAgent string
	url       string
	change    func(*decision.Record)
}

const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// String is the line of an access log as Caddy writes it.
func (a access) String() string {
	rec := &decision.Record{
		Enforced: true, Bot: true, Agent: "ExampleBot", Tokens: []string{"ExampleBot"}, Token: "*",
		TokenSource: decision.TokenFromUserAgent, Source: decision.SourceMemory,
	}
	rec.Allowed(decision.NoRule)
	if target, err := origin.ParseTarget(a.url); err == nil {
		rec.Aim(target)
		rec.RobotsURL = target.Origin.RobotsURL()
	}
	if a.change != nil {
		a.change(rec)
	}
	request, _ := json.Marshal(map[string]any{"method": a.method, "headers": map[string]any{"User-Agent": []string{a.userAgent}}})
	return fmt.Sprintf(`{"level":"info","ts":%d.25,"logger":"http.log.access.log0","msg":"handled request","request":%s,"duration":0.01,"status":200,"robots":%s}`+"\n",
		a.at.Unix(), request, rec.JSON())
}

func disallow(rec *decision.Record) {
	rec.Rule = parser.Rule{Pattern: "/private", Line: 2}
	rec.Denied(decision.Disallowed)
}

func version(sha string, fetched time.Time) func(*decision.Record) {
	return func(rec *decision.Record) {
		rec.RobotsSHA256, rec.RobotsSize, rec.FetchedAt = strings.Repeat(sha, 64), 10, fetched
	}
}

// sampleLog has one request at least for everything that a report tells.
func sampleLog() []access {
	const bot = "ExampleBot/1.0"
	return []access{
		{noon, "GET", bot, "https://a.example/x?q=1", func(r *decision.Record) { r.Job = "prices"; version("a", noon)(r) }},
		{noon.Add(time.Hour), "GET", bot, "https://a.example/x?q=2", version("b", noon.Add(time.Hour))},
		{noon.Add(90 * time.Minute), "GET", bot, "https://a.example/x?q=2", version("a", noon)},
		{noon.Add(2 * time.Hour), "GET", bot, "https://a.example/x?q=2", version("b", noon.Add(2*time.Hour))},
		{noon.Add(24 * time.Hour), "GET", bot, "https://a.example/private/x?secret=1", disallow},
		{noon.Add(24 * time.Hour), "GET", bot, "https://a.example/private/x?secret=2", disallow},
		{noon.Add(24 * time.Hour), "GET", bot, "https://a.example/private/y", func(r *decision.Record) { disallow(r); r.Enforced = false }},
		{noon, "GET", browser, "https://b.example/", func(r *decision.Record) {
			r.Bot, r.Agent, r.Tokens, r.Token = false, "", nil, ""
			r.Allowed(decision.NotBot)
		}},
		{noon, "CONNECT", bot, "https://c.example/", func(r *decision.Record) { r.Denied(decision.TunnelOpaque) }},
		{noon, "CONNECT", bot, "https://c.example/", nil},
		{noon, "GET", bot, "https://d.example/", func(r *decision.Record) {
			r.Override = &decision.Override{Origin: "d.example", Owner: "legal", Reason: "contract", Until: "2027-01-01"}
			r.Allowed(decision.Overridden)
		}},
		{noon, "GET", bot, "https://d.example/", func(r *decision.Record) {
			r.Override = &decision.Override{Origin: "d.example", Owner: "legal", Reason: "contract", Until: "2027-01-01"}
			r.Denied(decision.Overridden)
		}},
		{noon, "GET", bot, "https://e.example/", func(r *decision.Record) { r.Denied(decision.Unreachable) }},
		{noon, "GET", bot, "https://e.example/", func(r *decision.Record) { r.Allowed(decision.UnreachableAllowed) }},
		{noon, "GET", bot, "https://f.example/", func(r *decision.Record) {
			r.Tokens, r.Token, r.TokenSource = []string{"Googlebot"}, "Googlebot", decision.TokenFromConfig
		}},
		{noon, "GET", bot, "https://f.example/", func(r *decision.Record) { r.TokenSource = decision.TokenFromConfig }},
		{noon, "GET", "Applebot/0.1", "https://f.example/", func(r *decision.Record) {
			r.Agent, r.Tokens, r.Token, r.Source = "Applebot", []string{"Applebot", "Googlebot"}, "Googlebot", decision.SourceStale
		}},
	}
}

func text(lines []access) string {
	var b strings.Builder
	for _, a := range lines {
		b.WriteString(a.String())
	}
	return b.String()
}

func TestReport(t *testing.T) {
	r := summarise(t, logOf(text(sampleLog())+`{"request":{},"status":404}`+"\n"))
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", what, got, want)
		}
	}
	check("total", r.Total, Counts{Requests: 17, Allowed: 11, Denied: 5, WouldBeDenied: 1, Unreachable: 2})
	check("days", r.Days, []Row{
		{"2026-03-01", Counts{Requests: 14, Allowed: 11, Denied: 3, Unreachable: 2}},
		{"2026-03-02", Counts{Requests: 3, Denied: 2, WouldBeDenied: 1}},
	})
	check("period", r.Period(), "2026-03-01 12:00 to 2026-03-02 12:00 UTC")
	check("jobs", r.Jobs.Rows[1], Row{"prices", Counts{Requests: 1, Allowed: 1}})
	check("origins", r.Origins.Rows[0], Row{"https://a.example", Counts{Requests: 7, Allowed: 4, Denied: 2, WouldBeDenied: 1}})
	check("reasons", r.Reasons.Rows[1], Row{"disallowed", Counts{Requests: 3, Denied: 2, WouldBeDenied: 1}})
	check("refused", r.Refused.Rows[0], RefusedPath{"https://a.example/private/x", "Disallow: /private", 2, "disallowed", 2, 0})

	n := r.NotJudged
	check("not judged", []int64{
		n.NoRecord, n.NotBot, n.TunnelsOpened, n.TunnelsRefused, n.OverridesAllowed, n.OverridesDenied,
		n.ReportMode, n.WouldBeDenied, n.UnreachableAllowed, n.Stale,
	}, []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	check("browsers", n.NotBotAgents.Rows, []Row{{browser, Counts{Requests: 1, Allowed: 1}}})
	check("overrides", n.Overrides, []OverrideUse{{"d.example", "legal", "contract", "2027-01-01", 2, 1}})
	check("tokens", r.OtherTokens, []TokenUse{
		{Agent: "Applebot", Tokens: "Applebot Googlebot", Source: "user_agent", Requests: 1},
		{Agent: "ExampleBot", Tokens: "Googlebot", Source: "config", Requests: 1},
	})
	// A request that began before the change and ended after it is no change.
	check("changes", r.Robots, RobotsFiles{Files: 1, Changed: 1, Complete: true, Changes: []RobotsChange{{
		RobotsURL: "https://a.example/robots.txt", At: "2026-03-01T13:00:00Z",
		Before: RobotsVersion{SHA256: strings.Repeat("a", 64), Size: 10, Requests: 2},
		After:  RobotsVersion{SHA256: strings.Repeat("b", 64), Size: 10, Requests: 2},
	}}})
}

// TestReportForms: all three forms of a report say the same, and none of them
// lets through what a stranger sent.
func TestReportForms(t *testing.T) {
	const hostile = "<script>alert(1)</script>\x1b[2J\u202e'\"&{{.}}"
	lines := append(sampleLog(), access{noon, "GET", hostile, "https://a.example/private/z", func(r *decision.Record) {
		disallow(r)
		r.Job, r.Agent, r.Tokens, r.TokenSource = hostile, hostile, []string{hostile}, decision.TokenFromConfig
		r.URL, r.Origin, r.RobotsURL = hostile+"/", hostile, hostile
		r.Rule = parser.Rule{Pattern: hostile, Line: 1}
		r.Override = &decision.Override{Origin: hostile, Reason: hostile, Owner: hostile, Until: hostile}
	}}, access{noon, "GET", hostile, "https://a.example/", func(r *decision.Record) { r.Allowed(decision.NotBot); r.Origin = hostile }})
	r := summarise(t, logOf(text(lines)))
	var plain, page bytes.Buffer
	if err := r.WriteText(&plain); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(encoded, &back); err != nil || back.Total != r.Total {
		t.Errorf("JSON does not read back: %v", err)
	}
	for name, out := range map[string]string{"text": plain.String(), "HTML": page.String()} {
		for _, want := range []string{"What was not judged", "somebody else", "https://a.example", "ExampleBot", "not_bot", "Changes of robots.txt", "Googlebot"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		if strings.Contains(out, "\x1b") || strings.Contains(out, "\u202e") {
			t.Errorf("%s passes control characters on", name)
		}
	}
	for _, bad := range []string{"<script", "http-equiv=\"refresh", "src=", "href=", "url(", "@import"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if !strings.Contains(page.String(), "&lt;script&gt;") {
		t.Error("the page does not show the hostile name")
	}
}

// TestReportOfNothing: an empty log makes a report that says so.
func TestReportOfNothing(t *testing.T) {
	r := summarise(t, logOf(""))
	var plain, page bytes.Buffer
	if err := r.WriteText(&plain); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(plain.String(), "no dated request") || !strings.Contains(plain.String(), "Nothing was refused.") {
		t.Errorf("text %s", plain.String())
	}
	encoded, _ := json.Marshal(r)
	if strings.Contains(string(encoded), "null") {
		t.Errorf("JSON has a null where a list is meant: %s", encoded)
	}
}

// TestReportBounded: with more names than are kept, the largest keep their
// rows, even those that come late, and the sum is exact.
func TestReportBounded(t *testing.T) {
	tall := newTally(100)
	var want int64
	count := func(name string, times int) {
		for range times {
			tall.count([]byte(name), Counts{Requests: 1, Allowed: 1})
			want++
		}
	}
	count("early", 50)
	for i := range 10_000 {
		count(fmt.Sprintf("once %d", i), 1)
		if i > 5000 && i%20 == 0 {
			count("late", 1)
		}
	}
	if len(tall.rows) > 200 {
		t.Errorf("%d rows are kept, want 200 at most", len(tall.rows))
	}
	table := tall.table()
	sum := table.Other
	for _, row := range table.Rows {
		sum.add(row.Counts)
	}
	if table.Complete || len(table.Rows) > 100 || sum.Requests != want {
		t.Errorf("complete %v, %d rows, sum %d; want %d", table.Complete, len(table.Rows), sum.Requests, want)
	}
	if table.Rows[0].Name != "late" && table.Rows[1].Name != "late" || table.Rows[0].Requests < 50 {
		t.Errorf("first rows %+v", table.Rows[:2])
	}
}

// TestSpans: a chart has a bar for every hour, day, month or year, empty ones
// included, and never too many.
func TestSpans(t *testing.T) {
	for name, tt := range map[string]struct {
		last time.Time
		unit string
		bars int
	}{
		"an hour":    {noon, "hour", 1},
		"a day":      {noon.Add(23 * time.Hour), "hour", 24},
		"three days": {noon.AddDate(0, 0, 3), "hour", 73},
		"a month":    {noon.AddDate(0, 1, 0), "day", 32},
		"a year":     {noon.AddDate(1, 0, 0), "month", 13},
		"a century":  {noon.AddDate(100, 0, 0), "year", 101},
	} {
		hours := []hour{{noon, Counts{Requests: 1}}, {tt.last, Counts{Requests: 1}}}
		u, bars := spans(hours)
		var sum int64
		for _, b := range bars {
			sum += b.Requests
		}
		if u.name != tt.unit || len(bars) != tt.bars || sum != 2 {
			t.Errorf("%s: %d bars of a %s with %d requests, want %d of a %s", name, len(bars), u.name, sum, tt.bars, tt.unit)
		}
	}
	if timeChart([]hour{{noon, Counts{}}, {noon.AddDate(900, 0, 0), Counts{Requests: 1}}}) != "" {
		t.Error("a chart of nine centuries has bars")
	}
}
