package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotsgate/robotsgate/parser"
)

// corpus is the real files and what is asked of them.
type corpus struct {
	bodies [][]byte
	texts  []string // the same, for libraries that take strings
	size   int64
	paths  [][]string // for every file, paths to judge
}

const pathsPerFile = 16

func readFiles(dir string) (*corpus, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no *.txt", dir)
	}
	c := &corpus{}
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c.bodies = append(c.bodies, body)
		c.texts = append(c.texts, string(body))
		c.size += int64(len(body))
	}
	c.choosePaths()
	return c, nil
}

// choosePaths asks every file half for paths its own rules are about, and half
// for paths that the rules of other files are about.
func (c *corpus) choosePaths() {
	rng := rand.New(rand.NewPCG(1, 2))
	own := make([][]string, len(c.bodies))
	var all []string
	for i, body := range c.bodies {
		for g := range parser.Parse(body).Groups() {
			if !g.Names("*") {
				continue
			}
			for r := range g.Rules() {
				if r.Pattern[0] == '/' && len(r.Pattern) < 200 {
					path := strings.ReplaceAll(strings.TrimSuffix(r.Pattern, "$"), "*", "item")
					own[i] = append(own[i], path+[]string{"", "", "index.html", "page/2", "?id=17"}[rng.IntN(5)])
				}
			}
		}
		if len(own[i]) > 0 {
			all = append(all, own[i][rng.IntN(len(own[i]))])
		}
	}
	for i := range c.bodies {
		var paths []string
		for j := range pathsPerFile {
			from := all
			if j%2 == 0 && len(own[i]) > 0 {
				from = own[i]
			}
			paths = append(paths, from[rng.IntN(len(from))])
		}
		c.paths = append(c.paths, paths)
	}
}
