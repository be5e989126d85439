package main

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"

	"github.com/jimsmart/grobotstxt"
	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
	"github.com/temoto/robotstxt"
)

const token = "examplebot"

// counting receives what grobotstxt's parser emits.
type counting struct{ rules int }

func (c *counting) HandleRobotsStart()                      {}
func (c *counting) HandleRobotsEnd()                        {}
func (c *counting) HandleUserAgent(int, string)             {}
func (c *counting) HandleAllow(int, string)                 { c.rules++ }
func (c *counting) HandleDisallow(int, string)              { c.rules++ }
func (c *counting) HandleSitemap(int, string)               {}
func (c *counting) HandleUnknownAction(int, string, string) {}

func measureParse(c *corpus, rounds int) {
	results := interleave(rounds,
		func() {
			for _, body := range c.bodies {
				sink += parser.Parse(body).Size()
			}
		},
		func() {
			for _, body := range c.bodies {
				for i := 0; i >= 0; body = body[i+1:] {
					if i = bytes.IndexByte(body, '\n'); i < 0 {
						break
					}
					sink++
				}
			}
		},
		func() {
			var h counting
			for _, text := range c.texts {
				grobotstxt.Parse(text, &h)
			}
			sink += h.rules
		},
		func() {
			for _, body := range c.bodies {
				if r, err := robotstxt.FromBytes(body); err == nil {
					sink += len(r.Sitemaps)
				}
			}
		},
	)
	for i, other := range []string{"newline scan", "grobotstxt", "temoto"} {
		row("parse", results[0].rate(c.size), other+" "+results[i+1].rate(c.size), ratio(results[0], results[i+1]))
	}
}

func measureAllocations(c *corpus, _ int) {
	allocations := func(parse func(int)) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range c.bodies {
			parse(i)
		}
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs-before.Mallocs) / float64(len(c.bodies))
	}
	ours := allocations(func(i int) { sink += parser.Parse(c.bodies[i]).Size() })
	temoto := allocations(func(i int) {
		if r, err := robotstxt.FromBytes(c.bodies[i]); err == nil {
			sink += len(r.Sitemaps)
		}
	})
	row("allocations per file", fmt.Sprintf("%.3g", ours), fmt.Sprintf("temoto %.3g", temoto), temoto/ours)
}

func measureMemory(c *corpus, _ int) {
	kept := func(parse func([]byte) any) float64 {
		var before, after runtime.MemStats
		parsed := make([]any, len(c.bodies))
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i, body := range c.bodies {
			parsed[i] = parse(body)
		}
		runtime.GC()
		runtime.GC() // the first leaves pooled buffers
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(parsed)
		return float64(after.HeapAlloc-before.HeapAlloc) / float64(c.size)
	}
	ours := kept(func(body []byte) any { return parser.Parse(body) })
	temoto := kept(func(body []byte) any { r, _ := robotstxt.FromBytes(body); return r })
	row("memory kept, of the files' size", fmt.Sprintf("%.3g ×", ours), fmt.Sprintf("temoto %.3g ×", temoto), temoto/ours)
}

func measureVerdict(c *corpus, rounds int) {
	matchers := make([]*matcher.Matcher, len(c.bodies))
	groups := make([]*robotstxt.Group, len(c.bodies))
	for i, body := range c.bodies {
		matchers[i] = matcher.New(parser.Parse(body), token)
		if r, err := robotstxt.FromBytes(body); err == nil {
			groups[i] = r.FindGroup(token)
		}
	}
	const passes = 5 // over all files in a run
	over := func(judge func(file int, path string) bool) func() {
		return func() {
			for range passes {
				for i, paths := range c.paths {
					for _, path := range paths {
						if judge(i, path) {
							sink++
						}
					}
				}
			}
		}
	}
	results := interleave(rounds,
		over(func(i int, path string) bool { return matchers[i].Match(path).Allowed }),
		over(func(i int, path string) bool { v, _ := matchers[i].MatchStrict(path); return v.Allowed }),
		over(func(i int, path string) bool { return groups[i] != nil && groups[i].Test(path) }),
	)
	n := passes * len(c.bodies) * pathsPerFile
	row("verdict, token chosen", results[0].per(n), "temoto "+results[2].per(n), ratio(results[0], results[2]))
	row("verdict, `paths strict`", results[1].per(n), "", 0)
	again := interleave(1, func() {
		for i, text := range c.texts {
			if grobotstxt.AgentAllowed(text, token, "http://h"+c.paths[i][0]) {
				sink++
			}
		}
	})
	row("verdict, parsing each time", "", "grobotstxt "+again[0].per(len(c.texts)), 0)
}

func measureNew(c *corpus, rounds int) {
	largest := slices.MaxFunc(c.bodies, func(a, b []byte) int { return len(a) - len(b) })
	r := parser.Parse(largest)
	results := interleave(rounds, func() {
		for range 20 {
			sink += matcher.New(r, token).Size()
		}
	})
	row(fmt.Sprintf("matcher.New, largest file (%d kB)", len(largest)/1000), results[0].per(20), "", 0)
	row("memory kept by that matcher, of the file's size", fmt.Sprintf("%.3g ×", float64(matcher.New(r, token).Size())/float64(len(largest))), "", 0)
}
