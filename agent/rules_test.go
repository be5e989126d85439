package agent

import (
	"slices"
	"strings"
	"testing"
)

const (
	webkit124 = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0"
	linux     = "Mozilla/5.0 (X11; Linux x86_64) "
	phone     = "Mozilla/5.0 (Linux; Android 14; K) " + webkit124 + " Mobile Safari/537.36"
	oldFox    = "Mozilla/5.0 (Windows; U; Windows NT 5.1; en-US; rv:1.7.5) Gecko/20041107 Firefox/1.0"
)

// TestRules has for each point of the rule in the package docs what it reaches
// and what it leaves alone. why is the first reason, empty for a browser.
func TestRules(t *testing.T) {
	tests := []struct{ name, userAgent, why string }{
		{"1 missing", "", "missing or has no word"},
		{"1 no word", " ;( )/", "missing or has no word"},

		{"2 listed", chrome + " PTST/1.0", `lists "PTST"`},
		{"2 listed phrase", chrome + " ghost inspector", `lists "ghost inspector"`},
		{"2 a model is no crawler", "Mozilla/5.0 (Linux; Android 4.3; HTC Butterfly) " + webkit124 + " Mobile Safari/537.36", ""},
		{"2 listed alone among models", "Mozilla/5.0 (Linux; Android 4.3; en-us; Catchpoint) " + webkit124 + " Mobile Safari/537.36", `lists "Catchpoint"`},

		{"3 a word", chrome + " Robot", `"Robot" holds a word`},
		{"3 part of a word", phone + " AcmeCrawler/1", `"AcmeCrawler" holds a word`},
		{"3 bot ends a name", phone + " AcmeBot2", `"AcmeBot2" holds a word`},
		{"3 bot begins another word", phone + " Bottega/1.0", ""},
		{"3 a maker called Cubot", "Mozilla/5.0 (Linux; Android 6.0; CUBOT MAX) " + webkit124 + " Mobile Safari/537.36", ""},
		{"3 automation", linux + "AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/124.0.0.0 Safari/537.36", `"HeadlessChrome"`},

		{"4 a URL", phone + " (+https://a.example/x)", `the address "https://a.example/x"`},
		{"4 an e-mail address", phone + " ops@a.example", `the e-mail address "ops@a.example"`},
		{"4 a version behind @ is none", phone + " (Ecosia android@124.0.6367.113)", ""},
		{"4 a locale behind @ is none", "Mozilla/5.0 (X11; U; Linux i686; de_DE@euro) " + webkit124 + " Safari/537.36", ""},
		{"4 a domain", chrome + " (acme.com)", `the address "acme.com"`},
		{"4 a domain of an old extension", oldFox + " (acme.com)", ""},

		{"5 unknown behind compatible", "Mozilla/4.0 (compatible; Acme)", `unknown name "Acme" follows "compatible;"`},
		{"5 a browser behind compatible", "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0; Acme)", ""},
		{"5 compatible with", oldFox + " (compatible with Acme)", ""},

		{"6 the engine's comment", linux + "AppleWebKit/537.36 (KHTML, like Gecko; Acme) Chrome/124.0.0.0 Safari/537.36", "on the layout engine"},
		{"6 on a phone too", "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko; Acme) Chrome/124.0.0.0 Mobile Safari/537.36", "on the layout engine"},

		{"7 a hint", linux + "AppleWebKit/537.36 (KHTML, like Gecko) AcmeAudit/2 Chrome/124.0.0.0 Safari/537.36", `"AcmeAudit" is no browser's word`},
		{"7 a generic word is a hint", linux + "AppleWebKit/537.36 (KHTML, like Gecko) Acme Monitor/2 Chrome/124.0.0.0 Safari/537.36", `"Acme Monitor" is no browser's word`},
		{"7 a generic word is no more", phone + " Acme Monitor/2", ""},
		{"7 a hint on a phone", phone + " AcmeAudit/2", ""},
		{"7 a hint in an old browser", oldFox + " AcmeAudit/2", ""},
		{"7 among the systems", "Mozilla/5.0 (X11; Linux x86_64; Acme) " + webkit124 + " Safari/537.36", "among the systems"},
		{"7 the second word of a system", "Mozilla/5.0 (X11; SunOS i86pc; rv:128.0) Gecko/20100101 Firefox/128.0", ""},
		{"7 a language among the systems", "Mozilla/5.0 (X11; U; Linux x86_64; zh-hans) " + webkit124 + " Safari/537.36", ""},
		{"7 after a desktop browser", chrome + " Acme/2.0", `"Acme" follows a complete desktop browser`},
		{"7 after Firefox", linux[:len(linux)-2] + "; rv:128.0) Gecko/20100101 Firefox/128.0 Acme", `"Acme" follows`},
		{"7 before the end", linux + webkit124 + " Acme/2.0 Safari/537.36", ""},
		{"7 after a phone's browser", phone + " Acme/2.0", ""},
		{"7 a serial number", chrome + " BX27/E67A28", ""},
		{"7 a browser says so", chrome + " AcmeBrowser/2.0", ""},
		{"7 a browser of the same version", chrome + " Acme/124.7", ""},
		{"7 a version of four numbers", chrome + " Acme/2.0.10.3", ""},

		{"8 not Mozilla", "Acme/1.0", "the shape"},
		{"8 Mozilla alone", "Mozilla/5.0", "the shape"},
		{"8 no comment", "Mozilla/5.0 Gecko/20100101 Firefox/128.0", "the shape"},
		{"8 no system", "Mozilla/5.0 (Acme/1.0)", "the shape"},
		{"8 no engine", "Mozilla/5.0 (Windows NT 10.0) Acme/1.0", "the shape"},
		{"8 nothing unknown", "Mozilla/5.0 (Windows NT 10.0)", ""},
		{"8 Opera", "Opera/9.80 (Windows NT 6.1; U; en) Presto/2.10.289 Version/12.02", ""},

		{"the word behind like", chrome + " (like AcmeBot)", ""},
		{"Chrome", chrome, ""},
		{"Firefox", oldFox, ""},
		{"case does not matter", strings.ToLower(chrome), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			why := Explain(tt.userAgent)
			if bot := Identify(tt.userAgent).Bot; bot != (tt.why != "") || !strings.Contains(why[0], tt.why) {
				t.Errorf("%q: %v, since %q, want %q", tt.userAgent, bot, why, tt.why)
			}
		})
	}
}

