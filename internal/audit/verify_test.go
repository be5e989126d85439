package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/dialguard"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// shelf is an archive in memory.
type shelf struct {
	bodies, policies map[string][]byte
	reads            map[string]int
}

func newShelf() *shelf {
	return &shelf{bodies: map[string][]byte{}, policies: map[string][]byte{}, reads: map[string]int{}}
}

func (s *shelf) Body(_ context.Context, sum string) ([]byte, error) { return s.get(s.bodies, sum) }

func (s *shelf) Policy(_ context.Context, hash string) ([]byte, error) {
	return s.get(s.policies, hash)
}

func (s *shelf) get(from map[string][]byte, key string) ([]byte, error) {
	s.reads[key]++
	if value, ok := from[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (s *shelf) keep(t testing.TB, p judge.Policy) *judge.Compiled {
	t.Helper()
	compiled, err := p.Compile()
	if err != nil {
		t.Fatal(err)
	}
	s.policies[compiled.Hash] = compiled.Canonical()
	return compiled
}

func (s *shelf) keepBody(body string) string {
	sum := hashOf([]byte(body))
	s.bodies[sum] = []byte(body)
	return sum
}

const rulesFile = "User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: examplebot\nDisallow: /bots\nDisallow: /\xff\n"

// given answers a judge as a gate's cache and address policy would.
type given struct {
	answer cache.Answer
	err    error
}

func (g given) Lookup(context.Context, origin.Origin, string, string) cache.Answer { return g.answer }

func (g given) CheckOrigin(origin.Origin) error { return g.err }

// request is one request to a gate, for which a test writes a line.
type request struct {
	name      string
	policy    func(*judge.Policy)
	method    string
	userAgent string
	url       string
	tokens    []string
	given     given
	// robots is the file that counts, and compiled the policy, where they are
	// not the usual ones.
	robots   string
	compiled *judge.Compiled
	// change is what handlers after the gate do to the record.
	change func(*decision.Record)
	// webSocket: a CONNECT of HTTP/2 that asks for a path.
	webSocket bool
	// drop takes fields off the line's request.
	drop []string
	want Outcome
	// cause is that of an attested or impossible outcome.
	cause string
}

func rulesCopy(source cache.Source) given { return fileCopy(rulesFile, source) }

func fileCopy(robots string, source cache.Source) given {
	c := cache.NewCopy(cache.StateRules, 200, []byte(robots))
	return given{answer: cache.Answer{Copy: dated(c, source), Source: source, Status: 200}}
}

// dated gives a copy times before noon.
func dated(c *cache.Copy, source cache.Source) *cache.Copy {
	c.RobotsURL, c.FetchUserAgent = "https://a.example/robots.txt", "ExampleBot/1.0"
	c.FetchedAt, c.ValidatedAt, c.ExpiresAt = noon.Add(-2*time.Hour), noon.Add(-time.Hour), noon.Add(20*time.Hour)
	if source == cache.SourceStale {
		c.ExpiresAt = noon.Add(-time.Minute)
	}
	return c
}

func missing(status int) given {
	return given{answer: cache.Answer{Copy: dated(cache.NewCopy(cache.StateUnavailable, status, nil), ""), Source: cache.SourceMemory, Status: status}}
}

func failed(err error) given {
	return given{answer: cache.Answer{Unreachable: true, Source: cache.SourceFetched, Err: err}}
}

func refusedAddress() error {
	return &dialguard.DeniedError{Class: "loopback", Host: "a.example", Addr: netip.MustParseAddrPort("127.0.0.1:443")}
}

const exampleBot = "ExampleBot/1.0 (+https://bot.example/)"

// requests has one row at least for each way in which a record can come about.
func requests() []request {
	report := func(p *judge.Policy) { p.Mode = judge.ModeReport }
	tunnels := func(p *judge.Policy) { p.Tunnels = judge.TunnelsHost }
	override := func(action string, robots []byte) func(*judge.Policy) {
		return func(p *judge.Policy) {
			o := judge.Override{Origin: "a.example", Action: action, Owner: "legal", Reason: "contract", Until: "2026-03-01"}
			if robots != nil {
				o.Robots, o.RobotsSHA256 = robots, hashOf(robots)
			}
			p.Overrides = []judge.Override{o}
		}
	}
	deny := func(reason decision.Reason, text string) func(*decision.Record) {
		return func(r *decision.Record) { r.Enforced, r.Error = true, text; r.Denied(reason) }
	}
	return []request{
		{name: "a rule disallows", url: "https://a.example/bots/x"},
		{name: "a rule allows", userAgent: "curl/8", url: "https://a.example/private/open"},
		{name: "a rule of octets that are no text", url: "https://a.example/%FF"},
		{name: "no rule", url: "https://a.example/x?q=1"},
		{name: "another form", url: "https://a.example/x/../bots"},
		{name: "as written", policy: func(p *judge.Policy) { p.Paths = judge.PathsRFC }, url: "https://a.example/x/../bots"},
		{name: "report mode", policy: report, url: "https://a.example/bots"},
		{name: "report mode, the origin failed", policy: report, url: "https://a.example/bots", change: func(r *decision.Record) { r.Error = "refused" }},
		{name: "the origin failed", url: "https://a.example/x", change: func(r *decision.Record) { r.Error = "refused" }},
		{name: "a browser", userAgent: browser, url: "https://a.example/bots"},
		{name: "no User-Agent", userAgent: "-", url: "https://a.example/private"},
		{name: "robots.txt", url: "https://a.example/robots.txt"},
		{name: "configured token", policy: func(p *judge.Policy) { p.Tokens = []string{" otherbot "} }, tokens: []string{"otherbot"}, url: "https://a.example/private"},
		{name: "token of the request", policy: func(p *judge.Policy) { p.Tokens = []string{"{http.x}"} }, tokens: []string{"examplebot"}, url: "https://a.example/bots"},
		{name: "configured job", policy: func(p *judge.Policy) { p.Job = "prices" }, url: "https://a.example/x", change: func(r *decision.Record) { r.Job = "prices" }},
		{name: "job of the request", policy: func(p *judge.Policy) { p.Job = "{http.x}" }, url: "https://a.example/x", change: func(r *decision.Record) { r.Job = "news" }},
		{name: "override allows", policy: override("allow", nil), url: "https://a.example/bots"},
		{name: "override denies", policy: override("deny", nil), url: "https://a.example/x"},
		{name: "override follows a file", policy: override("rules", []byte("User-agent: *\nDisallow: /x\n")), url: "https://a.example/x"},
		{name: "override is past", policy: func(p *judge.Policy) { override("deny", nil)(p); p.Overrides[0].Until = "2026-02-28" }, url: "https://a.example/x"},
		{name: "OPTIONS *", method: "OPTIONS", url: "https://a.example*"},
		{name: "stale", given: rulesCopy(cache.SourceStale), url: "https://a.example/bots"},
		{name: "a tunnel", method: "CONNECT", url: "https://a.example/"},
		{name: "a tunnel, in report mode", policy: report, method: "CONNECT", url: "https://a.example/"},
		{name: "a tunnel to a host that disallows something", policy: tunnels, method: "CONNECT", url: "https://a.example/"},
		{name: "a tunnel to a host that disallows nothing", policy: tunnels, method: "CONNECT", url: "https://a.example/", robots: "User-agent: *\nAllow: /\n"},
		{name: "a tunnel to an address refused", policy: tunnels, method: "CONNECT", url: "https://a.example/", given: given{err: refusedAddress()}, want: Attested, cause: attestGuard},
		{name: "a browser's tunnel", policy: tunnels, method: "CONNECT", userAgent: browser, url: "https://a.example/"},
		{name: "a tunnel by override", policy: func(p *judge.Policy) { tunnels(p); override("allow", nil)(p) }, method: "CONNECT", url: "https://a.example/"},
		{name: "a WebSocket", method: "CONNECT", webSocket: true, url: "https://a.example/bots/socket"},
		{name: "a WebSocket to /", method: "CONNECT", webSocket: true, url: "https://a.example/", want: Attested, cause: attestWebSocket},
		{name: "a tunnel, the method is not logged", method: "CONNECT", url: "https://a.example/", drop: []string{"method"}, want: Attested, cause: attestTunnel},
		{name: "unavailable", given: missing(404), url: "https://a.example/x", want: Attested, cause: attestUnavailable},
		{name: "denied by status", policy: func(p *judge.Policy) { p.OnStatus = []judge.StatusRule{{Code: "403", Action: "deny"}} }, given: missing(403), url: "https://a.example/x", want: Attested, cause: attestUnavailable},
		{name: "stale, and the failure's status counts", policy: func(p *judge.Policy) { p.OnStatus = []judge.StatusRule{{Code: "503", Action: "deny"}} }, given: func() given { g := rulesCopy(cache.SourceStale); g.answer.Status = 503; return g }(), url: "https://a.example/x", want: Attested, cause: attestStatus},
		{name: "unreachable", given: failed(errors.New("timeout")), url: "https://a.example/x", want: Attested, cause: attestUnreachable},
		{name: "unreachable, in report mode", policy: report, given: failed(errors.New("timeout")), url: "https://a.example/x", want: Attested, cause: attestUnreachable},
		{name: "unreachable and allowed", policy: func(p *judge.Policy) { p.Unreachable = "allow" }, given: failed(errors.New("timeout")), url: "https://a.example/x", want: Attested, cause: attestUnreachable},
		{name: "overloaded", given: given{answer: cache.Answer{Unreachable: true, Overloaded: true, Source: cache.SourceFetched}}, url: "https://a.example/x", want: Attested, cause: attestOverloaded},
		{name: "address refused", given: given{err: refusedAddress()}, url: "https://a.example/bots", want: Attested, cause: attestGuard},
		{name: "address refused by the fetch", given: failed(refusedAddress()), url: "https://a.example/bots", want: Attested, cause: attestGuard},
		{name: "address refused after an allow", url: "https://a.example/x", change: deny(decision.AddressDenied, "address denied"), want: Attested, cause: attestGuard},
		{name: "address refused after report mode", policy: report, url: "https://a.example/bots", change: deny(decision.AddressDenied, "address denied"), want: Attested, cause: attestGuard},
		{name: "a loop", url: "https://a.example/x", change: deny(decision.Loop, ""), want: Attested, cause: attestLoop},
		{name: "bad target", change: deny(decision.BadTarget, "the target has a #"), want: Attested, cause: attestTarget},
		{name: "misdirected", given: given{err: refusedAddress()}, url: "https://a.example/x", change: deny(decision.AuthorityMismatch, "differs"), want: Attested, cause: attestTarget},
		{name: "panic", change: deny(decision.Internal, ""), want: Attested, cause: attestInternal},
		{name: "no gate", url: "https://a.example/x", change: func(r *decision.Record) {
			*r = decision.Record{Enforced: true, URL: r.URL, Origin: r.Origin, Engine: r.Engine, Gate: r.Gate, Seq: r.Seq}
		}, want: Attested, cause: attestNoGate},
		{name: "refused by interception", url: "https://a.example/x", change: func(r *decision.Record) {
			*r = decision.Record{
				URL: r.URL, Origin: r.Origin, Engine: r.Engine, Gate: r.Gate, Seq: r.Seq,
				Bot: r.Bot, Agent: r.Agent, Tokens: r.Tokens, TokenSource: r.TokenSource,
			}
			deny(decision.AuthorityMismatch, "differs")(r)
		}, want: Attested, cause: attestNoGate},
		{name: "redacted", policy: func(p *judge.Policy) { p.Redact = "query" }, url: "https://a.example/x?q=1", change: func(r *decision.Record) { r.Redact = true }, want: Impossible, cause: "the values of its query are redacted"},
		{name: "redacted, without a query", policy: func(p *judge.Policy) { p.Redact = "query" }, url: "https://a.example/bots", change: func(r *decision.Record) { r.Redact = true }},
		{name: "no headers in the log", url: "https://a.example/x", drop: []string{"headers"}, want: Impossible, cause: "its line has no request headers, and so no User-Agent"},
		{name: "octets that are no text", userAgent: "Example\ufffdBot", url: "https://a.example/x", want: Impossible, cause: "its User-Agent has octets that a log cannot hold"},
	}
}

// line has the request judged and writes the line that Caddy would.
func (q *request) line(t testing.TB, s *shelf, seq int) string {
	t.Helper()
	policy := judge.Default()
	if q.policy != nil {
		q.policy(&policy)
	}
	for _, o := range policy.Overrides {
		if o.Robots != nil {
			s.keepBody(string(o.Robots))
		}
	}
	compiled := q.compiled
	if compiled == nil {
		compiled = s.keep(t, policy)
	}
	robots := orWord(q.robots, rulesFile)
	s.keepBody(robots)
	userAgent := exampleBot
	if q.userAgent != "" {
		userAgent = strings.TrimPrefix(q.userAgent, "-")
	}
	g := q.given
	if g.answer == (cache.Answer{}) && g.err == nil {
		g = fileCopy(robots, cache.SourceMemory)
	}
	rec := &decision.Record{Enforced: true, Engine: "1.0.0", Gate: "0123456789abcdef", Seq: uint64(seq), Policy: compiled.Hash}
	j := judge.Judge{Lookup: g, Guard: g, Now: func() time.Time { return noon }}
	subject := judge.Subject{UserAgent: userAgent, Tokens: q.tokens}
	if q.url == "" {
		compiled.Identify(&subject, rec)
	} else {
		target, err := origin.ParseTarget(strings.TrimSuffix(q.url, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(q.url, "*") {
			target.Path = "*"
		}
		subject.Target = target
		if q.method == "CONNECT" && !q.webSocket {
			j.DecideTunnel(t.Context(), compiled, &subject, rec)
		} else {
			j.Decide(t.Context(), compiled, &subject, rec)
		}
	}
	if !rec.ValidatedAt.IsZero() {
		rec.Age, rec.RobotsURL = 3600, rec.Origin+"/robots.txt"
	}
	if q.change != nil {
		q.change(rec)
	}
	proto := "HTTP/1.1"
	if q.webSocket {
		proto = "HTTP/2.0"
	}
	req := map[string]any{"proto": proto, "method": orWord(q.method, "GET"), "headers": map[string]any{"User-Agent": []string{userAgent}, "Accept": []string{"*/*"}}}
	if userAgent == "" {
		req["headers"] = map[string]any{"Accept": []string{"*/*"}}
	}
	for _, name := range q.drop {
		delete(req, name)
	}
	encoded, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"level":"info","ts":%d.75,"logger":"http.log.access.log0","msg":"handled request","request":%s,"duration":0.5,"status":200,"robots":%s}`,
		noon.Unix(), encoded, rec.JSON())
}

func orWord(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

func verify(t *testing.T, s Archive, text string) *Verification {
	t.Helper()
	v, err := Verify(t.Context(), []Log{logOf(text)}, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVerify: a sound record is never contradicted, and each is counted as what
// it is.
func TestVerify(t *testing.T) {
	for _, q := range requests() {
		t.Run(q.name, func(t *testing.T) {
			s := newShelf()
			line := q.line(t, s, 1)
			v := verify(t, s, line)
			got := map[Outcome]int64{Rederived: v.Rederived, Attested: v.Attested, Impossible: v.Impossible, Contradicted: v.Contradicted}
			if got[q.want] != 1 || v.Records != 1 {
				t.Fatalf("outcomes %v, want %d\n%s\n%v", got, q.want, line, v.Contradictions)
			}
			causes := slices.Concat(v.AttestedFor, v.ImpossibleFor)
			if q.cause != "" && (len(causes) != 1 || causes[0].Cause != q.cause || causes[0].Line != 1) {
				t.Errorf("causes %v, want %q", causes, q.cause)
			}
			if len(v.Gates) != 1 || v.Gates[0].Missing != 0 || v.Gates[0].First != 1 {
				t.Errorf("gates %+v", v.Gates)
			}
		})
	}
}

// TestVerifyEvidenceGone: what the archive lost or no longer holds soundly is
// said, and nothing is decided on it.
func TestVerifyEvidenceGone(t *testing.T) {
	q := request{url: "https://a.example/bots"}
	sum := hashOf([]byte(rulesFile))
	only := func(m map[string][]byte) string {
		for key := range m {
			return key
		}
		return ""
	}
	for name, tt := range map[string]struct {
		change func(*shelf)
		cause  string
	}{
		"no policy":      {func(s *shelf) { clear(s.policies) }, "its policy is not in the archive"},
		"damaged policy": {func(s *shelf) { s.policies[only(s.policies)] = []byte("{}") }, "its policy is damaged in the archive"},
		"no body":        {func(s *shelf) { clear(s.bodies) }, "its robots.txt is not in the archive"},
		"damaged body":   {func(s *shelf) { s.bodies[sum] = []byte("User-agent: *") }, "its robots.txt is damaged in the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			line := q.line(t, s, 1)
			tt.change(s)
			v := verify(t, s, line)
			if v.Impossible != 1 || v.ImpossibleFor[0].Cause != tt.cause {
				t.Errorf("impossible %d, %v; want %q", v.Impossible, v.ImpossibleFor, tt.cause)
			}
		})
	}
	t.Run("override's file", func(t *testing.T) {
		s := newShelf()
		body := []byte("User-agent: *\nDisallow: /\n")
		policy := func(p *judge.Policy) {
			p.Overrides = []judge.Override{{Origin: "b.example", Action: judge.WordRules, Robots: body, RobotsSHA256: hashOf(body)}}
		}
		touched, other := request{policy: policy, url: "https://b.example/x"}, request{policy: policy, url: "https://a.example/x"}
		text := touched.line(t, s, 1) + "\n" + other.line(t, s, 2)
		delete(s.bodies, hashOf(body))
		if v := verify(t, s, text); v.Impossible != 1 || v.Rederived != 1 {
			t.Errorf("impossible %d, re-derived %d; %v %v", v.Impossible, v.Rederived, v.ImpossibleFor, v.Contradictions)
		}
	})
}

// TestVerifyReadsOnce: each robots.txt and each policy is read once.
func TestVerifyReadsOnce(t *testing.T) {
	s := newShelf()
	var text strings.Builder
	q := request{url: "https://a.example/bots"}
	for seq := 1; seq <= 5000; seq++ {
		text.WriteString(q.line(t, s, seq) + "\n")
	}
	if v := verify(t, s, text.String()); v.Rederived != 5000 || v.Gates[0].Records != 5000 || v.Gates[0].Missing != 0 {
		t.Errorf("re-derived %d, gates %+v", v.Rederived, v.Gates)
	}
	for key, n := range s.reads {
		if n != 1 {
			t.Errorf("%s was read %d times", key, n)
		}
	}
}

// TestSequences: numbers come in any order; gaps and duplicates are told.
func TestSequences(t *testing.T) {
	s := newSequences()
	add := func(gate string, from, to uint64) {
		for n := to; n >= from; n-- {
			s.add(&numbered{gate: []byte(gate), engine: []byte("1"), seq: n})
		}
	}
	add("b", 5, 10_000)
	add("b", 10_003, 10_003)
	add("b", 20_000, 20_001)
	add("b", 7, 8)
	add("a", 1, 3*pageNumbers)
	want := []GateSequence{
		{Gate: "a", Engine: "1", Records: 3 * pageNumbers, First: 1, Last: 3 * pageNumbers},
		{
			Gate: "b", Engine: "1", Records: 10_001, First: 5, Last: 20_001, Missing: 2 + 9996, Duplicates: 2,
			Gaps: []Gap{{10_001, 10_002}, {10_004, 19_999}},
		},
	}
	if got := fmt.Sprintf("%+v", s.list()); got != fmt.Sprintf("%+v", want) {
		t.Errorf("sequences\n got %s\nwant %+v", got, want)
	}
	if got := s.add(&numbered{gate: []byte("a"), engine: []byte("2"), seq: 4}); got != "1" {
		t.Errorf("another engine is not noticed: %q", got)
	}
}
