package judge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// TestOverrideSpecificity: the most specific override counts, then the first.
func TestOverrideSpecificity(t *testing.T) {
	p := judge.Default()
	p.Overrides = []judge.Override{
		{Origin: "*.example.com", Action: "deny", Reason: "suffix"},
		{Origin: "*.shop.example.com", Action: "deny", Reason: "longer suffix"},
		{Origin: "WWW.Example.com.", Action: "deny", Reason: "host"},
		{Origin: "https://www.example.com:8443", Action: "deny", Reason: "origin"},
		{Origin: "www.example.com", Action: "deny", Reason: "second host"},
		{Origin: "::1", Action: "deny", Reason: "address"},
	}
	compiled, err := p.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"http://www.example.com/":       "host",
		"https://www.example.com:8443/": "origin",
		"https://www.example.com/":      "host",
		"http://other.example.com/":     "suffix",
		"http://a.shop.example.com/":    "longer suffix",
		"http://example.com/":           "",
		"http://badexample.com/":        "",
		"http://[::1]/":                 "address",
	} {
		rec := decide(t, compiled, url)
		got := ""
		if rec.Override != nil {
			got = rec.Override.Reason
		}
		if got != want {
			t.Errorf("%s: override %q, want %q", url, got, want)
		}
		if want != "" && (rec.Reason != decision.Overridden || rec.Decision != decision.Deny || rec.Source != decision.SourceOverride) {
			t.Errorf("%s: %s", url, rec.JSON())
		}
	}
}

func decide(t *testing.T, compiled *judge.Compiled, url string) *decision.Record {
	t.Helper()
	target, err := origin.ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	j := &judge.Judge{Lookup: &answers{Answer: cache.Answer{Copy: cache.NewCopy(cache.StateUnavailable, 404, nil)}}, Guard: guard{}}
	rec := new(decision.Record)
	j.Decide(t.Context(), compiled, &judge.Subject{UserAgent: "curl/8", Target: target}, rec)
	return rec
}

func TestOverrideRules(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /no\n")
	sum := sha256.Sum256(body)
	p := judge.Default()
	p.Overrides = []judge.Override{{Origin: "h", Action: judge.WordRules, Robots: body, RobotsSHA256: hex.EncodeToString(sum[:])}}
	compiled, err := p.Compile()
	if err != nil {
		t.Fatal(err)
	}
	rec := decide(t, compiled, "http://h/no")
	if rec.Reason != decision.Disallowed || rec.Rule.Line != 2 || rec.Source != decision.SourceOverride || rec.RobotsSHA256 != hex.EncodeToString(sum[:]) || rec.RobotsSize != len(body) {
		t.Errorf("record %s", rec.JSON())
	}
	if rec := decide(t, compiled, "http://h/robots.txt"); rec.Reason != decision.RobotsTXT {
		t.Errorf("robots.txt itself: %s", rec.JSON())
	}
}

// TestOverrideUntil: an override applies through its last day, in UTC, and the
// next less specific one takes over.
func TestOverrideUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins on 2000-01-01 at midnight UTC
		p := judge.Default()
		p.Overrides = []judge.Override{
			{Origin: "a.example", Action: "deny", Until: "2000-01-02"},
			{Origin: "*.example", Action: "allow"},
		}
		compiled, err := p.Compile()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(48*time.Hour - time.Second)
		if rec := decide(t, compiled, "http://a.example/"); rec.Decision != decision.Deny {
			t.Errorf("on its last day: %s", rec.JSON())
		}
		if past := compiled.Expired(time.Now()); len(past) != 0 {
			t.Errorf("expired too early: %v", past)
		}
		time.Sleep(time.Second)
		if rec := decide(t, compiled, "http://a.example/"); rec.Decision != decision.Allow || rec.Reason != decision.Overridden {
			t.Errorf("after its last day: %s", rec.JSON())
		}
		if past := compiled.Expired(time.Now()); len(past) != 1 || past[0].Origin != "a.example" {
			t.Errorf("expired: %v", past)
		}
	})
}

func TestOverrideRefused(t *testing.T) {
	for name, o := range map[string]judge.Override{
		"port without scheme": {Origin: "example.com:80", Action: "deny"},
		"path":                {Origin: "https://example.com/x", Action: "deny"},
		"inner star":          {Origin: "a.*.com", Action: "deny"},
		"scheme":              {Origin: "ftp://example.com", Action: "deny"},
		"empty":               {Origin: "", Action: "deny"},
		"action":              {Origin: "example.com", Action: "maybe"},
		"date":                {Origin: "example.com", Action: "deny", Until: "tomorrow"},
		"hash":                {Origin: "example.com", Action: "rules", RobotsSHA256: "00"},
	} {
		t.Run(name, func(t *testing.T) {
			p := judge.Default()
			p.Overrides = []judge.Override{o}
			if _, err := p.Compile(); err == nil {
				t.Error("compiled")
			}
		})
	}
}
