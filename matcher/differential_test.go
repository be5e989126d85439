package matcher

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

// triples is how many random (file, token, path) triples the packages are
// compared with the oracle on: a sample, or as many as the environment asks for.
func triples(t *testing.T) int {
	text := os.Getenv("ROBOTSGATE_ORACLE_TRIPLES")
	if text == "" {
		return 8_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("ROBOTSGATE_ORACLE_TRIPLES is no number: %v", err)
	}
	return n
}

// seed makes the runs repeatable; the environment may ask for others.
func seed(t *testing.T) uint64 {
	text := cmp.Or(os.Getenv("ROBOTSGATE_ORACLE_SEED"), "1")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("ROBOTSGATE_ORACLE_SEED is no number: %v", err)
	}
	return n
}

func TestOracleAgreesOnRandomFiles(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(seed(t), 0))}
	compareWithOracle(t, g, triples(t)/2, g.file)
}

func TestOracleAgreesOnMutatedRealFiles(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(shared(t, "robots-real"), "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no real files: %v", err)
	}
	g := generator{rand.New(rand.NewPCG(seed(t), 1))}
	compareWithOracle(t, g, triples(t)/2, func() string {
		text, err := os.ReadFile(names[g.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		return g.mutate(g.window(string(text), 8_000))
	})
}

func compareWithOracle(t *testing.T, g generator, n int, file func() string) {
	const perToken, perFile = 25, 100
	for done := 0; done < n; {
		text := file()
		o := newOracle(text)
		r := parser.Parse([]byte(text))
		for range perFile / perToken {
			tokens := g.tokens(o)
			rules, token := o.rules(tokens)
			m := New(r, tokens...)
			if m.Token() != token {
				t.Fatalf("tokens %q: group of %q, want %q\n%q", tokens, m.Token(), token, text)
			}
			for range perToken {
				path := g.path(o)
				if err := compareVerdicts(m, rules, path); err != nil {
					t.Fatalf("tokens %q, path %q: %v\n%q", tokens, path, err, text)
				}
				done++
			}
		}
	}
}

func compareVerdicts(m *Matcher, rules []oracleRule, path string) error {
	got, want := m.Match(path), oracleMatch(rules, path)
	if got != want {
		return fmt.Errorf("Match says %+v, want %+v", got, want)
	}
	strict, form := m.MatchStrict(path)
	wantStrict, wantForm := oracleStrict(rules, path)
	if strict != wantStrict || form.String() != wantForm {
		return fmt.Errorf("MatchStrict says %+v in %q, want %+v in %q", strict, form, wantStrict, wantForm)
	}
	return nil
}

// generator makes files, tokens and paths that have much to do with each other.
type generator struct{ *rand.Rand }

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// file is a random file over few letters, so that rules and paths meet often.
func (g generator) file() string {
	var b strings.Builder
	if g.IntN(20) == 0 {
		b.WriteString(g.pick("\xef\xbb\xbf", "\xef\xbb", "\xef", "\xff\xfe"))
	}
	for range g.IntN(1 + g.IntN(1+g.IntN(400))) {
		b.WriteString(g.pick("", "", "", "", " ", "\t"))
		switch g.IntN(14) {
		case 0:
			b.WriteString(g.pick("User-agent", "user-agent", "USER AGENT", "useragent", "user-agents"))
			b.WriteString(g.pick(": ", ":", " : ", " "))
			b.WriteString(g.pick("a", "A", "b", "ab", "a/1", "a b", "*", "* a", "*a", "", "a-b", "a.b"))
		case 1:
			b.WriteString(g.pick("Sitemap: x", "Crawl-delay: 1", "garbage", "", ":", "two words", "#", "Disallow", "allow:", "disallow:"))
		default:
			b.WriteString(g.pick("Allow", "Disallow", "disallow", "Disalow", "allowed"))
			b.WriteString(g.pick(": ", ":", " ", " :\t"))
			b.WriteString(g.pattern())
		}
		b.WriteString(g.pick("", "", "", "", " ", "#x", " # x", "\x00", "\f"))
		b.WriteString(g.pick("\n", "\n", "\n", "\r\n", "\r"))
	}
	return b.String()
}

func (g generator) pattern() string {
	s := g.pick("/", "/", "/", "/", "/", "*", "")
	for range g.IntN(1 + g.IntN(9)) {
		s += g.piece()
		if g.IntN(4) == 0 {
			s += "*"
		}
	}
	return s + g.pick("", "", "", "$", "*", "*$")
}

func (g generator) piece() string {
	return g.pick("a", "b", "a", "b", "ab", "/", "/", ".", "..", "%2F", "%2f", "%61", "%2A", "%24", "$", "?", ";", "\\", "%5c", "ツ", "%e3%83%84", "%", "%4", "é", " ", "=", "a/b/", "%zz")
}

// tokens are a few of the file's, mostly.
func (g generator) tokens(o *oracle) []string {
	var names []string
	for _, l := range o.lines {
		if l.what == "agent" {
			names = append(names, oracleName.FindString(l.value))
		}
	}
	names = append(names, "a", "nobody", "*", "")
	tokens := make([]string, g.IntN(3))
	for i := range tokens {
		tokens[i] = g.pick(names...)
		if g.IntN(4) == 0 {
			tokens[i] = strings.ToUpper(tokens[i])
		}
	}
	return tokens
}

// path is made of one of the file's patterns, or of the same pieces.
func (g generator) path(o *oracle) string {
	var s string
	if len(o.lines) > 0 && g.IntN(4) > 0 {
		s = o.lines[g.IntN(len(o.lines))].value
	}
	if s == "" {
		s = g.pattern()
	}
	for strings.Contains(s, "*") && g.IntN(20) > 0 {
		s = strings.Replace(s, "*", g.pick("", "", "a", "b", "/", g.piece()), 1)
	}
	if g.IntN(3) > 0 {
		s = strings.TrimSuffix(s, "$")
	}
	if !strings.HasPrefix(s, "/") && g.IntN(20) > 0 {
		s = "/" + s
	}
	for range g.IntN(4) {
		i := g.IntN(len(s) + 1)
		switch g.IntN(6) {
		case 0:
			s = s[:i] + g.piece() + s[i:]
		case 1:
			s = s[:i]
		case 2:
			if i < len(s) {
				s = s[:i] + fmt.Sprintf(g.pick("%%%02x", "%%%02X"), s[i]) + s[i+1:]
			}
		case 3:
			s = strings.Replace(s, "/", g.pick("//", "/./", "/a/../", "/;a/", "%2F", "\\", "/..;/"), 1)
		case 4:
			s += g.piece()
		case 5:
			s += "?" + g.piece()
		}
	}
	switch g.IntN(200) {
	case 0:
		s = "/robots.txt"
	case 1, 2, 3, 4, 5, 6:
		s += strings.Repeat(g.piece()+g.piece()+g.piece(), longForm/2) + g.piece()
	}
	return s
}

// window is a part of text of about size octets, cut at line ends, with a
// user-agent line before it if the file has one.
func (g generator) window(text string, size int) string {
	if len(text) <= size {
		return text
	}
	at := g.IntN(len(text) - size)
	part := text[at : at+size]
	if i := strings.IndexByte(part, '\n'); i >= 0 {
		part = part[i+1:]
	}
	return g.pick("", "User-agent: *\n", "User-agent: a\n") + part
}

// mutate changes a few places of text.
func (g generator) mutate(text string) string {
	for range g.IntN(6) {
		lines := strings.SplitAfter(text, "\n")
		i, j := g.IntN(len(lines)), g.IntN(len(lines))
		switch g.IntN(7) {
		case 0:
			lines[i], lines[j] = lines[j], lines[i]
		case 1:
			lines = slices.Insert(lines, i, lines[j])
		case 2:
			lines = slices.Delete(lines, i, i+1)
		case 3:
			lines = slices.Insert(lines, i, g.pick("Disallow: ", "Allow: ")+g.pattern()+"\n")
		case 4:
			lines = slices.Insert(lines, i, "User-agent: "+g.pick("*", "a", "b", "Googlebot")+"\n")
		case 5:
			if k := g.IntN(len(lines[i]) + 1); k < len(lines[i]) {
				lines[i] = lines[i][:k] + g.pick("*", "$", "%", "#", "\x00", "\r", " ", ":", "\xe9", "") + lines[i][k+1:]
			}
		case 6:
			lines[i] = strings.Replace(lines[i], "/", g.pick("/*", "//", "/%2F", "*/", "%2f"), 1)
		}
		text = strings.Join(lines, "")
	}
	return text
}
