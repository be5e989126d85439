package agent

import "strings"

// parents are the robots.txt groups that a bot's own documentation lets it
// fall back on. A child that ends in "*" stands for every longer token.
var parents = []family{
	{"googlebot-*", "Googlebot"},                   // developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers
	{"google-inspectiontool", "Googlebot"},         // the same page
	{"googleother-*", "GoogleOther"},               // the same page
	{"yandex*", "Yandex"},                          // yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
	{"applebot", "Googlebot"},                      // support.apple.com/119829
	{"screaming frog seo spider", "Googlebot"},     // www.screamingfrog.co.uk/guides/robots-txt/
	{"adsbot-google-mobile-apps", "AdsBot-Google"}, // developers.google.com/search/docs/crawling-indexing/google-special-case-crawlers
	{"bingbot", "msnbot"},                          // blogs.bing.com/webmaster/June-2010/Bing-crawler-bingbot-on-the-horizon
	{"baiduspider-*", "Baiduspider"},               // help.baidu.com/question?prod_id=99&class=476&id=2996
}

// family is a child's token and the group to fall back on.
type family struct{ child, parent string }

// maxTokens bounds the tokens of one agent.
const maxTokens = 6

// newIdentity derives the product tokens from the candidates' places in a part
// of the header: the best as a phrase, then its telling word, then their
// documented parents, then the further products outside comments.
func newIdentity(part string, spans [maxCandidates]span) *identity {
	id := &identity{part: part, spans: spans, name: part[spans[0].start:spans[0].end]}
	word := tellingWord(id.name)
	id.add(id.name)
	id.add(word)
	id.add(parent(id.name))
	id.add(parent(word))
	for _, s := range spans[1:] {
		name := part[s.start:s.end]
		id.add(name)
		id.add(tellingWord(name))
	}
	return id
}

// add appends a token unless it is empty or there already.
func (id *identity) add(token string) {
	if token == "" || len(id.tokens) == maxTokens {
		return
	}
	for _, t := range id.tokens {
		if strings.EqualFold(t, token) {
			return
		}
	}
	id.tokens = append(id.tokens, token)
}

// tellingWord returns the word of a phrase that names the bot by itself: one
// that says it is a bot's, else the only one that is not generic, else the
// second of two. Any other word would be a guess.
func tellingWord(phrase string) string {
	var last string
	words, telling := 0, 0
	for w := range strings.SplitSeq(phrase, " ") {
		words++
		switch c := lookup(w); {
		case c&(generic|browser) != 0:
		case c&(automated|listed) != 0 || fragmentClass(w)&automated != 0:
			return w
		default:
			telling++
			last = w
		}
	}
	if telling > 1 && words > 2 {
		return ""
	}
	return last
}

// parent returns the documented parent of a token, "" without one.
func parent(token string) string {
	for _, p := range parents {
		prefix, family := strings.CutSuffix(p.child, "*")
		if hasPrefix(token, prefix) && (len(token) > len(prefix)) == family {
			return p.parent
		}
	}
	return ""
}
