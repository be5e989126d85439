package agent

import "strings"

const (
	// maxToken and maxPhrase bound what may be a product token, in bytes and
	// words: longer runs are sentences.
	maxToken  = 64
	maxPhrase = 6
	// maxCandidates bounds the names considered for one header.
	maxCandidates = 4
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
	ruleItem
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
	candidates      [maxCandidates]candidate

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

// examine applies the rules to a header of at most MaxExamined bytes. When
// brief, it stops where the rest can change neither answer, name nor tokens.
func (r *report) examine(header string, brief bool) {
	r.header = header
	rest, mozilla := cutMozilla(header)
	r.mozilla = mozilla && strings.HasPrefix(rest, "5.0 (")
	if !r.mozilla && strings.HasPrefix(rest, "5.0") {
		mozilla = false
	}
	s := scanner{r: r, h: header, brief: brief}
	if !s.scan() {
		return
	}
	s.judgeItem()
	switch {
	case s.words == 0 && !r.bot:
		r.find(ruleEmpty, 0, len(header))
	case !r.shaped(mozilla):
		r.find(ruleShape, 0, len(header))
	}
}

// shaped reports whether a header read to its end has the shape that browsers
// give theirs: "Mozilla/" or "Opera/" first, then an engine or a system; where
// unknown names stand, both.
func (r *report) shaped(mozilla bool) bool {
	switch seen := r.seen & (engine | platform); {
	case !mozilla:
		return hasPrefix(r.header, "opera/")
	case r.mozilla && r.proposed > 0:
		return seen == engine|platform || r.seen&handset != 0
	default:
		return seen != 0
	}
}

// cutMozilla cuts the "Mozilla/" with which browsers' headers begin.
func cutMozilla(header string) (rest string, found bool) {
	const mozilla = 'm' | 'o'<<8 | 'z'<<16 | 'i'<<24 | 'l'<<32 | 'l'<<40 | 'a'<<48 | '/'<<56
	if len(header) >= 8 && load(header)|lower == mozilla {
		return header[8:], true
	}
	return header, false
}

func (r *report) agent() Agent {
	switch {
	case !r.bot:
		return Agent{}
	case r.proposed == 0:
		return Agent{Bot: true}
	}
	id := r.identity()
	return Agent{Bot: true, Name: id.name, tokens: id.tokens}
}