func TestTokenDerivation(t *testing.T) {
	tests := []struct {
		name, userAgent string
		want            []string
	}{
		{"first product", "Acme/1.0 (compatible with Foo/2)", []string{"Acme"}},
		{"behind compatible", "Nokia6820/2.0 (4.83) (compatible; AcmeBot/2.1; +http://a.example)", []string{"AcmeBot"}},
		{"compatible outside comments", chrome + "; compatible; AI-SearchBot/1.3; +https://a.example", []string{"AI-SearchBot"}},
		{"outside comments", chrome + " AcmeMonitor/1.0 (+https://a.example)", []string{"AcmeMonitor"}},
		{"versioned item", "Mozilla/5.0 (Windows NT 5.1; rv:1.9.1.2) Gecko/20090729 Firefox/3.5.2 (.NET CLR 3.5.30729; Acmebot/0.1; words)", []string{"Acmebot"}},
		{"digits and dots", "Mozilla/5.0 (compatible; 4Acme.1_bot/v2.1)", []string{"4Acme.1_bot"}},
		{"version behind a space", "Acmebot 1.0 (+https://a.example)", []string{"Acmebot"}},
		{"phrase and telling word", "Acme! Slurp/1", []string{"Acme! Slurp", "Slurp"}},
		{"generic words tell nothing", "Acme Web Crawler/1", []string{"Acme Web Crawler", "Acme"}},
		{"the second of two words", "Acme Finder/1", []string{"Acme Finder", "Finder"}},
		{"no guess among more", "Acme Finder Deluxe/1", []string{"Acme Finder Deluxe"}},
		{"generic words alone", "Web Crawler/1.0", nil},
		{"a sentence", "A b c d e f g h/1.0", nil},
		{"too long", strings.Repeat("a", maxToken+1), nil},
		{"a model is no name", "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) " + webkit124 + " Mobile Safari/537.36 +https://a.example", nil},
		{"behind like", "Acmebot (like Foobot)", []string{"Acmebot"}},
		{"no URL", "https://bot.example/1.0", nil},
		{"no e-mail address", "bot@a.example", nil},
		{"an app at the beginning", "WhatsApp/2.21 A", []string{"WhatsApp"}},
		{"an app behind a browser", chrome + " Slackbot Spotify/1.0", []string{"Slackbot"}},
		{"further products", "Python/3.11 aiohttp/3.9.5", []string{"Python", "aiohttp"}},
		{"further products, the same in another order", linux + "Python/3.11 Acmebot/3.9.5", []string{"Python", "Acmebot"}},
		{"first product before a bot", "Acme/3.11 Foobot/3.9.5", []string{"Acme", "Foobot"}},
		{"bot before another product", linux + "Acme/3.11 Foobot/3.9.5", []string{"Foobot", "Acme"}},
		{"no token twice", "Acme/1 acme/2", []string{"Acme"}},
		{"parent of a family", "Googlebot-Image/1.0", []string{"Googlebot-Image", "Googlebot"}},
		{"no parent of its own", "Mozilla/5.0 (compatible; Googlebot/2.1)", []string{"Googlebot"}},
		{"parent of a prefix", "YandexBot/3.0", []string{"YandexBot", "Yandex"}},
		{"parent of a phrase", "Screaming Frog SEO Spider/5.1", []string{"Screaming Frog SEO Spider", "Googlebot"}},
		{"parent of one name", "Mozilla/5.0 (compatible; bingbot/2.0)", []string{"bingbot", "msnbot"}},
		{"a browser", chrome, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Identify(tt.userAgent).Tokens(); !slices.Equal(got, tt.want) {
				t.Errorf("Identify(%q) has the tokens %q, want %q", tt.userAgent, got, tt.want)
			}
		})
	}
}

// TestLists holds that the lists are read as they are meant: small letters,
// and no word that two lists understand differently.
func TestLists(t *testing.T) {
	for _, s := range vocabulary {
		if s.class == 0 {
			continue
		}
		if s.text != strings.ToLower(s.text) {
			t.Errorf("%q has capitals", s.text)
		}
		if s.class&automated != 0 && s.class&browser != 0 {
			t.Errorf("%q is a browser's word and a bot's", s.text)
		}
		if lookup(strings.ToUpper(s.text)) != s.class {
			t.Errorf("%q is not found in capitals", s.text)
		}
	}
	if lookup("mozilla")&browser == 0 || lookup("ghost inspector")&listed == 0 || lookup("acme") != 0 {
		t.Error("lookup finds what it should not, or does not find what it should")
	}
}
