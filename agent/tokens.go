package agent

import "strings"

// parents are the robots.txt groups that a bot's own documentation lets it
// fall back on. Keys are lower-case; a key that ends in "*" is a prefix.
var parents = []struct{ child, parent string }{
	{"googlebot-*", "Googlebot"},               // developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers
	{"google-inspectiontool", "Googlebot"},     // the same page
	{"googleother-*", "GoogleOther"},           // the same page
	{"yandex*", "Yandex"},                      // yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
	{"applebot", "Googlebot"},                  // support.apple.com/119829
	{"screaming frog seo spider", "Googlebot"}, // www.screamingfrog.co.uk/guides/robots-txt/
	{"baiduspider-*", "Baiduspider"},           // the Baidu webmaster help
	{"msnbot-*", "msnbot"},
}

// maxTokens bounds the tokens of one agent.
const maxTokens = 6

// tokens derives the product tokens from the candidates: the best one as a
// phrase, then its telling word, then the documented parents, then the further
// products outside comments.
func (r *report) tokens() []string {
	tokens := make([]string, 0, maxTokens)
	add := func(t string) {
		if t == "" || len(tokens) == maxTokens {
			return
		}
		for _, old := range tokens {
			if strings.EqualFold(old, t) {
				return
			}
		}
		tokens = append(tokens, t)
	}
	best := r.candidates[0]
	name := strings.Clone(r.text(best.start, best.end))
	add(name)
	word := tellingWord(name)
	add(word)
	add(parent(name))
	add(parent(word))
	for _, c := range r.candidates[1:r.proposed] {
		if best.outside && c.outside {
			name := strings.Clone(r.text(c.start, c.end))
			add(name)
			add(tellingWord(name))
		}
	}
	return tokens
}

// tellingWord returns the word of a phrase that names the bot by itself: the
// one that says it is a bot, else the last, else the first, generic words never.
func tellingWord(phrase string) string {
	var last string
	for w := range strings.SplitSeq(phrase, " ") {
		switch c := lookup(w); {
		case c&(generic|browser) != 0:
		case c&(automated|listed) != 0 || fragmentClass(w)&automated != 0:
			return w
		default:
			last = w
		}
	}
	return last
}

func parent(token string) string {
	if token == "" {
		return ""
	}
	for _, p := range parents {
		if prefix, ok := strings.CutSuffix(p.child, "*"); ok {
			if len(token) > len(prefix) && hasPrefix(token, prefix) {
				return p.parent
			}
		} else if foldEqual(token, p.child) {
			return p.parent
		}
	}
	return ""
}
