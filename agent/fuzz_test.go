package agent

import (
	"slices"
	"strings"
	"testing"
)

// FuzzIdentify holds what is true of every header: an answer that depends on
// nothing but its first bytes, with reasons for that answer, and tokens that
// stand in the header or are documented parents.
func FuzzIdentify(f *testing.F) {
	for _, h := range headers {
		f.Add(h.userAgent)
	}
	for _, seed := range []string{
		"", " ", "(", ")", "((((", "))))(", "/", "like", "compatible", "compatible;compatible;", "@", "a@b.cd", "://", "www.",
		"Mozilla/5.0 (", "Mozilla/5.0 (compatible", "Mozilla/5.0 (compatible; like", "Yahoo! Slurp", "v1", "v", "1/", "a/v",
		"\x00bot", "bot\xff", "büro/1.0", strings.Repeat("(", MaxExamined), strings.Repeat("a ", MaxExamined),
		strings.Repeat("a", MaxExamined-1) + "bot", strings.Repeat("x@", 2000), strings.Repeat("compatible; A ", 300),
		chrome + " Foo/124.0", chrome + " Foo", chrome + " (compatible; Foo)", "Googlebot-News/1.0 aiohttp/3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, userAgent string) {
		a := plain.examine(userAgent[:min(len(userAgent), MaxExamined)])
		for range 3 { // new, seen once, and from the cache
			if b := Identify(userAgent); !same(a, b) {
				t.Fatalf("Identify(%q) = %+v and %+v", userAgent, a, b)
			}
		}
		if len(userAgent) >= MaxExamined && !same(a, Identify(userAgent+" bot (compatible; Foobot)")) {
			t.Errorf("Identify(%q) looks beyond %d bytes", userAgent, MaxExamined)
		}
		var whole report
		whole.examine(userAgent[:min(len(userAgent), MaxExamined)], false)
		if !same(a, whole.agent()) {
			t.Errorf("Identify(%q) = %+v, read to its end %+v", userAgent, a, whole.agent())
		}
		if why := Explain(userAgent); len(why) == 0 || strings.HasPrefix(why[0], "not a bot") == a.Bot {
			t.Errorf("Identify(%q).Bot = %v, since %q", userAgent, a.Bot, why)
		}
		if !a.Bot && (a.Name != "" || len(a.Tokens()) > 0) {
			t.Errorf("Identify(%q) is no bot and has a name: %+v", userAgent, a)
		}
		if len(a.Tokens()) > maxTokens || (a.Name != "") != (len(a.Tokens()) > 0) {
			t.Errorf("Identify(%q) = %q with the tokens %q", userAgent, a.Name, a.Tokens())
		}
		for _, token := range a.Tokens() {
			documented := slices.ContainsFunc(parents, func(p family) bool { return p.parent == token })
			if token == "" || len(token) > maxToken || lookup(token)&(generic|browser) != 0 ||
				!documented && !strings.Contains(userAgent, token) {
				t.Errorf("Identify(%q) has the token %q", userAgent, token)
			}
		}
	})
}

func same(a, b Agent) bool {
	return a.Bot == b.Bot && a.Name == b.Name && slices.Equal(a.Tokens(), b.Tokens())
}
