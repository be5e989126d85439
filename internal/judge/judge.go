package judge

import (
	"context"
	"errors"
	"time"

	"github.com/robotsgate/robotsgate/agent"
	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/dialguard"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/matcher"
)

// Lookup finds the robots.txt of an origin.
type Lookup interface {
	Lookup(ctx context.Context, o origin.Origin, userAgent, token string) cache.Answer
}

// Guard says whether an origin may be dialled at all, as far as that can be
// known without resolving its name.
type Guard interface {
	CheckOrigin(origin.Origin) error
}

// Judge decides requests with the robots.txt files that Lookup finds.
type Judge struct {
	Lookup Lookup
	Guard  Guard
	// Now is the time that overrides are held against. Default: time.Now.
	Now func() time.Time
}

// override finds the override of the target; most policies have none, and then
// the clock is not asked.
func (j *Judge) override(p *Compiled, s *Subject) *override {
	if p.overrides == nil {
		return nil
	}
	return p.overrides.find(s.Target.Origin, j.now())
}

func (j *Judge) now() time.Time {
	if j.Now != nil {
		return j.Now()
	}
	return time.Now()
}

// Subject is one request as far as it matters for the decision.
type Subject struct {
	UserAgent string
	// Tokens are the product tokens to obey instead of those derived from
	// UserAgent; nil derives them.
	Tokens []string
	Target origin.Target
}

// robotsPath is the one path that is always allowed (RFC 9309 section 2.2.2).
const robotsPath = "/robots.txt"

// Identify fills in who asks. It comes first, so that a request whose target
// is refused still says whose it was.
func (p *Compiled) Identify(s *Subject, rec *decision.Record) agent.Agent {
	a := p.identifier.Identify(s.UserAgent)
	rec.Bot, rec.Agent = a.Bot, a.Name
	if s.Tokens != nil {
		rec.Tokens, rec.TokenSource = s.Tokens, decision.TokenFromConfig
		return a
	}
	rec.Tokens, rec.TokenSource = a.Tokens(), decision.TokenFromUserAgent
	return a
}

// Decide decides s under p and leaves the evidence in rec.
func (j *Judge) Decide(ctx context.Context, p *Compiled, s *Subject, rec *decision.Record) {
	rec.Policy = p.Hash
	rec.Enforced = true
	rec.Aim(s.Target)
	who := p.Identify(s, rec)
	if err := j.Guard.CheckOrigin(s.Target.Origin); err != nil {
		DenyDial(rec, err)
		return
	}
	rec.Enforced = p.Enforces()
	switch {
	case !p.Judges(who):
		rec.Allowed(decision.NotBot)
	case s.Target.Path == robotsPath && !s.Target.HasQuery:
		rec.Allowed(decision.RobotsTXT)
	default:
		if c := j.override(p, s); c != nil {
			decideByOverride(p, c, rec)
			return
		}
		j.consult(ctx, p, s, rec)
	}
}

// DenyDial records that the address policy refused the destination; any other
// error is recorded as an address that could not be checked.
func DenyDial(rec *decision.Record, err error) {
	rec.Enforced = true
	rec.Error = err.Error()
	rec.Denied(decision.AddressDenied)
	if denied, ok := errors.AsType[*dialguard.DeniedError](err); ok {
		rec.DeniedClass = denied.Class
		rec.Denied(decision.Reason(denied.Reason()))
	}
}

// consult decides by the origin's robots.txt.
func (j *Judge) consult(ctx context.Context, p *Compiled, s *Subject, rec *decision.Record) {
	first := "*"
	if len(rec.Tokens) > 0 {
		first = rec.Tokens[0]
	}
	answer := j.Lookup.Lookup(ctx, s.Target.Origin, s.UserAgent, first)
	describe(rec, &answer, s.Target.Origin)
	if answer.Overloaded {
		rec.RetryAfter = answer.RetryAfter
		rec.Denied(decision.Overloaded)
		return
	}
	switch p.statusAction(answer.Status) {
	case WordAllow:
		rec.Allowed(decision.Unavailable)
		return
	case WordDeny:
		rec.Denied(decision.StatusDenied)
		return
	case WordUnreachable:
		unreachable(p, &answer, s.Target.Origin, rec)
		return
	}
	switch {
	case answer.Copy == nil:
		unreachable(p, &answer, s.Target.Origin, rec)
	case answer.Copy.State == cache.StateUnavailable:
		rec.Allowed(decision.Unavailable)
	default:
		decideByRules(p, answer.Copy, rec)
	}
}

// unreachable decides where no usable copy exists.
func unreachable(p *Compiled, answer *cache.Answer, o origin.Origin, rec *decision.Record) {
	if answer.Err != nil {
		rec.Error = answer.Err.Error()
		if denied, ok := errors.AsType[*dialguard.DeniedError](answer.Err); ok && concerns(denied, o) {
			// The origin itself resolves to a refused address: robots.txt
			// is not what stands in the way, and no mode loosens it.
			DenyDial(rec, denied)
			return
		}
	}
	if p.Unreachable == WordAllow {
		rec.Allowed(decision.UnreachableAllowed)
		return
	}
	rec.RetryAfter = answer.RetryAfter
	rec.Denied(decision.Unreachable)
}

// concerns reports whether the refused destination is o itself, and not one
// that o redirected its robots.txt to.
func concerns(denied *dialguard.DeniedError, o origin.Origin) bool {
	return denied.Host == o.Host || denied.Addr.Addr().String() == o.Host
}

// describe fills in which robots.txt was consulted.
func describe(rec *decision.Record, answer *cache.Answer, o origin.Origin) {
	rec.Source = decision.Source(answer.Source)
	rec.RobotsStatus = answer.Status
	c := answer.Copy
	if c == nil {
		rec.RobotsURL = o.RobotsURL()
		return
	}
	rec.RobotsURL, rec.RobotsFinalURL = c.RobotsURL, c.FinalURL
	rec.RobotsStatus = c.Status
	rec.RobotsSHA256, rec.RobotsSize, rec.Truncated = c.SHA256, c.Size, c.Truncated
	rec.FetchedAt, rec.ValidatedAt, rec.ExpiresAt = c.FetchedAt, c.ValidatedAt, c.ExpiresAt
	rec.Age = max(0, int(time.Since(c.ValidatedAt)/time.Second))
	rec.FetchUserAgent = c.FetchUserAgent
	rec.Archived = c.Archived()
}

// decideByRules follows the parseable rules (RFC 9309 section 2.2).
func decideByRules(p *Compiled, c *cache.Copy, rec *decision.Record) {
	m := c.Matcher(rec.Tokens...)
	rec.Token = "*"
	if t := m.Token(); t != "" {
		rec.Token = t
	}
	if rec.Tunnel {
		decideTunnelByRules(m, rec)
		return
	}
	path := rec.PathQuery()
	var (
		v    matcher.Verdict
		form matcher.Form
	)
	if p.Paths == PathsStrict {
		v, form = m.MatchStrict(path)
	} else {
		v = m.Match(path)
	}
	if v.Matched {
		rec.Rule = v.Rule
	}
	reason := decision.OfRules(v.Allowed, v.Matched, m.HasGroup(), form > matcher.F1)
	if v.Allowed {
		rec.Allowed(reason)
		return
	}
	if form > matcher.F1 {
		rec.Form = decision.Form(form.String())
	}
	rec.Denied(reason)
}
