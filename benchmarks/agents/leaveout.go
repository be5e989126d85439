package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// part is a part of the development sets that the rules are made without.
type part struct {
	name            string
	bots, browsers  []string
	withoutCrawlers bool // the list of crawler-user-agents is left out altogether
}

// folds is the number of parts into which headers are put by their products,
// so that near-duplicates leave together.
const folds = 5

// leaveOut makes the rules again without each part of the sets in turn and
// measures them on that part alone. A word of any list stays only if it occurs
// in what remains, or nowhere in the sets: knowledge from elsewhere.
//
// The sets do not say which row came from which source. Those of
// crawler-user-agents are known from the package itself; the other sources'
// share of the crawlers is one part, and the folds stand for them once more.
func leaveOut(w io.Writer, s sets, source string, list int) error {
	parts, err := partsOf(s, source)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Rules made without a part, measured on that part%27s %21s %21s\n", "crawlers", "of the shape", "browsers of the shape")
	for _, p := range parts {
		if err := p.measure(w, s, source, list); err != nil {
			return fmt.Errorf("leaving out %s: %w", p.name, err)
		}
	}
	return nil
}

func partsOf(s sets, source string) ([]part, error) {
	cmd := exec.Command("go", "run", "./internal/crawlers", "-instances")
	cmd.Dir, cmd.Stderr = source, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking for the User-Agents of crawler-user-agents: %w", err)
	}
	instances := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		instances[strings.TrimSuffix(line, "\n")] = true
	}
	parts := make([]part, 2, 2+folds)
	parts[0] = part{name: "crawler-user-agents and its list", withoutCrawlers: true}
	parts[1] = part{name: "isbot, well-known-bots, uap-core, Crawler-Detect"}
	for _, row := range s.bots {
		if instances[row] {
			parts[0].bots = append(parts[0].bots, row)
		} else {
			parts[1].bots = append(parts[1].bots, row)
		}
	}
	for i := range folds {
		p := part{name: fmt.Sprintf("fold %d of %d, crawlers and browsers", i+1, folds)}
		p.bots, p.browsers = fold(s.bots, i), fold(s.browsers, i)
		parts = append(parts, p)
	}
	return parts, nil
}

// fold keeps the headers of one fold: those with the same product names.
func fold(rows []string, i int) []string {
	var kept []string
	for _, row := range rows {
		h := fnv.New32a()
		depth := 0
		for word := range strings.FieldsSeq(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(row)) {
			name, version, versioned := strings.Cut(word, "/")
			switch {
			case word == "(":
				depth++
			case word == ")":
				depth--
			case depth == 0 || versioned && version != "":
				_, _ = io.WriteString(h, strings.ToLower(name)) // a hash takes everything
			}
		}
		if h.Sum32()%folds == uint32(i) {
			kept = append(kept, row)
		}
	}
	return kept
}

