package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotsgate/robotsgate/agent"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
)

// The causes of attested records. Only the gate saw what they rest on.
const (
	attestNoGate      = "no gate looked at the request: interception refused it, or none stood before the forwarder"
	attestGuard       = "the address policy refused the destination"
	attestTarget      = "the target could not be judged, or was not the tunnel's"
	attestLoop        = "the request came through the gate before"
	attestInternal    = "the gate failed while it decided"
	attestOverloaded  = "too many robots.txt fetches were in flight"
	attestUnreachable = "robots.txt could not be read"
	attestUnavailable = "the origin had no robots.txt: its status is all there is"
	attestStatus      = "a later status of robots.txt counted by `on_status`"
	attestWebSocket   = "the line does not say whether it was a tunnel or a WebSocket"
	attestTunnel      = "a tunnel was refused, and the line does not say that it was one"
)

// attestedCause names, by reason, what only the gate saw; "" where the reason
// can be derived.
func attestedCause(reason decision.Reason) string {
	switch reason {
	case decision.AddressDenied, decision.PortDenied:
		return attestGuard
	case decision.BadTarget, decision.AuthorityMismatch:
		return attestTarget
	case decision.Loop:
		return attestLoop
	case decision.Internal:
		return attestInternal
	case decision.Overloaded:
		return attestOverloaded
	case decision.Unreachable, decision.UnreachableAllowed:
		return attestUnreachable
	case decision.Unavailable, decision.StatusDenied:
		return attestUnavailable
	}
	return ""
}

// overlaid reports whether the record ends with a denial that may stand over an
// earlier decision, whose evidence is then still there.
func overlaid(rec *record) bool {
	switch rec.reason {
	case decision.AddressDenied, decision.PortDenied, decision.BadTarget, decision.AuthorityMismatch, decision.Loop, decision.Internal:
		return true
	}
	return false
}

// compare holds the logged record against v.derived.
func (v *verifier) compare(l *line) finding {
	rec := &l.record
	reason := rec.reason
	if !rec.had(fieldPolicy) {
		return compareWithoutGate(l)
	}
	if reason == decision.Internal {
		return v.compareInternal(l)
	}
	if f := v.compareWho(l); f.outcome == Contradicted {
		return f
	}
	switch {
	case reason == decision.Overloaded:
		return v.compareOverloaded(rec)
	case overlaid(rec):
		return v.compareOverlaid(rec, reason)
	case !rec.had(fieldURL):
		return contradicted(fieldURL, "is missing")
	}
	cause := attestedCause(reason)
	if other := v.suppose(l, reason); other != "" {
		cause = other
	}
	if f := v.compareVerdict(rec, reason); f.outcome == Contradicted {
		return f
	}
	if f := v.compareEvidence(rec, false); f.outcome == Contradicted {
		return f
	}
	if rec.had(fieldError) && v.derived.Refused() && reason != decision.Unreachable {
		return contradicted(fieldError, "stands on a denial that no origin was asked for")
	}
	if cause != "" {
		return finding{outcome: Attested, what: cause}
	}
	return finding{}
}

// compareInternal is for requests on which the gate panicked: their records end
// anywhere, and what they have must fit.
func (v *verifier) compareInternal(l *line) finding {
	rec := &l.record
	if rec.had(fieldTokenSource) {
		if f := v.compareWho(l); f.outcome == Contradicted {
			return f
		}
	} else if rec.flag[fieldBot] || rec.had(fieldAgent) || rec.had(fieldTokens) {
		return contradicted(fieldTokenSource, "is missing, and the record says who asked")
	}
	if !rec.had(fieldURL) {
		v.derived = decision.Record{}
	}
	if f := v.compareEvidence(rec, true); f.outcome == Contradicted {
		return f
	}
	if (rec.had(fieldRule) || rec.had(fieldOverride)) && v.derived.Refused() {
		return contradicted(fieldReason, fmt.Sprintf("is internal, and the gate had come to %s", v.derived.Reason))
	}
	return finding{outcome: Attested, what: attestInternal}
}

// compareWithoutGate is for records of requests that reached no gate: those
// that interception refused, and all of a forwarder without a gate.
func compareWithoutGate(l *line) finding {
	rec := &l.record
	for _, f := range []field{fieldToken, fieldRule, fieldRobotsURL, fieldRobotsStatus, fieldSource, fieldOverride, fieldJob, fieldForm} {
		if rec.had(f) {
			return contradicted(fieldPolicy, fmt.Sprintf("is missing, and %s says that a gate decided", f))
		}
	}
	var who agent.Agent
	var source decision.TokenSource
	if rec.had(fieldTokenSource) {
		if !l.hasHeaders || lossy(l.userAgent) {
			return impossible("its line has no User-Agent that could be identified")
		}
		who, source = agent.Identify(view(l.userAgent)), decision.TokenFromUserAgent
	}
	if f := compareAgent(rec, who.Bot, who.Name, source, who.Tokens()); f.outcome == Contradicted {
		return f
	}
	switch {
	case !rec.flag[fieldEnforced]:
		return contradicted(fieldEnforced, "is false, and no gate decided")
	case !rec.had(fieldReason):
		return finding{outcome: Attested, what: attestNoGate}
	case rec.reason == decision.TunnelOpaque, overlaid(rec):
		return finding{outcome: Attested, what: attestNoGate}
	}
	return contradicted(fieldPolicy, fmt.Sprintf("is missing, and the reason is %s", rec.reason))
}

