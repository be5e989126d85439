package judge

import (
	"context"

	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/matcher"
)

// DecideTunnel decides about a CONNECT tunnel to the origin of s.Target and
// leaves the evidence in rec. No request inside can be judged: a tunnel is
// refused, or allowed where nothing inside could be disallowed.
func (j *Judge) DecideTunnel(ctx context.Context, p *Compiled, s *Subject, rec *decision.Record) {
	rec.Policy = p.Hash
	rec.Enforced = true
	rec.Tunnel = true
	rec.Aim(s.Target)
	who := p.Identify(s, rec)
	if err := j.Guard.CheckOrigin(s.Target.Origin); err != nil {
		DenyDial(rec, err)
		return
	}
	rec.Enforced = p.Enforces()
	switch {
	case p.Tunnels != TunnelsHost:
		rec.Denied(decision.TunnelOpaque)
	case !p.Judges(who):
		rec.Allowed(decision.NotBot)
	default:
		if c := j.override(p, s); c != nil {
			decideByOverride(p, c, rec)
			return
		}
		j.consult(ctx, p, s, rec)
	}
}

// decideTunnelByRules allows a tunnel where the agent's group disallows
// nothing at all: one rule is enough to hide a disallowed request.
func decideTunnelByRules(m *matcher.Matcher, rec *decision.Record) {
	if !m.DisallowsNothing() {
		rec.Denied(decision.TunnelOpaque)
		return
	}
	rec.Allowed(decision.OfRules(true, false, m.HasGroup(), false))
}
