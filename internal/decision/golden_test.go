package decision_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/parser"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference")

// TestGolden has a file for each reason: the record as it is logged, and the
// answer that the client of a denied request gets.
func TestGolden(t *testing.T) {
	allows := []decision.Reason{
		decision.RuleAllowed, decision.NoRule, decision.NoGroup, decision.Unavailable,
		decision.RobotsTXT, decision.Overridden, decision.NotBot, decision.UnreachableAllowed,
	}
	for _, reason := range allows {
		t.Run("allow_"+string(reason), func(t *testing.T) {
			rec := sample(t, reason)
			rec.Allowed(reason)
			compare(t, "allow_"+string(reason), pretty(t, rec.JSON()))
		})
	}
	for _, reason := range decision.Denials() {
		t.Run("deny_"+string(reason), func(t *testing.T) {
			rec := sample(t, reason)
			rec.Denied(reason)
			answer := rec.DenialAnswer(reason.Status())
			var text bytes.Buffer
			text.Write(pretty(t, rec.JSON()))
			text.WriteString("\n")
			if err := answer.Header.Write(&text); err != nil {
				t.Fatal(err)
			}
			text.WriteString("\n")
			text.Write(pretty(t, answer.Body))
			compare(t, "deny_"+string(reason), bytes.ReplaceAll(text.Bytes(), []byte("\r\n"), []byte("\n")))
		})
	}
}

// sample is a record with what a decision for that reason rests on.
func sample(t *testing.T, reason decision.Reason) *decision.Record {
	t.Helper()
	rec := &decision.Record{
		Enforced: true, Job: "prices", Bot: true, Agent: "ExampleBot", Tokens: []string{"ExampleBot"},
		TokenSource: decision.TokenFromUserAgent, Policy: "5f1c", Engine: "1.0.0", Gate: "0123456789abcdef", Seq: 7,
	}
	target, err := origin.ParseTarget("https://example.com/private/a?page=2")
	if err != nil {
		t.Fatal(err)
	}
	rec.Aim(target)
	fetched := []decision.Reason{
		decision.RuleAllowed, decision.NoRule, decision.NoGroup, decision.Unavailable,
		decision.Disallowed, decision.DisallowedNormalized, decision.StatusDenied,
	}
	if slices.Contains(fetched, reason) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		rec.RobotsURL, rec.RobotsStatus, rec.Source = "https://example.com/robots.txt", 200, decision.SourceMemory
		rec.FetchedAt, rec.ValidatedAt, rec.ExpiresAt, rec.Age = at, at, at.Add(24*time.Hour), 60
		rec.RobotsSHA256, rec.RobotsSize, rec.FetchUserAgent, rec.Archived = "9c2e", 41, "ExampleBot/1.0", true
		rec.Token = "ExampleBot"
	}
	switch reason {
	case decision.RuleAllowed:
		rec.Rule = parser.Rule{Allow: true, Pattern: "/private/a", Line: 3}
	case decision.Disallowed:
		rec.Rule = parser.Rule{Pattern: "/private", Line: 2}
	case decision.DisallowedNormalized:
		rec.Rule, rec.Form = parser.Rule{Pattern: "/private", Line: 2}, "F3"
	case decision.NoGroup:
		rec.Token = "*"
	case decision.Unavailable, decision.StatusDenied:
		rec.RobotsStatus, rec.RobotsSHA256, rec.RobotsSize, rec.Token = 403, "", 0, ""
	case decision.Overridden:
		rec.Source = decision.SourceOverride
		rec.Override = &decision.Override{Origin: "example.com", Owner: "legal", Reason: "written permission", Until: "2027-01-31"}
	case decision.NotBot:
		rec.Bot, rec.Agent, rec.Tokens = false, "", nil
	case decision.UnreachableAllowed, decision.Unreachable:
		rec.RobotsURL, rec.RobotsStatus, rec.Source = "https://example.com/robots.txt", 503, decision.SourceMemory
		rec.Error, rec.RetryAfter = "status 503", 29*time.Second
	case decision.Overloaded:
		rec.RobotsURL, rec.RetryAfter = "https://example.com/robots.txt", 10*time.Second
	case decision.AddressDenied:
		rec.Error, rec.DeniedClass = "example.com resolves to 127.0.0.1, which is loopback", "loopback"
	case decision.PortDenied:
		rec.Error = "port 9 is not allowed: add it to ports if jobs may reach it"
	case decision.BadTarget:
		rec.URL, rec.Origin, rec.Error = "", "", "the target has a #: leave the fragment out, or write a literal # as %23"
	}
	return rec
}

func pretty(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n')
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and read the difference\n got %s\nwant %s", file, got, want)
	}
}
