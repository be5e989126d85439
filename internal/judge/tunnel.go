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
	rec.Tunnel = true
	who, may := j.begin(p, s, rec)
	switch {
	case !may:
	case p.Tunnels != TunnelsHost:
		rec.Denied(decision.TunnelOpaque)
	case !p.Judges(who):
		rec.Allowed(decision.NotBot)
	default:
		j.follow(ctx, p, s, rec)
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
