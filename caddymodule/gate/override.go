package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsgate/robotsgate/internal/judge"
)

// Override replaces the robots.txt of the origins that it names.
type Override struct {
	// `scheme://host[:port]`, a host, or `*.suffix` for every host below the
	// suffix. The most specific override counts, then the first.
	Origin string `json:"origin"`

	// `allow` or `deny`. Default: as the rules of `robots` say.
	Action string `json:"action,omitempty"`

	// A robots.txt file to follow instead of the origin's.
	Robots string `json:"robots,omitempty"`

	// Why, for the record and for the answer to a denial.
	Reason string `json:"reason,omitempty"`

	// Who answers for it, for the record.
	Owner string `json:"owner,omitempty"`

	// The last day on which it applies (UTC), as `2027-01-31`.
	// Default: no end.
	Until string `json:"until,omitempty"`
}

// readOverrides turns overrides as configured into those of a policy.
func readOverrides(configured []Override) ([]judge.Override, error) {
	var list []judge.Override
	for _, o := range configured {
		compiled := judge.Override{Origin: o.Origin, Action: o.Action, Reason: o.Reason, Owner: o.Owner, Until: o.Until}
		switch {
		case (o.Action == "") == (o.Robots == ""):
			return nil, fmt.Errorf("override %s: wants either an action, allow or deny, or a robots file", o.Origin)
		case o.Robots != "":
			body, err := os.ReadFile(o.Robots)
			if err != nil {
				return nil, fmt.Errorf("override %s: reading its robots file: %w", o.Origin, err)
			}
			sum := sha256.Sum256(body)
			compiled.Action, compiled.Robots = judge.WordRules, body
			compiled.RobotsSHA256 = hex.EncodeToString(sum[:])
		}
		list = append(list, compiled)
	}
	return list, nil
}

func (g *Gate) unmarshalOverride(d *caddyfile.Dispenser) error {
	var o Override
	var what string
	if !d.Args(&o.Origin, &what) {
		return d.Errf("override wants an origin and allow, deny or a robots file, for example: override example.com deny")
	}
	if what == judge.WordAllow || what == judge.WordDeny {
		o.Action = what
	} else {
		o.Robots = what
	}
	options := map[string]*string{"reason": &o.Reason, "owner": &o.Owner, "until": &o.Until}
	for d.NextArg() {
		name := d.Val()
		value, known := options[name]
		switch {
		case !known:
			return d.Errf("override: '%s' is not reason, owner or until; quote a text of several words", name)
		case *value != "":
			return d.Errf("override: %s is given twice", name)
		case !d.NextArg():
			return d.Errf("override: %s wants a value", name)
		}
		*value = d.Val()
	}
	g.Override = append(g.Override, o)
	return nil
}
