package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// verifier decides records again, one at a time, with the code that decided
// them first. It is the lookup and the clock of its judge.
type verifier struct {
	lib   *library
	judge judge.Judge

	// What the judge is given, and what it makes of it.
	subject judge.Subject
	answer  cache.Answer
	copy    cache.Copy
	at      time.Time
	derived decision.Record
	// asked: the judge wanted the origin's robots.txt.
	asked bool
	// gone is why it could not have it.
	gone string

	// policy and body are those of the record before: most have the same.
	policy  *archivedPolicy
	body    *archivedBody
	origins map[string]origin.Origin
}

// maxOrigins bounds the origins that are not parsed anew.
const maxOrigins = 10_000

func newVerifier(lib *library) *verifier {
	v := &verifier{lib: lib, origins: map[string]origin.Origin{}}
	v.judge = judge.Judge{Lookup: v, Guard: noGuard{}, Now: func() time.Time { return v.at }}
	return v
}

// noGuard allows every origin: which addresses a gate may dial is no part of
// its policy, and what it refused is attested.
type noGuard struct{}

func (noGuard) CheckOrigin(origin.Origin) error { return nil }

// Lookup gives the judge the archived answer of the record.
func (v *verifier) Lookup(context.Context, origin.Origin, string, string) cache.Answer {
	v.asked = true
	return v.answer
}

func impossible(what string) finding { return finding{outcome: Impossible, what: what} }

func contradicted(f field, what string) finding {
	return finding{outcome: Contradicted, field: f, what: what}
}

// verify decides one record again.
func (v *verifier) verify(l *line) finding {
	rec := &l.record
	switch {
	case rec.flaw != "":
		return contradicted(fieldByName(rec.flaw), "is not of its kind, or stands there twice")
	case rec.unknown != nil:
		return contradicted(fieldV, fmt.Sprintf("the record has the field %q, which version %d does not know", rec.unknown, decision.Version))
	case rec.number[fieldV] != decision.Version:
		return contradicted(fieldV, fmt.Sprintf("is %d; this is the verify of version %d", rec.number[fieldV], decision.Version))
	}
	f := v.derive(l)
	if f.outcome == Contradicted {
		return f
	}
	// Only now is the logged verdict looked at.
	rec.reason = internReason(rec.text[fieldReason])
	if own := ownContradiction(l); own.outcome == Contradicted {
		return own
	}
	if f.outcome == Impossible {
		return f
	}
	return v.compare(l)
}

// derive decides the record from its evidence and leaves the decision in
// v.derived. Its finding is Impossible where evidence is gone, Contradicted
// where what there is cannot be evidence, and else Rederived.
func (v *verifier) derive(l *line) finding {
	rec := &l.record
	v.derived, v.asked, v.gone = decision.Record{}, false, ""
	if !rec.had(fieldPolicy) {
		return finding{} // no gate stood before the forwarder
	}
	policy := v.policyOf(rec)
	switch {
	case policy.gone != "":
		return impossible(policy.gone)
	case !l.hasHeaders:
		return impossible("its line has no request headers, and so no User-Agent")
	case l.userAgents <= 1 && lossy(l.userAgent):
		return impossible("its User-Agent has octets that a log cannot hold")
	case policy.dated && (l.at.IsZero() || l.local):
		return impossible("its line has no time, or none with a zone, to hold the dates of overrides against")
	}
	v.at = began(l)
	v.subject = judge.Subject{UserAgent: view(l.userAgent), Tokens: policy.tokens}
	if policy.tokensVary {
		v.subject.Tokens = ownStrings(rec.tokens)
	}
	if !rec.had(fieldURL) {
		policy.compiled.Identify(&v.subject, &v.derived)
		return finding{}
	}
	url := rec.text[fieldURL]
	if lossy(url) {
		return impossible("its URL has octets that a log cannot hold")
	}
	target, f := v.targetOf(l)
	if f.outcome == Contradicted {
		return f
	}
	v.subject.Target = target
	if policy.compiled.Redact != "" && redacted(url) {
		return impossible("the values of its query are redacted")
	}
	if f := v.evidence(l); f.outcome != Rederived {
		return f
	}
	if isTunnel(l) {
		v.judge.DecideTunnel(context.Background(), policy.compiled, &v.subject, &v.derived)
	} else {
		v.judge.Decide(context.Background(), policy.compiled, &v.subject, &v.derived)
	}
	switch o := v.derived.Override; {
	case o != nil && slices.Contains(policy.missing, o.Origin):
		return impossible("the robots file of its override is not in the archive")
	case v.asked && v.gone != "":
		return impossible(v.gone)
	}
	return finding{}
}

