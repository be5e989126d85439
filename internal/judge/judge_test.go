package judge_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/dialguard"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
)

const file = `User-agent: *
Disallow: /private
Allow: /private/open

User-agent: examplebot
Disallow: /bots
`

// answers is a Lookup that always says the same.
type answers struct {
	cache.Answer
	token string
}

func (a *answers) Lookup(_ context.Context, _ origin.Origin, _, token string) cache.Answer {
	a.token = token
	return a.Answer
}

type guard struct{ err error }

func (g guard) CheckOrigin(origin.Origin) error { return g.err }

func rules() cache.Answer {
	return cache.Answer{Copy: cache.NewCopy(cache.StateRules, 200, []byte(file)), Source: cache.SourceMemory}
}

func unavailable(status int) cache.Answer {
	return cache.Answer{Copy: cache.NewCopy(cache.StateUnavailable, status, nil), Source: cache.SourceMemory, Status: status}
}

func unreachable(status int, err error) cache.Answer {
	return cache.Answer{Unreachable: true, Source: cache.SourceFetched, Status: status, Err: err, RetryAfter: 30 * time.Second}
}

func loopback(host string) *dialguard.DeniedError {
	return &dialguard.DeniedError{Class: "loopback", Host: host, Addr: netip.MustParseAddrPort("127.0.0.1:80")}
}

