package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsgate/robotsgate/agent"
)

// figure is a rate that should be high: right answers of all.
type figure struct {
	Name  string `json:"name"`
	Right int    `json:"right"`
	Of    int    `json:"of"`
	reach float64
	wrong []string
}

func (f figure) rate() float64 { return float64(f.Right) / float64(max(f.Of, 1)) }

func (f figure) String() string {
	return fmt.Sprintf("%-58s %6d / %-6d %7.2f %%   reach %6.2f %%", f.Name, f.Right, f.Of, 100*f.rate(), 100*f.reach)
}

// identification counts the rows that are told to be bots, or not to be.
func identification(name string, rows []string, bot bool, reach float64) figure {
	f := figure{Name: name, Of: len(rows), reach: reach}
	for _, row := range rows {
		if agent.Identify(row).Bot == bot {
			f.Right++
		} else {
			f.wrong = append(f.wrong, row)
		}
	}
	return f
}

func figures(s sets) []figure {
	return append([]figure{
		identification("crawlers found", s.bots, true, .99),
		identification("HTTP libraries and tools found", s.tools, true, .995),
		identification("of the shape \"Mozilla/5.0 (\": bots found", ofTheShape(s.bots), true, .955),
		identification("of the shape \"Mozilla/5.0 (\": browsers not called bots", ofTheShape(s.browsers), false, .999),
		identification("browsers of every shape not called bots", s.browsers, false, .94),
	}, tokenFigures(s.pairs)...)
}

// hostile are group names that must capture nobody.
var hostile = []string{
	"bot", "bots", "robot", "crawler", "spider", "mozilla", "applewebkit", "compatible", "chrome",
	"safari", "gecko", "khtml", "like", "windows", "linux", "http", "https", "www", "com", "",
}

// tokenFigures measures which group of a robots.txt an agent obeys, among
// hostile ones and those of all the other agents of the set.
func tokenFigures(pairs []pair) []figure {
	own := figure{Name: "right token when its group exists", reach: .99}
	parent := figure{Name: "right token when its parent's group exists", reach: .96}
	neither := figure{Name: "\"*\" when neither exists", reach: 1}
	for _, p := range pairs {
		groups := strangers(p, pairs)
		tokens := agent.Identify(p.userAgent).Tokens()
		if p.token != "" {
			own.count(p, obeyed(tokens, append(groups, p.token)), p.token)
		}
		for _, name := range p.parents {
			parent.count(p, obeyed(tokens, append(groups, name)), name)
		}
		neither.count(p, obeyed(tokens, groups), "*")
	}
	return []figure{own, parent, neither}
}

func (f *figure) count(p pair, got, want string) {
	f.Of++
	if strings.EqualFold(got, want) {
		f.Right++
	} else {
		f.wrong = append(f.wrong, fmt.Sprintf("%s: %q, want %q", p.userAgent, got, want))
	}
}

// strangers are groups that the agent of the pair must not obey.
func strangers(p pair, pairs []pair) []string {
	groups := slices.Clone(hostile)
	for _, other := range pairs {
		for _, name := range append([]string{other.token}, other.parents...) {
			kin := func(s string) bool { return strings.EqualFold(s, name) }
			if !kin(p.token) && !slices.ContainsFunc(p.parents, kin) {
				groups = append(groups, name)
			}
		}
	}
	return slices.Clip(groups)
}

// obeyed is the first token that has a group, else "*".
func obeyed(tokens, groups []string) string {
	for _, t := range tokens {
		if slices.ContainsFunc(groups, func(g string) bool { return strings.EqualFold(g, t) }) {
			return t
		}
	}
	return "*"
}