func (v *verifier) policyOf(rec *record) *archivedPolicy {
	if v.policy == nil || v.policy.hash != string(rec.text[fieldPolicy]) {
		v.policy = v.lib.policy(rec.text[fieldPolicy])
	}
	return v.policy
}

func (v *verifier) bodyOf(rec *record) *archivedBody {
	if v.body == nil || v.body.sum != string(rec.text[fieldRobotsSHA256]) {
		v.body = v.lib.body(rec.text[fieldRobotsSHA256])
	}
	return v.body
}

// targetOf is the target that the record names, which must name it in normal
// form.
func (v *verifier) targetOf(l *line) (origin.Target, finding) {
	if target, ok := v.plainTarget(&l.record); ok {
		return target, finding{}
	}
	url := view(l.record.text[fieldURL])
	target, err := origin.ParseTarget(url)
	if err != nil {
		return target, contradicted(fieldURL, "is no target: "+err.Error())
	}
	if string(l.method) == "OPTIONS" && url == target.Origin.String() {
		target.Path = "*"
	}
	if got := target.URL(); got != url {
		return target, contradicted(fieldURL, fmt.Sprintf("is %q, whose normal form is %q", url, got))
	}
	return target, finding{}
}

// plainTarget is the target of a URL whose path has nothing to escape, which is
// most of them, without taking the URL apart.
func (v *verifier) plainTarget(rec *record) (origin.Target, bool) {
	rest, found := bytes.CutPrefix(rec.text[fieldURL], rec.text[fieldOrigin])
	if !found || len(rest) == 0 || rest[0] != '/' {
		return origin.Target{}, false
	}
	path, query, hasQuery := bytes.Cut(rest, []byte{'?'})
	for _, c := range path {
		if !plainOctet[c] {
			return origin.Target{}, false
		}
	}
	for _, c := range query {
		if c <= ' ' || c == 0x7f || c == '#' {
			return origin.Target{}, false
		}
	}
	o, known := v.origins[string(rec.text[fieldOrigin])]
	if !known {
		text := string(rec.text[fieldOrigin])
		var err error
		if o, err = origin.Parse(text); err != nil || o.String() != text {
			return origin.Target{}, false
		}
		if len(v.origins) >= maxOrigins {
			clear(v.origins)
		}
		v.origins[text] = o
	}
	return origin.Target{Origin: o, Path: view(path), Query: view(query), HasQuery: hasQuery}, true
}

// plainOctet marks the octets that no URL parser changes in a path.
var plainOctet = func() (plain [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~" {
		plain[c] = true
	}
	return plain
}()

// evidence lays out what the origin had said, as far as the record tells.
func (v *verifier) evidence(l *line) finding {
	rec := &l.record
	status := int(rec.number[fieldRobotsStatus])
	v.answer = cache.Answer{Source: cache.Source(sourceOf(rec)), Status: status}
	switch {
	case rec.is(fieldSource, string(decision.SourceOverride)):
		// The policy has the override and its file.
	case rec.had(fieldRobotsSHA256):
		body := v.bodyOf(rec)
		if body.gone != "" {
			v.gone = body.gone
			return finding{}
		}
		if status < 200 || status > 299 || status == 206 {
			return contradicted(fieldRobotsStatus, fmt.Sprintf("is %d, under which no robots.txt counts", status))
		}
		v.copy = *body.copy
		v.use(l, status)
	case rec.had(fieldValidatedAt):
		if (status < 400 || status > 499 || status == 429) && (status < 300 || status > 399) && status != 0 {
			return contradicted(fieldRobotsStatus, fmt.Sprintf("is %d, under which robots.txt does not count as unavailable", status))
		}
		v.copy = *unavailable
		v.use(l, status)
	default:
		v.answer.Unreachable = true
		v.answer.Err = errors.New(string(rec.text[fieldError]))
	}
	return finding{}
}