// TestDecide asserts decision, enforcement, reason, group, rule and form
// together, for each way a decision can go.
func TestDecide(t *testing.T) {
	type want struct {
		decision decision.Verdict
		enforced bool
		reason   decision.Reason
		token    string
		line     int
		form     decision.Form
	}
	const allow, deny = decision.Allow, decision.Deny
	tests := map[string]struct {
		policy func(*judge.Policy)
		answer cache.Answer
		guard  error
		ua     string
		tokens []string
		url    string
		want   want
	}{
		"a rule disallows":                              {answer: rules(), ua: "curl/8", url: "http://h/private/x", want: want{deny, true, "disallowed", "*", 2, ""}},
		"a longer rule allows":                          {answer: rules(), ua: "curl/8", url: "http://h/private/open", want: want{allow, true, "rule_allowed", "*", 3, ""}},
		"no rule speaks":                                {answer: rules(), ua: "curl/8", url: "http://h/free", want: want{allow, true, "no_rule", "*", 0, ""}},
		"a named group excludes the rest":               {answer: rules(), ua: "ExampleBot/1.0", url: "http://h/private/x", want: want{allow, true, "no_rule", "ExampleBot", 0, ""}},
		"configured tokens win":                         {answer: rules(), ua: "curl/8", tokens: []string{"examplebot"}, url: "http://h/bots", want: want{deny, true, "disallowed", "examplebot", 6, ""}},
		"configured tokens may be none":                 {answer: rules(), ua: "ExampleBot/1.0", tokens: []string{}, url: "http://h/bots", want: want{allow, true, "no_rule", "*", 0, ""}},
		"no group at all":                               {answer: cache.Answer{Copy: cache.NewCopy(cache.StateRules, 200, nil)}, ua: "curl/8", url: "http://h/x", want: want{allow, true, "no_group", "*", 0, ""}},
		"another form is disallowed":                    {answer: rules(), ua: "curl/8", url: "http://h/a/../private/x", want: want{deny, true, "disallowed_normalized", "*", 2, "F2"}},
		"paths rfc judges F1 alone":                     {policy: func(p *judge.Policy) { p.Paths = "rfc" }, answer: rules(), ua: "curl/8", url: "http://h/a/../private/x", want: want{allow, true, "no_rule", "*", 0, ""}},
		"robots.txt itself":                             {answer: unreachable(0, errors.New("never asked")), ua: "curl/8", url: "http://h/robots.txt", want: want{allow, true, "robots_txt", "", 0, ""}},
		"robots.txt with a query":                       {answer: cache.Answer{Copy: cache.NewCopy(cache.StateRules, 200, []byte("User-agent: *\nDisallow: /"))}, ua: "curl/8", url: "http://h/robots.txt?", want: want{deny, true, "disallowed", "*", 2, ""}},
		"a browser is not judged":                       {answer: rules(), ua: browser, url: "http://h/private/x", want: want{allow, true, "not_bot", "", 0, ""}},
		"agents all judges browsers too":                {policy: func(p *judge.Policy) { p.Agents = "all" }, answer: rules(), ua: browser, url: "http://h/private/x", want: want{deny, true, "disallowed", "*", 2, ""}},
		"bot extends":                                   {policy: func(p *judge.Policy) { p.Bots = []string{"chrome/124"} }, answer: rules(), ua: browser, url: "http://h/private/x", want: want{deny, true, "disallowed", "*", 2, ""}},
		"not_bot exempts":                               {policy: func(p *judge.Policy) { p.NotBots = []string{"CURL"} }, answer: rules(), ua: "curl/8", url: "http://h/private/x", want: want{allow, true, "not_bot", "", 0, ""}},
		"report mode does not enforce":                  {policy: report, answer: rules(), ua: "curl/8", url: "http://h/private/x", want: want{deny, false, "disallowed", "*", 2, ""}},
		"unavailable":                                   {answer: unavailable(404), ua: "curl/8", url: "http://h/x", want: want{allow, true, "unavailable", "", 0, ""}},
		"unavailable, denied by status":                 {policy: onStatus("403", "deny"), answer: unavailable(403), ua: "curl/8", url: "http://h/x", want: want{deny, true, "status_denied", "", 0, ""}},
		"unavailable, class unreachable":                {policy: onStatus("4xx", "unreachable"), answer: unavailable(404), ua: "curl/8", url: "http://h/x", want: want{deny, true, "unreachable", "", 0, ""}},
		"a code wins over its class":                    {policy: func(p *judge.Policy) { onStatus("4xx", "deny")(p); onStatus("404", "allow")(p) }, answer: unavailable(404), ua: "curl/8", url: "http://h/x", want: want{allow, true, "unavailable", "", 0, ""}},
		"5xx allowed by status":                         {policy: onStatus("503", "allow"), answer: unreachable(503, errors.New("status 503")), ua: "curl/8", url: "http://h/x", want: want{allow, true, "unavailable", "", 0, ""}},
		"unreachable":                                   {answer: unreachable(0, errors.New("timeout")), ua: "curl/8", url: "http://h/x", want: want{deny, true, "unreachable", "", 0, ""}},
		"unreachable allowed":                           {policy: func(p *judge.Policy) { p.Unreachable = "allow" }, answer: unreachable(500, errors.New("status 500")), ua: "curl/8", url: "http://h/x", want: want{allow, true, "unreachable_allowed", "", 0, ""}},
		"overloaded":                                    {policy: func(p *judge.Policy) { p.Unreachable = "allow" }, answer: cache.Answer{Unreachable: true, Overloaded: true}, ua: "curl/8", url: "http://h/x", want: want{deny, true, "overloaded", "", 0, ""}},
		"the guard refuses":                             {policy: report, answer: rules(), guard: loopback("h"), ua: "curl/8", url: "http://h/x", want: want{deny, true, "address_denied", "", 0, ""}},
		"the guard refuses a port":                      {answer: rules(), guard: &dialguard.DeniedError{Class: dialguard.ClassPort}, ua: browser, url: "http://h:9/x", want: want{deny, true, "port_denied", "", 0, ""}},
		"the origin resolves to a refused address":      {policy: report, answer: unreachable(0, loopback("h")), ua: "curl/8", url: "http://h/x", want: want{deny, true, "address_denied", "", 0, ""}},
		"robots.txt redirects to a refused address":     {answer: unreachable(302, loopback("elsewhere")), ua: "curl/8", url: "http://h/x", want: want{deny, true, "unreachable", "", 0, ""}},
		"a stale copy decides although the last failed": {answer: cache.Answer{Copy: cache.NewCopy(cache.StateRules, 200, []byte(file)), Source: cache.SourceStale, Status: 503, Err: errors.New("status 503")}, ua: "curl/8", url: "http://h/private", want: want{deny, true, "disallowed", "*", 2, ""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			policy := judge.Default()
			if tt.policy != nil {
				tt.policy(&policy)
			}
			compiled, err := policy.Compile()
			if err != nil {
				t.Fatal(err)
			}
			target, err := origin.ParseTarget(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			j := &judge.Judge{Lookup: &answers{Answer: tt.answer}, Guard: guard{tt.guard}}
			rec := new(decision.Record)
			j.Decide(t.Context(), compiled, &judge.Subject{UserAgent: tt.ua, Tokens: tt.tokens, Target: target}, rec)
			got := want{rec.Decision, rec.Enforced, rec.Reason, rec.Token, rec.Rule.Line, rec.Form}
			if got != tt.want {
				t.Errorf("decision\n got %+v\nwant %+v\nrecord %s", got, tt.want, rec.JSON())
			}
			if rec.URL != tt.url || rec.Origin != target.Origin.String() || rec.Policy != compiled.Hash {
				t.Errorf("url %q origin %q policy %q", rec.URL, rec.Origin, rec.Policy)
			}
		})
	}
}

const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"

func report(p *judge.Policy) { p.Mode = judge.ModeReport }

func onStatus(code, action string) func(*judge.Policy) {
	return func(p *judge.Policy) {
		p.OnStatus = append(p.OnStatus, judge.StatusRule{Code: code, Action: action})
	}
}

// TestLookupToken: where answers vary by User-Agent, the first token decides
// which one counts.
func TestLookupToken(t *testing.T) {
	compiled, err := judge.Default().Compile()
	if err != nil {
		t.Fatal(err)
	}
	target, err := origin.ParseTarget("http://h/x")
	if err != nil {
		t.Fatal(err)
	}
	for ua, want := range map[string]string{"ExampleBot/1.0": "ExampleBot", "": "*"} {
		lookup := &answers{Answer: rules()}
		j := &judge.Judge{Lookup: lookup, Guard: guard{}}
		j.Decide(t.Context(), compiled, &judge.Subject{UserAgent: ua, Target: target}, new(decision.Record))
		if lookup.token != want {
			t.Errorf("User-Agent %q asks with token %q, want %q", ua, lookup.token, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, policy := range map[string]func(*judge.Policy){
		"agents":      func(p *judge.Policy) { p.Agents = "some" },
		"mode":        func(p *judge.Policy) { p.Mode = "watch" },
		"paths":       func(p *judge.Policy) { p.Paths = "loose" },
		"unreachable": func(p *judge.Policy) { p.Unreachable = "maybe" },
		"status":      onStatus("999", "deny"),
		"class":       onStatus("1xx", "deny"),
		"action":      onStatus("404", "ignore"),
		"twice":       func(p *judge.Policy) { onStatus("404", "deny")(p); onStatus("404", "allow")(p) },
		"class twice": func(p *judge.Policy) { onStatus("4xx", "deny")(p); onStatus("4xx", "allow")(p) },
	} {
		t.Run(name, func(t *testing.T) {
			p := judge.Default()
			policy(&p)
			if _, err := p.Compile(); err == nil {
				t.Error("compiled")
			}
		})
	}
}

// TestPolicyHash: the hash names the effective policy, so equal policies share
// it and any difference changes it.
func TestPolicyHash(t *testing.T) {
	hash := func(change func(*judge.Policy)) string {
		p := judge.Default()
		if change != nil {
			change(&p)
		}
		c, err := p.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash
	}
	if first, second := hash(nil), hash(nil); first != second || len(first) != 64 {
		t.Errorf("hashes %q and %q of one policy", first, second)
	}
	if hash(nil) == hash(report) {
		t.Error("enforce and report share a hash")
	}
}
