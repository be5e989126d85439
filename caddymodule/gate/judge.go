package gate

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// judge reads the subject out of the request and has it decided.
func (g *Gate) judge(x *exchange.Exchange, r *http.Request) {
	rec := &x.Record
	rec.Policy = g.policy.Hash
	rec.Redact = g.policy.Redact != ""
	x.Policy = g.policy
	x.Subject.UserAgent = r.UserAgent()
	g.replace(x, r)
	if exchange.Misdirected(r) {
		g.policy.Identify(&x.Subject, rec)
		x.Misdirect(r)
		return
	}
	if exchange.IsConnect(r) {
		g.judgeConnect(x, r)
		return
	}
	target, err := g.target(r)
	if err != nil {
		g.policy.Identify(&x.Subject, rec)
		x.BadTarget(err)
		return
	}
	x.Subject.Target = target
	g.app.Judge().Decide(r.Context(), g.policy, &x.Subject, rec)
}

// replace resolves the placeholders of `job` and `token`.
func (g *Gate) replace(x *exchange.Exchange, r *http.Request) {
	if g.Job == "" && len(g.Token) == 0 {
		return
	}
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	x.Record.Job = repl.ReplaceAll(g.Job, "")
	if len(g.Token) == 0 {
		return
	}
	// A configured token that comes out empty leaves the group of everyone;
	// it never falls back to what the request says of itself.
	x.Subject.Tokens = make([]string, 0, len(g.Token))
	for _, token := range g.Token {
		if t := strings.TrimSpace(repl.ReplaceAll(token, "")); t != "" {
			x.Subject.Tokens = append(x.Subject.Tokens, t)
		}
	}
}

// target is the origin resource that the request asks for.
func (g *Gate) target(r *http.Request) (origin.Target, error) {
	if g.Target == "" {
		return origin.FromRequest(r)
	}
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	target, err := origin.ParseTarget(repl.ReplaceAll(g.Target, ""))
	if err != nil {
		return origin.Target{}, err
	}
	return target, origin.CheckHead(r)
}

// judgeConnect decides about a tunnel.
func (g *Gate) judgeConnect(x *exchange.Exchange, r *http.Request) {
	o, err := origin.FromConnect(r)
	if err != nil {
		g.policy.Identify(&x.Subject, &x.Record)
		x.BadTarget(err)
		return
	}
	x.Subject.Target = origin.Target{Origin: o, Path: "/"}
	g.app.Judge().DecideTunnel(r.Context(), g.policy, &x.Subject, &x.Record)
}

// checkTarget refuses a template that can never become an http URL, as far as
// its text tells in front of the first placeholder.
func checkTarget(template string) error {
	if strings.HasPrefix(template, "{") {
		return nil
	}
	scheme, rest, found := strings.Cut(template, "://")
	if !found || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return &targetError{template}
	}
	end := strings.IndexAny(rest, "/?#{")
	if end < 0 {
		end = len(rest)
	}
	authority, open := rest[:end], strings.HasPrefix(rest[end:], "{")
	switch {
	case strings.Contains(authority, "@"):
		return errors.New("target: carries user information; leave credentials to the job")
	case authority == "" && !open:
		return &targetError{template}
	case authority != "" && !strings.HasPrefix(authority, "["):
		// A placeholder may go on with the name that the text begins.
		if open {
			authority = strings.TrimRight(authority, ".-")
		}
		if _, err := origin.New(scheme, authority); err != nil {
			return fmt.Errorf("target: %w", err)
		}
	}
	if _, err := url.Parse("http://host/" + strings.NewReplacer("{", "", "}", "").Replace(rest[end:])); err != nil {
		return &targetError{template}
	}
	return nil
}

type targetError struct{ template string }

func (e *targetError) Error() string {
	return "target: " + e.template + " is no http:// or https:// URL; write for example https://books.example.com{uri}"
}
