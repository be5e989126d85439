package agent

import (
	"fmt"
	"strings"
)

// maxToken and maxPhrase bound what may be a product token: longer runs of
// words are sentences.
const (
	maxToken  = 64
	maxPhrase = 6
)

// rule is the reason for which a header is a bot's.
type rule uint8

const (
	ruleEmpty rule = iota
	ruleWord
	ruleURL
	ruleEmail
	ruleCompatible
	ruleShape
)

type option uint8

const (
	noOption option = iota
	optionBot
	optionNotBot
)

// finding is a rule that applied and the part of the header it applied to.
type finding struct {
	rule       rule
	start, end int
}

// candidate is a name that the header may give its sender.
type candidate struct {
	start, end int
	words      int
	score      int
	outside    bool // of comments
}

// report is everything found out about one header.
type report struct {
	header   string
	bot      bool
	seen     class
	platform bool
	option   option
	word     string // of the option

	findings   [8]finding
	found      int
	candidates [4]candidate
	proposed   int
}

func (r *report) find(k rule, start, end int) {
	r.bot = true
	if r.found < len(r.findings) {
		r.findings[r.found] = finding{k, start, end}
		r.found++
	}
}

// propose keeps the candidates in order of score, earlier ones first.
func (r *report) propose(c candidate) {
	i := r.proposed
	for i > 0 && r.candidates[i-1].score < c.score {
		i--
	}
	if i == len(r.candidates) {
		return
	}
	copy(r.candidates[i+1:], r.candidates[i:])
	r.candidates[i] = c
	r.proposed = min(r.proposed+1, len(r.candidates))
}

// examine applies the rules to a header of at most MaxExamined bytes.
func examine(header string) report {
	r := report{header: header}
	if strings.TrimSpace(header) == "" {
		r.find(ruleEmpty, 0, 0)
		return r
	}
	s := scanner{r: &r}
	s.scan(header)
	if !r.shaped() {
		r.find(ruleShape, 0, len(header))
	}
	return r
}

// shaped reports whether the header has the shape that browsers give theirs.
func (r *report) shaped() bool {
	h := r.header
	if hasPrefix(h, 0, "opera/") {
		return true
	}
	if !hasPrefix(h, 0, "mozilla/") {
		return false
	}
	if hasPrefix(h, 0, "mozilla/5.0 (") {
		return r.seen&engine != 0 && r.platform
	}
	return r.seen&(engine|platform) != 0
}

func (r *report) agent() Agent {
	if !r.bot {
		return Agent{}
	}
	a := Agent{Bot: true}
	if r.proposed > 0 {
		c := r.candidates[0]
		a.Name = strings.Clone(r.header[c.start:c.end])
		a.tokens = r.tokens()
	}
	return a
}

func (r *report) explain() []string {
	var why []string
	switch r.option {
	case optionBot:
		why = append(why, fmt.Sprintf("a bot, since it contains %q, an operator's bot word", r.word))
	case optionNotBot:
		return append(why, fmt.Sprintf("not a bot, since it contains %q, an operator's not_bot word", r.word))
	}
	for _, f := range r.findings[:r.found] {
		why = append(why, f.sentence(r.header))
	}
	if !r.bot {
		why = append(why, "a browser: it has a browser's shape and no rule speaks for a bot")
	}
	return why
}

func (f finding) sentence(header string) string {
	part := header[f.start:f.end]
	switch f.rule {
	case ruleEmpty:
		return "a bot, since the header is missing or empty"
	case ruleWord:
		return fmt.Sprintf("a bot, since %q is or contains a word that bots use", part)
	case ruleURL:
		return fmt.Sprintf("a bot, since it carries the address %q", part)
	case ruleEmail:
		return fmt.Sprintf("a bot, since it carries the e-mail address %q", part)
	case ruleCompatible:
		return fmt.Sprintf("a bot, since the unknown name %q follows \"compatible;\"", part)
	default:
		return "a bot, since the header does not have the shape of a browser's"
	}
}