// compareWho compares who asked, and whose request it was.
func (v *verifier) compareWho(l *line) finding {
	rec, d := &l.record, &v.derived
	if job := v.policy.compiled.Job; !v.policy.jobVaries && !same(rec.text[fieldJob], job) {
		return differs(fieldJob, rec.text[fieldJob], job)
	}
	return compareAgent(rec, d.Bot, d.Agent, d.TokenSource, d.Tokens)
}

func compareAgent(rec *record, bot bool, name string, source decision.TokenSource, tokens []string) finding {
	switch {
	case rec.flag[fieldBot] != bot:
		return contradicted(fieldBot, fmt.Sprintf("is %v, derived %v", rec.flag[fieldBot], bot))
	case !same(rec.text[fieldAgent], name):
		return differs(fieldAgent, rec.text[fieldAgent], name)
	case !same(rec.text[fieldTokenSource], string(source)):
		return differs(fieldTokenSource, rec.text[fieldTokenSource], string(source))
	case !sameTokens(rec.tokens, tokens):
		return contradicted(fieldTokens, fmt.Sprintf("are %q, derived %q", rec.tokens, tokens))
	}
	return finding{}
}

// compareOverlaid is for denials that came before the robots.txt was looked at,
// or on the way to the origin after an allow.
func (v *verifier) compareOverlaid(rec *record, reason decision.Reason) finding {
	attested := finding{outcome: Attested, what: attestedCause(reason)}
	bare := true
	for _, f := range []field{fieldToken, fieldRule, fieldLine, fieldForm, fieldRobotsURL, fieldRobotsStatus, fieldRobotsSHA256, fieldSource, fieldOverride} {
		bare = bare && !rec.had(f)
	}
	if rec.had(fieldError) == (reason == decision.Loop) {
		return contradicted(fieldError, fmt.Sprintf("does not fit the reason %s", reason))
	}
	if bare && reason != decision.Loop {
		return attested
	}
	if f := v.compareEvidence(rec, false); f.outcome == Contradicted {
		return f
	}
	if v.derived.Refused() && (v.derived.Reason != decision.Unreachable || reason == decision.Loop) {
		return contradicted(fieldReason, fmt.Sprintf("is %s, derived %s %s", reason, v.derived.Decision, v.derived.Reason))
	}
	return attested
}

// compareOverloaded is for requests that found no slot to fetch in.
func (v *verifier) compareOverloaded(rec *record) finding {
	d := &v.derived
	switch {
	case !v.asked || v.answer.Copy != nil:
		return contradicted(fieldReason, fmt.Sprintf("is overloaded, derived %s %s", d.Decision, d.Reason))
	case rec.flag[fieldEnforced] != d.Enforced:
		return contradicted(fieldEnforced, fmt.Sprintf("is %v, derived %v", rec.flag[fieldEnforced], d.Enforced))
	case rec.had(fieldError):
		return contradicted(fieldError, "does not fit the reason overloaded")
	}
	if f := v.compareEvidence(rec, false); f.outcome == Contradicted {
		return f
	}
	return finding{outcome: Attested, what: attestOverloaded}
}

// suppose decides once more under a circumstance that the log does not tell,
// where the logged reason is one that needs it. It returns that circumstance,
// "" without one.
func (v *verifier) suppose(l *line, reason decision.Reason) string {
	policy := v.policy.compiled
	switch {
	case reason == v.derived.Reason:
		return ""
	case reason == decision.TunnelOpaque && len(l.method) == 0:
		v.derived = decision.Record{}
		v.judge.DecideTunnel(context.Background(), policy, &v.subject, &v.derived)
		return attestTunnel
	case maybeWebSocket(l):
		v.derived = decision.Record{}
		v.judge.Decide(context.Background(), policy, &v.subject, &v.derived)
		return attestWebSocket
	case l.record.is(fieldSource, string(decision.SourceStale)):
		// Of a stale copy, the record has the copy's status and not that of
		// the access that failed since, which on_status is held against.
		status := statusFor(policy.OnStatus, reason)
		if status == 0 {
			return ""
		}
		v.answer.Status = status
		v.derived = decision.Record{}
		v.judge.Decide(context.Background(), policy, &v.subject, &v.derived)
		return attestStatus
	}
	return ""
}