// measure makes the rules without the part and prints what they say of it.
func (p part) measure(w io.Writer, s sets, source string, list int) error {
	dir, err := os.MkdirTemp("", "agents-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	dropped, err := p.makeRules(dir, s, source)
	if err != nil {
		return err
	}
	bots, err := identify(dir, p.bots)
	if err != nil {
		return err
	}
	browsers, err := identify(dir, p.browsers)
	if err != nil {
		return err
	}
	missed := wrongly(p.bots, bots, false)
	accused := wrongly(ofTheShape(p.browsers), byRow(p.browsers, browsers, ofTheShape(p.browsers)), true)
	fmt.Fprintf(w, "%-52s %s   %s   %s   %d words less\n", p.name, share(len(missed), len(p.bots)),
		share(len(ofTheShape(missed)), len(ofTheShape(p.bots))), share(len(accused), len(ofTheShape(p.browsers))), dropped)
	printList(w, missed, list)
	printList(w, accused, list)
	return nil
}

// share prints right ones of all, given the wrong ones.
func share(wrong, all int) string {
	if all == 0 {
		return fmt.Sprintf("%21s", "–")
	}
	return fmt.Sprintf("%5d / %5d %6.2f %%", all-wrong, all, 100*float64(all-wrong)/float64(all))
}

func wrongly(rows []string, answers []bool, answer bool) []string {
	var wrong []string
	for i, row := range rows {
		if answers[i] == answer {
			wrong = append(wrong, row)
		}
	}
	return wrong
}

// byRow picks the answers of some of the rows.
func byRow(rows []string, answers []bool, some []string) []bool {
	of := make(map[string]bool, len(rows))
	for i, row := range rows {
		of[row] = answers[i]
	}
	picked := make([]bool, len(some))
	for i, row := range some {
		picked[i] = of[row]
	}
	return picked
}

const identifyProgram = `package main

import (
	"bufio"
	"encoding/json"
	"os"

	"leaveout/agent"
)

func main() {
	var answers []bool
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		answers = append(answers, agent.Identify(in.Text()).Bot)
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
`

// identify asks the rules in dir.
func identify(dir string, rows []string) ([]bool, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Stdin = strings.NewReader(strings.Join(rows, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running the rules: %w", err)
	}
	var answers []bool
	if err := json.Unmarshal(out, &answers); err != nil {
		return nil, fmt.Errorf("reading the rules' answers: %w", err)
	}
	if len(answers) != len(rows) {
		return nil, fmt.Errorf("the rules gave %d answers to %d rows", len(answers), len(rows))
	}
	return answers, nil
}

// makeRules copies package agent into a module in dir, without the words that
// the part alone speaks for, and returns how many these are.
func (p part) makeRules(dir string, s sets, source string) (dropped int, err error) {
	left := newEvidence(p.bots, p.browsers)
	rest := newEvidence(without(s.bots, p.bots), without(s.browsers, p.browsers), s.tools)
	files, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return 0, err
	}
	lists, err := filepath.Glob(filepath.Join(source, "words", "*"))
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "agent", "words"), 0o755); err != nil {
		return 0, err
	}
	for _, file := range append(files, lists...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		if strings.HasSuffix(file, ".txt") {
			var n int
			text, n = p.thin(filepath.Base(file), text, left, rest)
			dropped += n
		}
		name, err := filepath.Rel(source, file)
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, "agent", name), text, 0o644); err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module leaveout\n\ngo 1.26\n"), 0o644); err != nil {
		return 0, err
	}
	return dropped, os.WriteFile(filepath.Join(dir, "main.go"), []byte(identifyProgram), 0o644)
}

// thin drops from a list the words for which only the part speaks.
func (p part) thin(file string, list []byte, left, rest evidence) ([]byte, int) {
	var kept bytes.Buffer
	dropped := 0
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' || line[0] == '[' {
			fmt.Fprintln(&kept, line)
			continue
		}
		words := strings.Fields(line)
		if file == "crawlers.txt" {
			words = []string{line}
		}
		for _, word := range words {
			has := evidence.word
			if file == "fragments.txt" || strings.Contains(word, " ") {
				has = evidence.text
			}
			if file == "crawlers.txt" && p.withoutCrawlers || has(left, word) && !has(rest, word) {
				dropped++
				continue
			}
			fmt.Fprint(&kept, word, " ")
			if file == "crawlers.txt" {
				kept.Truncate(kept.Len() - 1)
			}
		}
		fmt.Fprintln(&kept)
	}
	return kept.Bytes(), dropped
}

func without(rows, some []string) []string {
	gone := make(map[string]bool, len(some))
	for _, row := range some {
		gone[row] = true
	}
	var kept []string
	for _, row := range rows {
		if !gone[row] {
			kept = append(kept, row)
		}
	}
	return kept
}

// evidence is what occurs in some rows.
type evidence struct {
	words map[string]bool
	all   string
}

func newEvidence(sets ...[]string) evidence {
	e := evidence{words: make(map[string]bool)}
	var all strings.Builder
	for _, rows := range sets {
		for _, row := range rows {
			row = strings.ToLower(row)
			all.WriteString(row + "\n")
			for word := range strings.FieldsFuncSeq(row, func(r rune) bool { return strings.ContainsRune(" /();,:\"[]+", r) }) {
				e.words[word] = true
			}
		}
	}
	e.all = all.String()
	return e
}

func (e evidence) word(w string) bool { return e.words[w] }

func (e evidence) text(s string) bool { return strings.Contains(e.all, strings.TrimSuffix(s, ".")) }
