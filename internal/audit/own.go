package audit

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/decision"
)

const (
	// slack is how far the dates of a record may be apart from what they
	// should be: they are whole seconds, and clocks are set.
	slack = 5 * time.Second
	// longestFresh is the longest use of a fresh copy (RFC 9309 section 2.4).
	longestFresh = 24 * time.Hour
	// longestSkew is how far ahead the clock of another gate on the same
	// storage may be, whose copies are used.
	longestSkew = 5 * time.Minute
)

// verdictOfReason is the decision that each reason comes with; override comes
// with both.
var verdictOfReason = map[decision.Reason]decision.Verdict{
	decision.RuleAllowed: decision.Allow, decision.NoRule: decision.Allow, decision.NoGroup: decision.Allow,
	decision.Unavailable: decision.Allow, decision.RobotsTXT: decision.Allow, decision.NotBot: decision.Allow,
	decision.UnreachableAllowed: decision.Allow,
	decision.Disallowed:         decision.Deny, decision.DisallowedNormalized: decision.Deny, decision.StatusDenied: decision.Deny,
	decision.TunnelOpaque: decision.Deny, decision.AddressDenied: decision.Deny, decision.PortDenied: decision.Deny,
	decision.Unreachable: decision.Deny, decision.Overloaded: decision.Deny, decision.BadTarget: decision.Deny,
	decision.AuthorityMismatch: decision.Deny, decision.Loop: decision.Deny, decision.Internal: decision.Deny,
}

// ownContradiction holds a record against itself and its line: what no archive
// is needed for.
func ownContradiction(l *line) finding {
	for _, check := range [...]func(*line) finding{ownVerdict, ownNumbers, ownURLs, ownRule, ownRobots, ownDates} {
		if f := check(l); f.outcome == Contradicted {
			return f
		}
	}
	return finding{}
}

func ownVerdict(l *line) finding {
	rec := &l.record
	if !rec.had(fieldDecision) && !rec.had(fieldReason) && !rec.had(fieldPolicy) {
		return finding{} // nothing was judged
	}
	reason, verdict := rec.reason, decision.Verdict(view(rec.text[fieldDecision]))
	want, known := verdictOfReason[reason]
	switch {
	case reason == decision.Overridden:
		if verdict != decision.Allow && verdict != decision.Deny {
			return contradicted(fieldDecision, fmt.Sprintf("is %q, neither allow nor deny", string(verdict)))
		}
	case !known:
		return contradicted(fieldReason, fmt.Sprintf("is %q, which is no reason", string(reason)))
	case verdict != want:
		return contradicted(fieldDecision, fmt.Sprintf("is %q, and the reason %s comes with %s", string(verdict), reason, want))
	}
	if !rec.flag[fieldEnforced] && verdict == decision.Deny && !reason.Robots() {
		return contradicted(fieldEnforced, fmt.Sprintf("is false, and the reason %s is always enforced", reason))
	}
	return finding{}
}

// ownNumbers checks what every record has.
func ownNumbers(l *line) finding {
	rec := &l.record
	switch gate := rec.text[fieldGate]; {
	case len(gate) != 16 || strings.Trim(view(gate), "0123456789abcdef") != "":
		return contradicted(fieldGate, fmt.Sprintf("is %q, which is no gate's id", gate))
	case rec.number[fieldSeq] == 0:
		return contradicted(fieldSeq, "is missing")
	case len(rec.text[fieldEngine]) == 0:
		return contradicted(fieldEngine, "is missing")
	case !rec.had(fieldEnforced):
		return contradicted(fieldEnforced, "is missing")
	case !rec.had(fieldBot):
		return contradicted(fieldBot, "is missing")
	}
	return finding{}
}

func ownURLs(l *line) finding {
	rec := &l.record
	url, origin := rec.text[fieldURL], rec.text[fieldOrigin]
	rest, found := bytes.CutPrefix(url, origin)
	if !found || (len(url) == 0) != (len(origin) == 0) || len(rest) > 0 && rest[0] != '/' {
		return contradicted(fieldOrigin, fmt.Sprintf("is %q, and the URL is %q", origin, url))
	}
	if robots := rec.text[fieldRobotsURL]; rec.had(fieldRobotsURL) {
		if path, found := bytes.CutPrefix(robots, origin); !found || string(path) != "/robots.txt" {
			return contradicted(fieldRobotsURL, fmt.Sprintf("is %q, and the origin is %q", robots, origin))
		}
		if bytes.Equal(robots, rec.text[fieldRobotsFinalURL]) {
			return contradicted(fieldRobotsFinalURL, "is there without a redirect")
		}
	}
	return finding{}
}

