package intercept

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsgate/robotsgate/caddymodule/grammar"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("tls_intercept", parseDirective)
	// After basic_auth, so that a tunnel is opened for whom the site lets in;
	// before the gate and every route, which see the requests inside.
	httpcaddyfile.RegisterDirectiveOrder("tls_intercept", httpcaddyfile.After, "basic_auth")
}

func parseDirective(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	i := new(Intercept)
	return i, i.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile sets up the handler. Syntax:
//
//	tls_intercept [<matcher>] {
//		ca            <id>
//		skip          <host...>
//		leaf_lifetime <duration>
//		max_leaves    <n>
//	}
func (i *Intercept) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	check := func() error { trial := *i; return trial.check() }
	return grammar.BlockRepeating(d, check, map[string]func() error{
		"ca":            func() error { return grammar.Word(d, &i.CA) },
		"skip":          func() error { return grammar.MoreWords(d, &i.Skip) },
		"leaf_lifetime": func() error { return grammar.Duration(d, &i.LeafLifetime) },
		"max_leaves":    func() error { return grammar.Number(d, &i.MaxLeaves) },
	}, "skip")
}

// Interface guard.
var _ caddyfile.Unmarshaler = (*Intercept)(nil)
