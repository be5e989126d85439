package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jimsmart/grobotstxt"
	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
	"github.com/temoto/robotstxt"
)

// measureLiterals judges paths by 10,000 rules without wildcards.
func measureLiterals(_ *corpus, rounds int) {
	const rules, asked = 10_000, 1_000
	rng := rand.New(rand.NewPCG(3, 4))
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	written := make([]string, rules)
	for i := range written {
		written[i] = fmt.Sprintf("/%s/%s-%d/", []string{"products", "blog", "category/sale", "user"}[rng.IntN(4)], words(rng, 1+rng.IntN(4)), i)
		fmt.Fprintf(&file, "Disallow: %s\n", written[i])
	}
	paths := make([]string, asked)
	for i := range paths {
		paths[i] = written[rng.IntN(rules)] + words(rng, 2)
		if i%2 == 0 {
			paths[i] = strings.Replace(paths[i], "-", "_", 1)
		}
	}
	m := matcher.New(parser.Parse([]byte(file.String())), token)
	r, err := robotstxt.FromString(file.String())
	if err != nil {
		panic(err)
	}
	group := r.FindGroup(token)
	results := interleave(rounds,
		func() {
			for range 100 {
				for _, path := range paths {
					if m.Match(path).Allowed {
						sink++
					}
				}
			}
		},
		func() {
			for _, path := range paths[:20] {
				if group.Test(path) {
					sink++
				}
			}
		},
		func() {
			for _, path := range paths[:20] {
				if grobotstxt.AgentAllowed(file.String(), token, "http://h"+path) {
					sink++
				}
			}
		},
	)
	ours := float64(results[0].median()) / float64(100*asked)
	for i, other := range []string{"temoto", "grobotstxt"} {
		t := results[i+1]
		row("verdict, 10,000 literal rules", results[0].per(100*asked), other+" "+t.per(20), float64(t.median())/20/ours)
	}
}

func words(rng *rand.Rand, n int) string {
	list := []string{"red", "green", "shoe", "table", "garden", "winter", "offer", "phone", "print", "archive"}
	var parts []string
	for range n {
		parts = append(parts, list[rng.IntN(len(list))])
	}
	return strings.Join(parts, "-")
}
