package audit

import (
	"context"
	"time"
)

// The most names that a report keeps apart, for each of its tables.
const (
	maxNames   = 5000
	maxPaths   = 5000
	maxReasons = 200
	maxHours   = 100_000
	maxRobots  = 5000
)

// Report summarises access logs.
type Report struct {
	// From and To are when the first and the last judged request ended.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Logs are the names of the logs, Damage what of them could not be read.
	Logs   []string `json:"logs"`
	Damage []Damage `json:"damage,omitempty"`
	Lines  Lines    `json:"lines"`

	NotJudged   NotJudged    `json:"not_judged"`
	OtherTokens []TokenUse   `json:"other_tokens"`
	Total       Counts       `json:"total"`
	Days        []Row        `json:"days"`
	Undated     Counts       `json:"undated"`
	Reasons     Table        `json:"reasons"`
	Origins     Table        `json:"origins"`
	Jobs        Table        `json:"jobs"`
	Agents      Table        `json:"agents"`
	Refused     RefusedPaths `json:"refused_paths"`
	Robots      RobotsFiles  `json:"robots"`

	hours []hour
}

// NotJudged is what passed without a judgement by a robots.txt, or in spite of
// it. It stands first, since a reader would otherwise take silence for
// compliance.
type NotJudged struct {
	// NoRecord are requests in these access logs that no gate saw.
	NoRecord int64 `json:"no_record"`
	// NotBot are requests that were taken for a browser's or exempted by
	// `not_bot`, and their User-Agents.
	NotBot       int64 `json:"not_bot"`
	NotBotAgents Table `json:"not_bot_user_agents"`
	// TunnelsOpened are CONNECT requests, skipped by interception or without
	// any, whose contents nobody saw.
	TunnelsOpened      int64         `json:"tunnels_opened"`
	TunnelsRefused     int64         `json:"tunnels_refused"`
	TunnelDestinations Table         `json:"tunnel_destinations"`
	OverridesAllowed   int64         `json:"overrides_allowed"`
	OverridesDenied    int64         `json:"overrides_denied"`
	Overrides          []OverrideUse `json:"overrides"`
	// ReportMode are requests of gates that enforced nothing, and WouldBeDenied
	// those of them that robots.txt spoke against.
	ReportMode    int64 `json:"report_mode"`
	WouldBeDenied int64 `json:"would_be_denied"`
	// UnreachableAllowed passed although robots.txt could not be read.
	UnreachableAllowed int64 `json:"unreachable_allowed"`
	// Stale were judged by an old copy, since the origin did not answer.
	Stale int64 `json:"stale"`
}

// OverrideUse is an exception of the configuration and how often it decided.
type OverrideUse struct {
	Origin   string `json:"origin"`
	Owner    string `json:"owner,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Until    string `json:"until,omitempty"`
	Requests int64  `json:"requests"`
	Allowed  int64  `json:"allowed"`
}

// TokenUse is a product token that was obeyed although the User-Agent does not
// bear it.
type TokenUse struct {
	// Agent is the name that the User-Agent gives, "" where it gives none.
	Agent string `json:"agent"`
	// Tokens are those that were obeyed, in order.
	Tokens string `json:"tokens"`
	// Source is config, or user_agent where a crawler's documentation names
	// another's group as the one to fall back on.
	Source   string `json:"source"`
	Job      string `json:"job,omitempty"`
	Requests int64  `json:"requests"`
}

// RefusedPath is a URL without its query and the rule that refused it.
type RefusedPath struct {
	URL           string `json:"url"`
	Rule          string `json:"rule,omitempty"`
	Line          int    `json:"line,omitempty"`
	Reason        string `json:"reason"`
	Denied        int64  `json:"denied"`
	WouldBeDenied int64  `json:"would_be_denied"`
}

// RefusedPaths are the paths refused most often.
type RefusedPaths struct {
	Rows []RefusedPath `json:"rows"`
	// Other counts the refusals that stand under no row; see Table.
	Other    int64 `json:"other"`
	Complete bool  `json:"complete"`
}

// Summarise reads logs and reports on them. progress may be nil.
func Summarise(ctx context.Context, logs []Log, progress Progress) (*Report, error) {
	c := newCollector()
	for _, log := range logs {
		c.report.Logs = append(c.report.Logs, log.Name)
	}
	p := pipeline[entries]{
		logs: logs, worker: newEntryReader,
		merge: func(b *block, out *entries) {
			c.merge(out)
			if progress != nil {
				progress(logs[b.log], c.report.Lines.All())
			}
		},
		damage: func(d Damage) { c.report.Damage = append(c.report.Damage, d) },
	}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	return c.finish(), nil
}