// unavailable is an origin without robots.txt.
var unavailable = cache.NewCopy(cache.StateUnavailable, 0, nil)

// use makes v.copy the answer, with what the record says of it.
func (v *verifier) use(l *line, status int) {
	rec := &l.record
	v.copy.Status = status
	v.copy.RobotsURL = v.robotsURL(rec)
	v.copy.FinalURL = view(rec.text[fieldRobotsFinalURL])
	v.copy.FetchUserAgent = view(rec.text[fieldFetchUserAgent])
	v.answer.Copy = &v.copy
}

// robotsURL is the URL of the target's robots.txt: the logged one, if it is.
func (v *verifier) robotsURL(rec *record) string {
	logged := rec.text[fieldRobotsURL]
	if path, found := bytes.CutPrefix(logged, rec.text[fieldOrigin]); found && string(path) == "/robots.txt" {
		// That origin is the target's is compared with the rest.
		return view(logged)
	}
	return v.subject.Target.Origin.RobotsURL()
}

func sourceOf(rec *record) decision.Source {
	for _, s := range []decision.Source{
		decision.SourceMemory, decision.SourceStorage, decision.SourceFetched, decision.SourceCoalesced,
		decision.SourceStale, decision.SourceOverride,
	} {
		if rec.is(fieldSource, string(s)) {
			return s
		}
	}
	return ""
}

// isTunnel reports whether the request is a CONNECT for a tunnel. WebSocket
// over HTTP/2 is a CONNECT as well (RFC 8441), but asks for a path.
func isTunnel(l *line) bool {
	if string(l.method) != "CONNECT" || len(l.uri) > 0 && l.uri[0] == '/' {
		return false
	}
	rest, found := bytes.CutPrefix(l.record.text[fieldURL], l.record.text[fieldOrigin])
	return found && string(rest) == "/" && bytes.HasPrefix(l.record.text[fieldURL], []byte("https://"))
}

// maybeWebSocket reports whether what looks like a tunnel may be a WebSocket
// over HTTP/2 to the path /, which only request>uri could tell.
func maybeWebSocket(l *line) bool {
	return len(l.uri) == 0 && bytes.HasPrefix(l.proto, []byte("HTTP/2")) && isTunnel(l)
}

// began is when the request began: the gate decides at once.
func began(l *line) time.Time {
	if l.took > 0 {
		return l.at.Add(-l.took)
	}
	return l.at
}

// lossy reports whether an encoder of JSON had to replace octets.
func lossy(text []byte) bool { return bytes.Contains(text, []byte("\ufffd")) }

// redacted reports whether the URL has a query with anything in it to redact.
func redacted(url []byte) bool {
	_, query, _ := bytes.Cut(url, []byte{'?'})
	return bytes.Contains(query, []byte("REDACTED"))
}

// ownStrings copies tokens out of the log's buffer: matchers keep them.
func ownStrings(tokens [][]byte) []string {
	out := make([]string, 0, len(tokens))
	for _, token := range tokens {
		out = append(out, string(token))
	}
	return out
}

// trimmed does to configured tokens what the gate does.
func trimmed(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	for _, token := range tokens {
		if t := strings.TrimSpace(token); t != "" {
			out = append(out, t)
		}
	}
	return out
}

func hasPlaceholder(template string) bool { return strings.Contains(template, "{") }

func fieldByName(name string) field {
	return min(fieldOf([]byte(name)), numFields-1)
}
