package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sets are the labelled User-Agents.
type sets struct {
	bots, tools, browsers []string
	pairs                 []pair
}

// pair is a User-Agent with the robots.txt group that it has to obey.
type pair struct {
	userAgent string
	token     string   // empty for a browser
	parents   []string // groups to fall back on
}

func readSets(dir string) (s sets, err error) {
	for name, rows := range map[string]*[]string{
		"bots.dev.txt": &s.bots, "tools.dev.txt": &s.tools, "browsers.dev.txt": &s.browsers,
	} {
		if *rows, err = readLines(filepath.Join(dir, name)); err != nil {
			return s, err
		}
	}
	lines, err := readLines(filepath.Join(dir, "tokens.dev.tsv"))
	if err != nil {
		return s, err
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) < 3 {
			return s, fmt.Errorf("reading tokens.dev.tsv: %q has no three columns", line)
		}
		p := pair{userAgent: f[0], token: f[1]}
		for parent := range strings.FieldsFuncSeq(f[2], func(r rune) bool { return r == ',' || r == ';' }) {
			p.parents = append(p.parents, strings.TrimSpace(parent))
		}
		s.pairs = append(s.pairs, p)
	}
	return s, nil
}

func readLines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a development set (name their folder with -sets): %w", err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() != "" {
			lines = append(lines, s.Text())
		}
	}
	return lines, nil
}

// ofTheShape keeps the headers that begin as today's browsers' do.
func ofTheShape(rows []string) []string {
	var kept []string
	for _, row := range rows {
		if strings.HasPrefix(row, "Mozilla/5.0 (") {
			kept = append(kept, row)
		}
	}
	return kept
}
