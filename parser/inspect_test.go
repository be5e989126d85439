package parser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestInspectWarnings(t *testing.T) {
	const group = "User-agent: *\n"
	for _, test := range []struct {
		name, body string
		line       int
		code       string
		instead    string // what the remedy contains
	}{
		{"page", "\n<!DOCTYPE html>\n<html>\n", 1, WarnHTML, "plain text"},
		{"UTF-16", "\xff\xfe#\x00", 1, WarnUTF16, "UTF-8"},
		{"byte order mark", "\xef\xbb\xbf" + group + "Disallow: /", 1, WarnByteOrderMark, "without byte order mark"},
		{"Latin-1", group + "Disallow: /\n# caf\xe9\n", 3, WarnNotUTF8, "UTF-8"},
		{"NUL", group + "Disallow: /\x00\n", 2, WarnNUL, "UTF-8"},
		{"large", group + "Disallow: /\n" + strings.Repeat("#\n", RecommendedLimit/2-13) + "#\n", RecommendedLimit/2 - 13 + 3, WarnTooLarge, "fewer"},
		{"long line", group + "Disallow: /\n#" + strings.Repeat("x", MaxLine), 3, WarnLongLine, "divide"},
		{"text", group + "Disallow: /\nplease do not\n", 3, WarnUnreadable, "#"},
		{"path alone", group + "Disallow: /a\n/b/c\n", 3, WarnUnreadable, "Disallow: /b/c"},
		{"URL alone", group + "Disallow: /a\nhttps://e/Sitemap.xml\n", 3, WarnUnreadable, "Sitemap: https://e/Sitemap.xml"},
		{"no colon", group + "disallow /b\n", 2, WarnMissingColon, "Disallow: /b"},
		{"accepted misspelling", group + "Dissalow: /b\n", 2, WarnMisspeltKey, "Disallow: /b"},
		{"accepted prefix", group + "Allowed: /b\n", 2, WarnMisspeltKey, "Allow: /b"},
		{"useragent", "useragent: *\nDisallow: /b\n", 1, WarnMisspeltKey, "User-agent: *"},
		{"missed misspelling", group + "Disallow: /\nAlow: /b\n", 3, WarnMisspeltKey, "Allow: /b"},
		{"site-map", group + "Disallow: /\nSite-map: https://e/s\n", 3, WarnMisspeltKey, "Sitemap: https://e/s"},
		{"unknown", group + "Disallow: /\nAuthor: me\n", 3, WarnUnknownKey, "#"},
		{"crawl-delay", group + "Disallow: /\nCrawl-Delay: 1\n", 3, WarnUnsupported, "Retry-After"},
		{"noindex", group + "Disallow: /\nNoindex: /a\n", 3, WarnUnsupported, "X-Robots-Tag: noindex"},
		{"outside", "Disallow: /\n", 1, WarnOutsideGroup, "User-agent: *"},
		{"empty allow", group + "Allow:\n", 2, WarnEmptyAllow, "Allow: /"},
		{"nobody", "User-agent: *bot*\nDisallow: /\n", 1, WarnNamesNobody, "User-agent: *"},
		{"version", "User-agent: Foo/2.0\nDisallow: /\n", 1, WarnAgentCut, "User-agent: Foo"},
		{"list", "User-agent: Foo, Bar\nDisallow: /\n", 1, WarnAgentCut, "one User-agent line for each"},
		{"star and more", "User-agent: * all\nDisallow: /\n", 1, WarnAgentCut, "User-agent: *"},
		{"twice in a group", "User-agent: a\nUser-agent: A\nDisallow: /\n", 2, WarnRepeatedAgent, "leave"},
		{"two groups", "User-agent: a\nDisallow: /a\nUser-agent: A\nDisallow: /b\n", 3, WarnRepeatedGroup, "line 1"},
		{"no rules", "User-agent: a\nDisallow: /a\n\nUser-agent: b\nCrawl-delay: 1\n", 4, WarnNoRules, "Disallow:"},
		{"URL for a path", group + "Disallow: https://e/a?b\n", 2, WarnNeverMatches, "Disallow: /a?b"},
		{"host for a path", group + "Disallow: www.e.org/a\n", 2, WarnNeverMatches, "Disallow: /a"},
		{"no slash", group + "Disallow: a.html\n", 2, WarnNeverMatches, "Disallow: /a.html"},
		{"same twice", group + "Disallow: /ab\nDisallow: /%61b\n", 3, WarnNeverWins, "leave one"},
		{"opposite", group + "Disallow: /ab\nAllow: /ab\n", 2, WarnNeverWins, "leave one"},
		{"shorter", group + "Allow: /ab\nDisallow: /ab*\n", 2, WarnNeverWins, "leave one"},
		{"in a merged group", group + "Disallow: /ab*$\n" + group + "Disallow: /ab**\nAllow: /c\n", 4, WarnNeverWins, "leave one"},
		{"robots.txt", group + "Allow: /robots.txt\n", 2, WarnRobotsTxt, "leave"},
		{"dollar", group + "Disallow: /a$b$\n", 2, WarnDollar, "/a%24b"},
		{"two paths", group + "Disallow: /a /b\n", 2, WarnSpace, "one line for each"},
		{"escape", group + "Disallow: /100%\n", 2, WarnEscape, "%25"},
		{"sitemap", "Sitemap: /sitemap.xml\n" + group + "Disallow: /\n", 1, WarnRelativeSitemap, "Sitemap: https://www.example.com/sitemap.xml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := slices.ContainsFunc(Inspect([]byte(test.body)).Warnings, func(w Warning) bool {
				return w.Line == test.line && w.Code == test.code && strings.Contains(w.Instead, test.instead)
			})
			if !found {
				t.Errorf("want %s in line %d with %q instead, got %+v", test.code, test.line, test.instead, Inspect([]byte(test.body)).Warnings)
			}
		})
	}
}

func TestInspectWithoutFault(t *testing.T) {
	for _, body := range []string{
		"",
		"# nothing\n\n",
		"User-Agent: *\nDisallow:\n",
		"Sitemap: https://e/s.xml\n\nuser-agent: foo\nuser-agent: bar\nallow: /a/*.html$\ndisallow: /a/\nContent-Signal: ai-train=no\n\nuser-agent: *\ndisallow: /*?\n",
		"User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /\n",
	} {
		if got := Inspect([]byte(body)).Warnings; len(got) > 0 {
			t.Errorf("%q: unexpected warnings %+v", body, got)
		}
	}
}

func TestInspectReport(t *testing.T) {
	got, err := json.Marshal(Inspect([]byte("Sitemap: https://e/s.xml\r\nUser-agent: Foo/1\r\nDisallow: /a\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"size":59,"lines":3,"encoding":"utf-8",` +
		`"groups":[{"line":2,"agents":[{"name":"Foo/1","token":"Foo","line":2}],"rules":[{"allow":false,"pattern":"/a","line":3}]}],` +
		`"records":[{"key":"Sitemap","value":"https://e/s.xml","line":1,"group":-1}],` +
		`"warnings":[{"line":2,"code":"agent_cut","message":"only \"Foo\" of \"Foo/1\" is read","instead":"User-agent: Foo"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	empty, err := json.Marshal(Inspect(nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"size":0,"lines":0,"encoding":"utf-8","groups":[],"records":[],"warnings":[]}`; string(empty) != want {
		t.Errorf("empty file: got %s, want %s", empty, want)
	}
}
