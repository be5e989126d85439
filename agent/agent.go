package agent

import "hash/maphash"

// MaxExamined is the number of bytes of a User-Agent that are looked at. What
// follows them changes nothing, so a hostile header costs bounded work.
const MaxExamined = 4 << 10

// Agent is what a User-Agent header says about its sender. It is a small
// value, safe to copy and to keep; it holds no part of the header's memory.
type Agent struct {
	// Bot is true for crawlers, HTTP libraries, automation, and everything
	// that has no browser's User-Agent, a missing one included.
	Bot bool
	// Name is the bot's name as it stands in the header, such as "Googlebot"
	// or "Screaming Frog SEO Spider". It is empty for browsers and for bots
	// that do not name themselves.
	Name string

	tokens []string
}

// Tokens returns the product tokens (RFC 9309 §2.2.1) to look for among the
// groups of a robots.txt, in order of preference and without the final "*",
// which the matcher adds. It is empty for a browser and for a bot without a
// name. The slice is shared: callers must not change it.
func (a Agent) Tokens() []string { return a.tokens }

// Identify says who sent the User-Agent header; pass "" for a missing one.
func Identify(userAgent string) Agent {
	return plain.Identify(userAgent)
}

// Explain returns the reasons of the answer that Identify gives, in the order
// in which they were found: one sentence each, in lower case.
func Explain(userAgent string) []string {
	return plain.Explain(userAgent)
}

// Identifier is Identify with an operator's own words. It is immutable and
// safe for concurrent use. The nil and the zero Identifier have no words of
// their own and answer as Identify does.
type Identifier struct {
	bot, notBot []string // with small ASCII letters
	answers     *answers
}

// plain is the Identifier without words.
var plain = NewIdentifier(nil, nil)

// NewIdentifier returns an Identifier for which a User-Agent that contains one
// of the notBot substrings is never a bot, and else one that contains one of
// the bot substrings is a bot. The case of ASCII letters does not matter; empty
// substrings are ignored; a missing header is a bot whatever the words.
func NewIdentifier(bot, notBot []string) *Identifier {
	return &Identifier{bot: foldAll(bot), notBot: foldAll(notBot), answers: newAnswers()}
}

// foldAll returns the words that are not empty with their ASCII letters small.
func foldAll(words []string) []string {
	var all []string
	for _, w := range words {
		if w != "" {
			small := []byte(w)
			for i, b := range small {
				small[i] = folded[b]
			}
			all = append(all, string(small))
		}
	}
	return all
}

// Identify is the package's Identify under the identifier's own words.
func (id *Identifier) Identify(userAgent string) Agent {
	if id == nil || id.answers == nil {
		id = plain
	}
	header := userAgent[:min(len(userAgent), MaxExamined)]
	if len(header) > maxCachedHeader {
		return id.examine(header)
	}
	hash := maphash.String(seed, header)
	a, ok := id.answers.get(hash, header)
	if !ok {
		a = id.examine(header)
		id.answers.offer(hash, header, a)
	}
	return a
}

func (id *Identifier) examine(header string) Agent {
	var r report
	r.examine(header, true)
	id.overrule(&r)
	return r.agent()
}

// Explain is the package's Explain under the identifier's own words.
func (id *Identifier) Explain(userAgent string) []string {
	var r report
	r.examine(userAgent[:min(len(userAgent), MaxExamined)], false)
	id.overrule(&r)
	return r.explain()
}

// overrule applies the operator's words.
func (id *Identifier) overrule(r *report) {
	if id == nil || r.header == "" {
		return
	}
	if w := findFold(r.header, id.notBot); w != "" {
		r.bot, r.option, r.word = false, optionNotBot, w
	} else if w := findFold(r.header, id.bot); w != "" {
		r.bot, r.option, r.word = true, optionBot, w
	}
}

// findFold returns the first of the folded words that occurs in s.
func findFold(s string, words []string) string {
	for _, w := range words {
		for i := 0; i+len(w) <= len(s); i++ {
			if folded[s[i]] == w[0] && foldEqual(s[i:i+len(w)], w) {
				return w
			}
		}
	}
	return ""
}
