package egress

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsgate/robotsgate/caddymodule/grammar"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("egress_proxy", parseDirective)
	httpcaddyfile.RegisterDirectiveOrder("egress_proxy", httpcaddyfile.Before, "reverse_proxy")
}

func parseDirective(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	e := new(Egress)
	return e, e.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile sets up the forwarder. Syntax:
//
//	egress_proxy [<matcher>] {
//		upstream                <proxy URL>
//		dial_timeout            <duration>
//		response_header_timeout <duration>
//		idle_timeout            <duration>
//		max_idle_conns          <n>
//	}
func (e *Egress) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	check := func() error {
		trial := Egress{Upstream: e.Upstream, DialTimeout: e.DialTimeout, ResponseHeaderTimeout: e.ResponseHeaderTimeout, IdleTimeout: e.IdleTimeout, MaxIdleConns: e.MaxIdleConns}
		return trial.check()
	}
	return grammar.Block(d, check, map[string]func() error{
		"upstream":                func() error { return grammar.Word(d, &e.Upstream) },
		"dial_timeout":            func() error { return grammar.Duration(d, &e.DialTimeout) },
		"response_header_timeout": func() error { return grammar.Duration(d, &e.ResponseHeaderTimeout) },
		"idle_timeout":            func() error { return grammar.Duration(d, &e.IdleTimeout) },
		"max_idle_conns":          func() error { return grammar.Number(d, &e.MaxIdleConns) },
	})
}

// Interface guard.
var _ caddyfile.Unmarshaler = (*Egress)(nil)
