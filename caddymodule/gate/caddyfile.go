package gate

import (
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsgate/robotsgate/caddymodule/grammar"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("robots_gate", parseDirective)
	// After request_header, so that the gate sees changed User-Agent and Host.
	httpcaddyfile.RegisterDirectiveOrder("robots_gate", httpcaddyfile.After, "request_header")
}

func parseDirective(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	g := new(Gate)
	return g, g.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile sets up the gate. Syntax:
//
//	robots_gate [<matcher>] {
//		agents      bots | all
//		bot         <substring...>
//		not_bot     <substring...>
//		token       <token | placeholder...>
//		job         <text | placeholder>
//		target      <URL template>
//		mode        enforce | report
//		paths       strict | rfc
//		tunnels     refuse | host
//		on_status   <code | 4xx | 5xx...> allow | deny | unreachable
//		unreachable deny | allow
//		deny_status <code> [<reason...>]
//		redact      query
//		override    <origin> allow | deny | <robots file> [reason <text>] [owner <text>] [until <date>]
//	}
func (g *Gate) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	check := func() error {
		_, err := g.compile()
		return err
	}
	return grammar.BlockRepeating(d, check, map[string]func() error{
		"agents":      func() error { return grammar.OneOf(d, &g.Agents, judge.AgentsBots, judge.AgentsAll) },
		"bot":         func() error { return grammar.MoreWords(d, &g.Bot) },
		"not_bot":     func() error { return grammar.MoreWords(d, &g.NotBot) },
		"token":       func() error { return grammar.Words(d, &g.Token) },
		"job":         func() error { return grammar.Word(d, &g.Job) },
		"target":      func() error { return grammar.Word(d, &g.Target) },
		"mode":        func() error { return grammar.OneOf(d, &g.Mode, judge.ModeEnforce, judge.ModeReport) },
		"tunnels":     func() error { return grammar.OneOf(d, &g.Tunnels, judge.TunnelsRefuse, judge.TunnelsHost) },
		"paths":       func() error { return grammar.OneOf(d, &g.Paths, judge.PathsStrict, judge.PathsRFC) },
		"on_status":   func() error { return g.unmarshalOnStatus(d) },
		"unreachable": func() error { return grammar.OneOf(d, &g.Unreachable, judge.WordDeny, judge.WordAllow) },
		"deny_status": func() error { return g.unmarshalDenyStatus(d) },
		"redact":      func() error { return grammar.OneOf(d, &g.Redact, "query") },
		"override":    func() error { return g.unmarshalOverride(d) },
	}, "bot", "not_bot", "on_status", "override", "deny_status")
}

func (g *Gate) unmarshalOnStatus(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return d.Errf("on_status wants one status or more and allow, deny or unreachable, for example: on_status 401 403 deny")
	}
	action := args[len(args)-1]
	if !slices.Contains([]string{judge.WordAllow, judge.WordDeny, judge.WordUnreachable}, action) {
		return d.Errf("on_status ends with allow, deny or unreachable, not '%s'", action)
	}
	for _, code := range args[:len(args)-1] {
		g.OnStatus = append(g.OnStatus, judge.StatusRule{Code: code, Action: action})
	}
	return nil
}

func (g *Gate) unmarshalDenyStatus(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.Errf("'deny_status' lacks a value; write a status and, if you like, the reasons it is for: deny_status 451 disallowed")
	}
	code, err := strconv.Atoi(d.Val())
	if err != nil || code < 400 || code > 599 {
		return d.Errf("deny_status: '%s' is no error status from 400 to 599", d.Val())
	}
	status := judge.DenyStatus{Status: code}
	for _, reason := range d.RemainingArgs() {
		status.Reasons = append(status.Reasons, decision.Reason(reason))
	}
	g.DenyStatus = append(g.DenyStatus, status)
	return nil
}

// Interface guard.
var _ caddyfile.Unmarshaler = (*Gate)(nil)