// statusFor is a status for which the rules give the reason, 0 without one.
func statusFor(rules []judge.StatusRule, reason decision.Reason) int {
	action := map[decision.Reason]string{
		decision.Unavailable: judge.WordAllow, decision.StatusDenied: judge.WordDeny,
		decision.Unreachable: judge.WordUnreachable, decision.UnreachableAllowed: judge.WordUnreachable,
	}[reason]
	if action == "" {
		return 0
	}
	byCode := map[string]string{}
	for _, r := range rules {
		byCode[r.Code] = r.Action
	}
	for status := 200; status < 600; status++ {
		code := strconv.Itoa(status)
		have, exact := byCode[code]
		if !exact {
			have = byCode[code[:1]+"xx"]
		}
		if have == action {
			return status
		}
	}
	return 0
}

func (v *verifier) compareVerdict(rec *record, reason decision.Reason) finding {
	d := &v.derived
	switch {
	case string(d.Decision) != string(rec.text[fieldDecision]):
		return contradicted(fieldDecision, fmt.Sprintf("is %s (%s), derived %s (%s)", rec.text[fieldDecision], reason, d.Decision, d.Reason))
	case d.Reason != reason:
		return contradicted(fieldReason, fmt.Sprintf("is %s, derived %s", reason, d.Reason))
	case d.Enforced != rec.flag[fieldEnforced]:
		return contradicted(fieldEnforced, fmt.Sprintf("is %v, derived %v", rec.flag[fieldEnforced], d.Enforced))
	}
	return finding{}
}

// compareEvidence compares what the decision rests on. Of a partial record,
// what is there counts.
func (v *verifier) compareEvidence(rec *record, partial bool) finding {
	d := &v.derived
	rule := ""
	if d.Rule.Line != 0 {
		rule = d.Rule.String()
	}
	for _, c := range [...]struct {
		f    field
		want string
	}{
		{fieldURL, d.URL},
		{fieldOrigin, d.Origin},
		{fieldForm, string(d.Form)},
		{fieldToken, d.Token},
		{fieldRule, rule},
		{fieldRobotsURL, d.RobotsURL},
		{fieldRobotsFinalURL, d.RobotsFinalURL},
		{fieldRobotsSHA256, d.RobotsSHA256},
		{fieldSource, string(d.Source)},
	} {
		if !same(rec.text[c.f], c.want) && (!partial || rec.had(c.f)) {
			return differs(c.f, rec.text[c.f], c.want)
		}
	}
	for _, c := range [...]struct {
		f    field
		want int
	}{
		{fieldLine, d.Rule.Line},
		{fieldRobotsStatus, d.RobotsStatus},
		{fieldRobotsSize, d.RobotsSize},
	} {
		if rec.number[c.f] != uint64(c.want) && (!partial || rec.had(c.f)) {
			return contradicted(c.f, fmt.Sprintf("is %d, derived %d", rec.number[c.f], c.want))
		}
	}
	if partial && !rec.had(fieldOverride) {
		return finding{}
	}
	return compareOverride(rec, d.Override)
}

func compareOverride(rec *record, want *decision.Override) finding {
	if rec.had(fieldOverride) != (want != nil) {
		return contradicted(fieldOverride, fmt.Sprintf("is there: %v, derived: %v", rec.had(fieldOverride), want != nil))
	}
	if want == nil {
		return finding{}
	}
	o := &rec.override
	if !same(o.origin, want.Origin) || !same(o.owner, want.Owner) || !same(o.reason, want.Reason) || !same(o.until, want.Until) {
		return contradicted(fieldOverride, fmt.Sprintf("is that of %q, derived that of %q, or another in its owner, reason or date", o.origin, want.Origin))
	}
	return finding{}
}

func differs(f field, logged []byte, derived string) finding {
	return contradicted(f, fmt.Sprintf("is %q, derived %q", logged, derived))
}

// maxText is how long a text field may be; a longer one is cut at a character.
const maxText = 1024

// same compares a logged text with what it was before the encoder cut and
// mended it.
func same(logged []byte, text string) bool {
	if string(logged) == text {
		return true
	}
	if len(text) > maxText {
		end := maxText
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	if !utf8.ValidString(text) {
		text = mended(text)
	}
	return string(logged) == text
}

// mended replaces each octet that is no UTF-8, as the encoder of the log does.
func mended(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

func sameTokens(logged [][]byte, tokens []string) bool {
	return slices.EqualFunc(logged, tokens, same)
}

// remarkOn names what is odd about a record without being a contradiction.
func remarkOn(l *line) string {
	rec := &l.record
	url, uri := rec.text[fieldURL], l.uri
	if len(uri) == 0 || len(url) == 0 || isTunnel(l) || bytes.Contains(url, []byte("REDACTED")) {
		return ""
	}
	_, path, _ := bytes.Cut(url, rec.text[fieldOrigin])
	if bytes.Equal(uri, path) || bytes.Equal(uri, url) || uri[0] != '/' && !bytes.HasPrefix(uri, []byte("http")) {
		return ""
	}
	if sameTarget(view(uri), view(url), view(path)) {
		return ""
	}
	return remarkURI
}

// remarkURI is said of records whose URL is not the one that Caddy logged.
const remarkURI = "url is not request>uri of its line: a rewrite or `target` before the gate, a filter on Caddy's field, or a changed log"
