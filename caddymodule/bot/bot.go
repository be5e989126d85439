// Package bot is the request matcher bot: requests of bots, or of bots of given
// names, for Caddy's own directives.
package bot

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsgate/robotsgate/agent"
)

func init() {
	caddy.RegisterModule(Match{})
}

// Match matches requests of bots, by their User-Agent. With names, it matches
// bots whose name or product token is one of them, in any case.
type Match []string

// CaddyModule returns the Caddy module information.
func (Match) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.matchers.bot",
		New: func() caddy.Module { return new(Match) },
	}
}

// UnmarshalCaddyfile sets up the matcher. Syntax:
//
//	bot [<name...>]
func (m *Match) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		*m = append(*m, d.RemainingArgs()...)
		if d.NextBlock(0) {
			return d.Errf("unrecognized subdirective '%s'; the bot matcher takes names on its own line", d.Val())
		}
	}
	return nil
}

// Validate refuses names that can match nothing.
func (m Match) Validate() error {
	for _, name := range m {
		if strings.TrimSpace(name) == "" {
			return fmt.Errorf("bot: an empty name matches nothing; leave it out to match every bot")
		}
	}
	return nil
}

// Match reports whether r is a bot's.
func (m Match) Match(r *http.Request) bool {
	matched, _ := m.MatchWithError(r)
	return matched
}

// MatchWithError reports whether r is a bot's; it never fails.
func (m Match) MatchWithError(r *http.Request) (bool, error) {
	a := agent.Identify(r.UserAgent())
	if !a.Bot || len(m) == 0 {
		return a.Bot, nil
	}
	for _, name := range m {
		if strings.EqualFold(name, a.Name) {
			return true, nil
		}
		for _, token := range a.Tokens() {
			if strings.EqualFold(name, token) {
				return true, nil
			}
		}
	}
	return false, nil
}

// Interface guards.
var (
	_ caddyhttp.RequestMatcherWithError = Match{}
	_ caddyfile.Unmarshaler             = (*Match)(nil)
	_ caddy.Validator                   = Match{}
)