func ownRule(l *line) finding {
	rec := &l.record
	switch {
	case rec.had(fieldRule) != rec.had(fieldLine):
		return contradicted(fieldRule, "stands without a line, or a line without a rule")
	case rec.had(fieldForm) != (rec.reason == decision.DisallowedNormalized) && !overlaid(rec):
		return contradicted(fieldForm, fmt.Sprintf("is %q, and the reason is %s", rec.text[fieldForm], rec.text[fieldReason]))
	}
	if token := rec.text[fieldToken]; len(token) > 0 && string(token) != "*" {
		for _, t := range rec.tokens {
			if bytes.Equal(t, token) {
				return finding{}
			}
		}
		return contradicted(fieldToken, fmt.Sprintf("is %q, which is not among the tokens", token))
	}
	return finding{}
}

// ownRobots checks which fields about a robots.txt stand together.
func ownRobots(l *line) finding {
	rec := &l.record
	hasFile := rec.had(fieldRobotsSHA256)
	if sum := rec.text[fieldRobotsSHA256]; hasFile && (len(sum) != 64 || strings.Trim(view(sum), "0123456789abcdef") != "") {
		return contradicted(fieldRobotsSHA256, "is no SHA-256 in lower-case hex")
	}
	for _, f := range []field{fieldRobotsSize, fieldArchived} {
		if rec.had(f) != hasFile {
			return contradicted(f, "and robots_sha256 do not stand together")
		}
	}
	if rec.had(fieldTruncated) && (!hasFile || !rec.flag[fieldTruncated]) {
		return contradicted(fieldTruncated, "stands without a robots.txt")
	}
	own := rec.is(fieldSource, string(decision.SourceOverride))
	hasCopy := rec.had(fieldValidatedAt)
	if rec.had(fieldRobotsURL) != (rec.had(fieldSource) && !own) {
		return contradicted(fieldRobotsURL, "and source do not stand together")
	}
	if hasFile && !own && !hasCopy {
		return contradicted(fieldValidatedAt, "is missing")
	}
	for _, f := range []field{fieldFetchedAt, fieldExpiresAt, fieldAge} {
		if rec.had(f) != hasCopy {
			return contradicted(f, "and validated_at do not stand together")
		}
	}
	for _, f := range []field{fieldFetchUserAgent, fieldRobotsFinalURL} {
		if rec.had(f) && !hasCopy {
			return contradicted(f, "stands without a robots.txt")
		}
	}
	if hasCopy && (own || !rec.had(fieldSource)) {
		return contradicted(fieldSource, "does not fit a robots.txt that was fetched")
	}
	return finding{}
}

// ownDates checks that the dates follow each other and that age is what they
// and the line's time give.
func ownDates(l *line) finding {
	rec := &l.record
	if !rec.had(fieldValidatedAt) {
		return finding{}
	}
	var at [3]time.Time
	for i, f := range []field{fieldFetchedAt, fieldValidatedAt, fieldExpiresAt} {
		t, ok := parseUTC(rec.text[f])
		if !ok {
			return contradicted(f, fmt.Sprintf("is %q, which is no time in UTC", rec.text[f]))
		}
		at[i] = t
	}
	fetched, validated, expires := at[0], at[1], at[2]
	switch lifetime := expires.Sub(validated); {
	case validated.Before(fetched):
		return contradicted(fieldValidatedAt, "is before fetched_at")
	case lifetime < 0 || lifetime > longestFresh+slack:
		return contradicted(fieldExpiresAt, "is no lifetime of up to a day after validated_at")
	}
	if l.at.IsZero() || l.local || l.took < 0 {
		return finding{}
	}
	begin := began(l)
	age := time.Duration(rec.number[fieldAge]) * time.Second
	if rec.number[fieldAge] > 1e9 || age < begin.Sub(validated)-slack || age > max(0, l.at.Sub(validated))+slack {
		return contradicted(fieldAge, fmt.Sprintf("is %d s, and by the dates it was %d s", rec.number[fieldAge], int(begin.Sub(validated)/time.Second)))
	}
	stale := rec.is(fieldSource, string(decision.SourceStale))
	switch {
	case validated.After(l.at.Add(longestSkew)):
		return contradicted(fieldValidatedAt, "is after the request")
	case stale && expires.After(l.at.Add(slack)):
		return contradicted(fieldSource, "is stale, and the copy was fresh")
	case !stale && expires.Before(begin.Add(-slack)):
		return contradicted(fieldSource, "is not stale, and the copy had expired")
	}
	return finding{}
}

// parseUTC reads a time as records have it: 2006-01-02T15:04:05Z.
func parseUTC(text []byte) (time.Time, bool) {
	const form = "0000-00-00T00:00:00Z"
	if len(text) != len(form) {
		return time.Time{}, false
	}
	var parts [6]int
	part := 0
	for i, c := range text {
		switch {
		case form[i] == '0' && '0' <= c && c <= '9':
			parts[part] = parts[part]*10 + int(c-'0')
		case form[i] != '0' && form[i] == c:
			part++
		default:
			return time.Time{}, false
		}
	}
	year, month, day, hour, minute, second := parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	// Years begin in March here, so that the leap day is their last.
	if month < 3 {
		year, month = year-1, month+12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
	t := time.Unix(int64(days)*86400+int64(hour*3600+minute*60+second), 0)
	// 30 February would have become a day in March.
	return t, day <= 28 || t.UTC().Day() == day
}
