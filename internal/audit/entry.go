package audit

import (
	"bytes"
	"strings"
	"time"
	"unsafe"

	"github.com/robotsgate/robotsgate/agent"
	"github.com/robotsgate/robotsgate/internal/decision"
)

// entry is what a report wants of one record. Its slices point into the log's
// buffer.
type entry struct {
	at     time.Time
	counts Counts

	reason decision.Reason
	origin []byte
	job    []byte
	agent  []byte

	notBot     bool
	tunnel     bool
	unenforced bool
	stale      bool
	userAgent  []byte

	// path and rule are of refused requests.
	path []byte
	rule []byte
	line int

	// tokens is set where they are not the User-Agent's.
	tokens      [][]byte
	tokenSource []byte

	override    override
	hasOverride bool

	robotsURL []byte
	version   []byte // of the robots.txt: its hash, or "" where there was none
	status    uint64
	size      uint64
	fetchedAt []byte
}

// entries is one block of a log.
type entries struct {
	lines Lines
	rows  []entry
	r     lineReader
}

// newEntryReader makes the function that reads blocks for a report.
func newEntryReader() func(*block, *entries) {
	var l line
	return func(b *block, out *entries) {
		out.lines = Lines{Damaged: int64(b.long)}
		out.rows = out.rows[:0]
		out.r.reset()
		b.lines(func(number int, text []byte) {
			out.r.read(text, &l)
			if l.kind == KindRecord && l.record.flaw != "" {
				l.kind = KindDamaged
			}
			out.lines.count(l.kind)
			if l.kind == KindRecord {
				out.rows = append(out.rows, entry{})
				out.rows[len(out.rows)-1].fill(&l)
			}
		})
	}
}

func (e *entry) fill(l *line) {
	rec := &l.record
	e.at = l.at
	e.reason = internReason(rec.text[fieldReason])
	e.origin, e.job, e.agent = rec.text[fieldOrigin], rec.text[fieldJob], rec.text[fieldAgent]
	e.userAgent = l.userAgent
	e.unenforced = !rec.flag[fieldEnforced]
	e.notBot = e.reason == decision.NotBot
	e.tunnel = string(l.method) == "CONNECT" || e.reason == decision.TunnelOpaque
	e.stale = rec.is(fieldSource, string(decision.SourceStale))
	e.override, e.hasOverride = rec.override, rec.had(fieldOverride)
	e.counts = Counts{Requests: 1}
	switch {
	case !rec.is(fieldDecision, string(decision.Deny)):
		e.counts.Allowed = 1
	case e.unenforced:
		e.counts.WouldBeDenied = 1
	default:
		e.counts.Denied = 1
	}
	if e.reason == decision.Unreachable || e.reason == decision.UnreachableAllowed {
		e.counts.Unreachable = 1
	}
	if e.counts.Allowed == 0 {
		e.path, _, _ = bytes.Cut(rec.text[fieldURL], []byte{'?'})
		e.rule, e.line = rec.text[fieldRule], int(rec.number[fieldLine])
	}
	if othersTokens(l) {
		e.tokens, e.tokenSource = rec.tokens, rec.text[fieldTokenSource]
	}
	e.robotsURL, e.fetchedAt = rec.text[fieldRobotsURL], rec.text[fieldFetchedAt]
	e.version, e.size, e.status = rec.text[fieldRobotsSHA256], rec.number[fieldRobotsSize], rec.number[fieldRobotsStatus]
}

// othersTokens reports whether the record was judged under a product token that
// its User-Agent does not bear.
func othersTokens(l *line) bool {
	rec := &l.record
	if len(rec.tokens) == 0 || !l.hasHeaders {
		return false
	}
	if rec.is(fieldTokenSource, string(decision.TokenFromConfig)) {
		own := agent.Identify(view(l.userAgent)).Tokens()
		for _, token := range rec.tokens {
			if !containsFold(own, view(token)) {
				return true
			}
		}
		return false
	}
	used := rec.text[fieldToken]
	return len(used) > 0 && string(used) != "*" && !foldIn(view(l.userAgent), view(used))
}

// view is b as a string for as long as b does not change: for calls that keep
// nothing of what they are given.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func containsFold(tokens []string, token string) bool {
	for _, t := range tokens {
		if strings.EqualFold(t, token) {
			return true
		}
	}
	return false
}

// foldIn reports whether word occurs in s, whatever the case of ASCII letters.
func foldIn(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// internReason spares a string for each record.
func internReason(text []byte) decision.Reason {
	for _, known := range allReasons {
		if string(text) == string(known) {
			return known
		}
	}
	return decision.Reason(text)
}

var allReasons = []decision.Reason{
	decision.NoRule, decision.RuleAllowed, decision.Disallowed, decision.NoGroup, decision.Unavailable, decision.NotBot,
	decision.DisallowedNormalized, decision.Unreachable, decision.RobotsTXT, decision.UnreachableAllowed,
	decision.Overridden, decision.StatusDenied, decision.TunnelOpaque, decision.AddressDenied,
	decision.PortDenied, decision.Overloaded, decision.BadTarget, decision.AuthorityMismatch, decision.Loop,
	decision.Internal,
}
