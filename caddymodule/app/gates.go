package app

import (
	"slices"
	"strings"

	"github.com/robotsgate/robotsgate/internal/judge"
)

// AddGate makes a gate's policy known to the admin API of this configuration.
// Gates call it while they are validated, one after the other.
func (a *App) AddGate(policy *judge.Compiled) {
	if !slices.ContainsFunc(a.policies, func(known *judge.Compiled) bool { return known.Hash == policy.Hash }) {
		a.policies = append(a.policies, policy)
	}
}

// Policies are the distinct policies of this configuration's gates, in the
// order of their hashes.
func (a *App) Policies() []*judge.Compiled {
	sorted := slices.Clone(a.policies)
	slices.SortFunc(sorted, func(x, y *judge.Compiled) int { return strings.Compare(x.Hash, y.Hash) })
	return sorted
}
