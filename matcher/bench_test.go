package matcher

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

// BenchmarkMatch asks the matcher of every real file for paths that its own
// rules are about and for others.
func BenchmarkMatch(b *testing.B) {
	names, err := filepath.Glob(filepath.Join(shared(b, "robots-real"), "*.txt"))
	if err != nil || len(names) == 0 {
		b.Fatalf("no real files: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var matchers []*Matcher
	var own [][]string
	var all []string
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		r := parser.Parse(body)
		matchers = append(matchers, New(r, "examplebot"))
		var paths []string
		for group := range r.Groups() {
			for rule := range group.Rules() {
				if group.Names("*") && rule.Pattern[0] == '/' && len(rule.Pattern) < 200 {
					paths = append(paths, strings.ReplaceAll(strings.TrimSuffix(rule.Pattern, "$"), "*", "item"))
				}
			}
		}
		own = append(own, paths)
		if len(paths) > 0 {
			all = append(all, paths[rng.IntN(len(paths))])
		}
	}
	const asked = 16
	paths := make([][]string, len(own))
	for i := range own {
		for j := range asked {
			from := all
			if j%2 == 0 && len(own[i]) > 0 {
				from = own[i]
			}
			paths[i] = append(paths[i], from[rng.IntN(len(from))])
		}
	}
	for _, judge := range []struct {
		name  string
		match func(*Matcher, string) Verdict
	}{
		{"paths=rfc", (*Matcher).Match},
		{"paths=strict", func(m *Matcher, path string) Verdict { v, _ := m.MatchStrict(path); return v }},
	} {
		b.Run(judge.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i, m := range matchers {
					for _, path := range paths[i] {
						judge.match(m, path)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(matchers)*asked), "ns/verdict")
		})
	}
}

// BenchmarkNew makes the matcher of the largest real file.
func BenchmarkNew(b *testing.B) {
	names, err := filepath.Glob(filepath.Join(shared(b, "robots-real"), "*.txt"))
	if err != nil || len(names) == 0 {
		b.Fatalf("no real files: %v", err)
	}
	var largest []byte
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if len(body) > len(largest) {
			largest = body
		}
	}
	r := parser.Parse(largest)
	b.ReportAllocs()
	for b.Loop() {
		New(r, "examplebot")
	}
}
