package agent

import "strings"

// maxToken and maxPhrase bound what may be a product token, in bytes and
// words: longer runs are sentences.
const (
	maxToken  = 64
	maxPhrase = 6
)

// rule is the reason for which a header is a bot's.
type rule uint8

const (
	_ rule = iota
	ruleEmpty
	ruleListed
	ruleWord
	ruleHint
	ruleURL
	ruleEmail
	ruleCompatible
	ruleLayout
	ruleProduct
	ruleShape
)

// finding is a rule that applied and the part of the header it applied to.
type finding struct {
	rule       rule
	start, end uint16
}

// candidate is a name that the header may give its sender.
type candidate struct {
	start, end uint16
	score      uint8
	outside    bool // of comments
}

type option uint8

const (
	noOption option = iota
	optionBot
	optionNotBot
)

// report is everything found out about one header.
type report struct {
	header  string
	bot     bool
	mozilla bool  // it begins as the browsers of our day do: "Mozilla/5.0 ("
	modern  bool  // its engine is AppleWebKit, or Gecko since Firefox 4
	seen    class // of the browser's words

	found, proposed uint8
	findings        [6]finding
	candidates      [4]candidate

	option option
	word   string // of the option
}

func (r *report) find(k rule, start, end int) {
	r.bot = true
	if int(r.found) < len(r.findings) {
		r.findings[r.found] = finding{k, uint16(start), uint16(end)}
		r.found++
	}
}

// propose keeps the candidates in order of score, earlier ones first.
func (r *report) propose(c candidate) {
	i := int(r.proposed)
	for i > 0 && r.candidates[i-1].score < c.score {
		i--
	}
	if i == len(r.candidates) {
		return
	}
	copy(r.candidates[i+1:], r.candidates[i:])
	r.candidates[i] = c
	r.proposed = min(r.proposed+1, uint8(len(r.candidates)))
}

func (r *report) text(start, end uint16) string { return r.header[start:end] }

// examine applies the rules to a header of at most MaxExamined bytes.
func examine(r *report, header string) {
	r.header = header
	r.mozilla = hasPrefix(header, "mozilla/5.0 (")
	s := scanner{r: r, h: header}
	s.scan()
	if s.words == 0 && !r.bot {
		r.find(ruleEmpty, 0, len(header))
	} else if !r.shaped() {
		r.find(ruleShape, 0, len(header))
	}
}

func (r *report) agent() Agent {
	if !r.bot {
		return Agent{}
	}
	a := Agent{Bot: true}
	if r.proposed > 0 {
		a.Name = strings.Clone(r.text(r.candidates[0].start, r.candidates[0].end))
		a.tokens = r.tokens()
	}
	return a
}
