package parser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// dump writes what was parsed, one group per line, to compare it with what the
// RFC's text says: "agents → rules", with line numbers.
func dump(r *Robots) string {
	var groups []string
	for g := range r.Groups() {
		var parts []string
		for a := range g.Agents() {
			parts = append(parts, fmt.Sprintf("%d:%s", a.Line, a.Token))
		}
		parts = append(parts, "→")
		for rule := range g.Rules() {
			parts = append(parts, fmt.Sprintf("%d:%s", rule.Line, rule))
		}
		groups = append(groups, strings.Join(parts, " "))
	}
	return strings.Join(groups, "\n")
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"RFC9309_2.2_empty file", "", ""},
		{
			"RFC9309_2.2.1_groups",
			"user-agent: a\nuser-agent: b\nallow: /x\ndisallow: /y\n\nuser-agent: *\ndisallow: /\n",
			"1:a 2:b → 3:Allow: /x 4:Disallow: /y\n6:* → 7:Disallow: /",
		},
		{"RFC9309_2.2.2_rule before any group", "disallow: /a\nuser-agent: a\ndisallow: /b\n", "2:a → 3:Disallow: /b"},
		{"RFC9309_2.2.4_other records end nothing", "user-agent: a\nsitemap: s\nfoo: 1\nuser-agent: b\ndisallow: /\n", "1:a 4:b → 5:Disallow: /"},
		{"RFC9309_2.2_empty value ends the run", "user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /\n", "1:a →\n3:b → 4:Disallow: /"},
		{"RFC9309_2.2_comment and space", " \tUser-Agent \v:\f a # b\n# disallow: /x\nDisallow:\t/y # z", "1:a → 3:Disallow: /y"},
		{"RFC9309_2.2_line ends", "user-agent: a\r\ndisallow: /1\rdisallow: /2\n\r\n\rdisallow: /3\r", "1:a → 2:Disallow: /1 3:Disallow: /2 6:Disallow: /3"},
		{"Google_no colon", "user-agent a\ndisallow\t /x\ndisallow /x y\n", "1:a → 2:Disallow: /x"},
		{"Google_misspelt keys", "useragent: a\nuser agent: b\ndissallow: /1\ndissalow: /2\ndisalow: /3\ndiasllow: /4\ndisallaw: /5\nDISALLOWED: /6\nallows: /7\nalow: /8", "1:a 2:b → 3:Disallow: /1 4:Disallow: /2 5:Disallow: /3 6:Disallow: /4 7:Disallow: /5 8:Disallow: /6 9:Allow: /7"},
		{"Google_NUL ends the line", "user-agent: a\x00b\ndisallow: /x\x00y\ndisallow: /z", "1:a → 2:Disallow: /x 3:Disallow: /z"},
		{"Google_byte order mark", "\xef\xbb\xbfuser-agent: a\ndisallow: /", "1:a → 2:Disallow: /"},
		{"Google_part of a byte order mark", "\xef\xbbuser-agent: a\ndisallow: /", "1:a → 2:Disallow: /"},
		{"Google_one byte order mark only", "\xef\xbb\xbf\xef\xbb\xbfuser-agent: a\ndisallow: /", ""},
		{"UTF-16 little-endian", "\xff\xfeu\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00a\x00\n\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00\xac\x20\x3d\xd8\x00\xde\x00\xd8x", "1:a → 2:Allow: /€😀\ufffd"},
		{"UTF-16 big-endian", "\xfe\xff\x00u\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\r\x00\n\x00a\x00l\x00l\x00o\x00w\x00:\x00/", "1:* → 2:Allow: /"},
		{"names nobody", "user-agent:\ndisallow: /a\nuser-agent: *b\nuser-agent: \"*\"\ndisallow: /b", "1: → 2:Disallow: /a\n3: 4: → 5:Disallow: /b"},
		{"tokens", "user-agent: * x\nuser-agent: Foo/1.2\nuser-agent: 360Spider\nuser-agent: archive.org_bot\nuser-agent: foo,bar\nuser-agent: Foo*\nallow: /", "1:* 2:Foo 3:360Spider 4:archive.org_bot 5:foo 6:Foo → 7:Allow: /"},
		{"many lines between", strings.Repeat("\n", 61) + "user-agent: a\n" + strings.Repeat("\n", 62) + "allow: /a\n" + strings.Repeat("\n", 9999) + "allow: /b", "62:a → 125:Allow: /a 10125:Allow: /b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := dump(Parse([]byte(test.body))); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestGoogle_LongLineIsCut(t *testing.T) {
	long := "disallow: /" + strings.Repeat("x", MaxLine)
	r := Parse([]byte("user-agent: a\n" + long + "\nallow: /y"))
	var rules []Rule
	for g := range r.Groups() {
		rules = slices.AppendSeq(rules, g.Rules())
	}
	want := []Rule{
		{Pattern: "/" + strings.Repeat("x", 16663-len("disallow: /")), Line: 2},
		{Allow: true, Pattern: "/y", Line: 3},
	}
	if !slices.Equal(rules, want) {
		t.Errorf("got %d rules, %.80v", len(rules), rules)
	}
}

func TestRecords(t *testing.T) {
	r := Parse([]byte("Sitemap: https://e/s.xml # all\nuser-agent: a\nCrawl-delay: 10\ndisallow: /\nuser-agent: b\nContent-Signal: search=yes, ai-train=no\nHost example.com\nempty:\nno record here\n: nor here\n"))
	want := []Record{
		{"Sitemap", "https://e/s.xml", 1, -1},
		{"Crawl-delay", "10", 3, 0},
		{"Content-Signal", "search=yes, ai-train=no", 6, 1},
		{"Host", "example.com", 7, 1},
		{"empty", "", 8, 1},
	}
	if got := slices.Collect(r.Records()); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestParseKeepsNothingOfItsInput(t *testing.T) {
	body := []byte("user-agent: a\ndisallow: /private\n")
	r := Parse(body)
	for i := range body {
		body[i] = 'x'
	}
	if got, want := dump(r), "1:a → 2:Disallow: /private"; got != want {
		t.Errorf("after overwriting the input: got %s, want %s", got, want)
	}
}

func TestZeroValues(t *testing.T) {
	var r Robots
	if got := dump(&r); got != "" {
		t.Errorf("zero Robots has groups: %s", got)
	}
	for rec := range r.Records() {
		t.Errorf("zero Robots has record %v", rec)
	}
	if got := (Rule{}).String(); got != "" {
		t.Errorf("zero Rule is %q, want no text", got)
	}
}
