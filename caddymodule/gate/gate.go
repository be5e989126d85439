// Package gate is the HTTP handler robots_gate: it identifies who asks, looks
// up the target's robots.txt, decides by RFC 9309, and rejects a disallowed
// request or passes it on. Either way it leaves the record of its decision.
package gate

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
)

func init() {
	caddy.RegisterModule(&Gate{})
}

// Gate judges each request by the robots.txt of its target. A disallowed
// request gets 403 (or `deny_status`), one whose robots.txt cannot be read 503.
//
// Once it has judged, it sets these placeholders:
//
// Placeholder | Description
// ------------|-------------
// `{http.robots_gate.decision}` | `allow` or `deny`
// `{http.robots_gate.reason}` | Why, for example `disallowed`
// `{http.robots_gate.enforced}` | `false` where report mode passes a denial on
// `{http.robots_gate.url}` | The URL as judged
// `{http.robots_gate.origin}` | Its scheme, host and port
// `{http.robots_gate.bot}` | Whether the request comes from a bot
// `{http.robots_gate.agent}` | The bot's name
// `{http.robots_gate.token}` | The product token whose group was used, or `*`
// `{http.robots_gate.rule}` | The deciding rule
// `{http.robots_gate.line}` | Its line
// `{http.robots_gate.<field>}` | Any other field of the record
type Gate struct {
	// Whose requests are judged: `bots`, or `all`. The listener of scraping
	// jobs wants `all`: a browser's User-Agent evades `bots`.
	// Default: `bots`.
	Agents string `json:"agents,omitempty"`

	// Substrings of User-Agents that are bots too, in any case.
	Bot []string `json:"bot,omitempty"`

	// Substrings of User-Agents that are never bots, in any case.
	NotBot []string `json:"not_bot,omitempty"`

	// Product tokens to obey instead of those derived from the User-Agent,
	// in order of preference. Placeholders are allowed.
	Token []string `json:"token,omitempty"`

	// Whose request it is, for the record. Placeholders are allowed, for
	// example `{http.auth.user.id}`. Default: none.
	Job string `json:"job,omitempty"`

	// The origin resource that is asked for, as a URL with placeholders, for
	// example `https://books.example.com{http.request.uri}`.
	// Default: the request's own URL.
	Target string `json:"target,omitempty"`

	// `enforce`, or `report`: robots decisions are made, recorded and
	// marked, but passed on. Default: `enforce`.
	Mode string `json:"mode,omitempty"`

	// `strict` also judges the normal forms that an origin may resolve a
	// path to, `rfc` the one of RFC 9309 alone. Default: `strict`.
	Paths string `json:"paths,omitempty"`

	// What becomes of a CONNECT that is not intercepted: `refuse` it, whoever
	// asks, or allow it to a `host` whose robots.txt disallows nothing to the
	// agent. Many clients send no User-Agent with a CONNECT; `token` says then
	// whose group counts, and without it that of everyone does.
	// Default: `refuse`.
	Tunnels string `json:"tunnels,omitempty"`

	// What single statuses of robots.txt mean, instead of the access results
	// of RFC 9309.
	OnStatus []judge.StatusRule `json:"on_status,omitempty"`

	// What holds where robots.txt is unreachable and no usable copy exists:
	// `deny` or `allow`. Default: `deny`.
	Unreachable string `json:"unreachable,omitempty"`

	// Statuses of denials instead of each reason's own: 403 for most, 503
	// for `unreachable` and `overloaded`.
	DenyStatus []judge.DenyStatus `json:"deny_status,omitempty"`

	// `query` writes query values in the record as `REDACTED`.
	// Default: they stand as they are.
	Redact string `json:"redact,omitempty"`

	// What holds for single origins instead of their robots.txt.
	Override []Override `json:"override,omitempty"`

	app    *app.App
	logger *zap.Logger
	policy *judge.Compiled
}

// CaddyModule returns the Caddy module information.
func (*Gate) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots_gate",
		New: func() caddy.Module { return new(Gate) },
	}
}

// Provision sets the gate up.
func (g *Gate) Provision(ctx caddy.Context) error {
	g.logger = ctx.Logger()
	instance, err := ctx.App("robots_gate")
	if err != nil {
		return fmt.Errorf("loading the robots_gate app: %w", err)
	}
	g.app = instance.(*app.App)
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok && server.Logs == nil {
		g.logger.Warn("decisions of this gate leave no record: its server has no access log; add `log` to the site")
	}
	return nil
}

// Validate compiles the policy and refuses what it cannot mean.
func (g *Gate) Validate() error {
	policy, err := g.compile()
	if err != nil {
		return err
	}
	g.policy = policy
	g.app.AddGate(policy)
	for _, past := range policy.Expired(time.Now()) {
		g.logger.Warn("override is past its date and no longer applies", zap.String("origin", past.Origin), zap.String("until", past.Until), zap.String("owner", past.Owner))
	}
	return nil
}

// compile checks the configuration and makes the policy of it.
func (g *Gate) compile() (*judge.Compiled, error) {
	switch {
	case g.Target != "" && checkTarget(g.Target) != nil:
		return nil, checkTarget(g.Target)
	case g.Redact != "" && g.Redact != "query":
		return nil, fmt.Errorf("redact: %q is not query", g.Redact)
	}
	overrides, err := readOverrides(g.Override)
	if err != nil {
		return nil, err
	}
	policy := judge.Policy{
		Overrides: overrides,
		Agents:    orElse(g.Agents, judge.AgentsBots), Bots: g.Bot, NotBots: g.NotBot,
		Tokens: g.Token, Job: g.Job, Target: g.Target,
		Mode: orElse(g.Mode, judge.ModeEnforce), Paths: orElse(g.Paths, judge.PathsStrict),
		Tunnels:  g.Tunnels,
		OnStatus: g.OnStatus, Unreachable: orElse(g.Unreachable, judge.WordDeny),
		DenyStatus: g.DenyStatus, Redact: g.Redact,
	}
	return policy.Compile()
}

func orElse(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// ServeHTTP judges the request.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	x := exchange.Begin(r, g.app, g.logger)
	defer x.Finish()
	g.decide(x, r)
	x.Decided()
	if x.Record.Refused() {
		x.Refuse(w, r)
		return nil
	}
	err := next.ServeHTTP(x.Marked(w), r)
	if err != nil && x.Record.Error == "" {
		x.OriginFailed(w, err)
	}
	return err
}

// decide fills the record. A panic on the way is a denial: whatever cannot be
// decided is not passed on.
func (g *Gate) decide(x *exchange.Exchange, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			g.logger.Error("panic while deciding; the request is denied", zap.Any("panic", cause), zap.Stack("stack"))
			x.Record.Enforced = true
			x.Record.Denied(decision.Internal)
		}
	}()
	g.judge(x, r)
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Gate)(nil)
	_ caddy.Validator             = (*Gate)(nil)
	_ caddyhttp.MiddlewareHandler = (*Gate)(nil)
)
