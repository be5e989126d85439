package app

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsgate/robotsgate/caddymodule/grammar"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("robots_gate", parseGlobalOption)
}

func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		d.Next()
		return nil, d.Errf("global option '%s' is given twice; merge the blocks", d.Val())
	}
	a := new(App)
	if err := a.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, d.Errf("encoding the robots_gate app: %v", err)
	}
	return httpcaddyfile.App{Name: "robots_gate", Value: raw}, nil
}

// UnmarshalCaddyfile sets up the app from the global option. Syntax:
//
//	robots_gate {
//		cache {
//			max_size <size>
//			ttl      <duration>
//			min_ttl  <duration>
//			stale    <duration>
//			retry    <min> <max>
//			persist  on|off
//		}
//		fetch {
//			timeout       <duration>
//			max_body      <size>
//			max_redirects <n>
//			max_in_flight <n>
//			user_agent    <string>
//			root_ca       <pem file...>
//		}
//		allow_ranges <cidr...>
//		deny_ranges  <cidr...>
//		ports        <port|from-to...>
//		resolvers    <ip[:port]...>
//		upstream     <proxy URL>
//		archive      <duration>
//	}
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return grammar.Block(d, a.check, map[string]func() error{
		"cache": func() error { a.Cache = new(Cache); return a.Cache.unmarshal(d) },
		"fetch": func() error { a.Fetch = new(Fetch); return a.Fetch.unmarshal(d) },

		"allow_ranges": func() error { return grammar.Words(d, &a.AllowRanges) },
		"deny_ranges":  func() error { return grammar.Words(d, &a.DenyRanges) },
		"ports":        func() error { return grammar.Words(d, &a.Ports) },
		"archive":      func() error { return grammar.Duration(d, &a.Archive) },
		"resolvers":    func() error { return grammar.Words(d, &a.Resolvers) },
		"upstream":     func() error { return grammar.Word(d, &a.Upstream) },
	})
}

func (c *Cache) unmarshal(d *caddyfile.Dispenser) error {
	check := func() error { trial := *c; return trial.defaults() }
	return grammar.Block(d, check, map[string]func() error{
		"max_size": func() error { return grammar.Size(d, &c.MaxSize) },
		"ttl":      func() error { return grammar.Duration(d, &c.TTL) },
		"min_ttl":  func() error { return grammar.Duration(d, &c.MinTTL) },
		"stale":    func() error { return grammar.Duration(d, &c.Stale) },
		"retry":    func() error { return grammar.Durations(d, &c.RetryMin, &c.RetryMax) },
		"persist":  func() error { return grammar.Switch(d, &c.Persist) },
	})
}

func (f *Fetch) unmarshal(d *caddyfile.Dispenser) error {
	check := func() error {
		trial := *f
		if err := trial.defaults(); err != nil {
			return err
		}
		_, err := loadRoots(f.RootCA)
		return err
	}
	return grammar.Block(d, check, map[string]func() error{
		"timeout":       func() error { return grammar.Duration(d, &f.Timeout) },
		"max_body":      func() error { return grammar.Size(d, &f.MaxBody) },
		"max_redirects": func() error { return grammar.Number(d, &f.MaxRedirects) },
		"max_in_flight": func() error { return grammar.Number(d, &f.MaxInFlight) },
		"user_agent":    func() error { return grammar.Word(d, &f.UserAgent) },
		"root_ca":       func() error { return grammar.Words(d, &f.RootCA) },
	})
}

// Interface guard.
var _ caddyfile.Unmarshaler = (*App)(nil)
