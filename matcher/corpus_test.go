package matcher

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

// The conformance cases, RFC and others apart so that a failure says which side
// it is on. Where a source departs from RFC 9309 the case carries the ruling.

func TestRFC9309_Corpus(t *testing.T) { testCorpus(t, "rfc9309.jsonl") }

func TestGoogle_CorpusRobotsTest(t *testing.T) { testCorpus(t, "google-robots_test.jsonl") }
func TestGoogle_CorpusProbes(t *testing.T)     { testCorpus(t, "google-probes.jsonl") }
func TestGoogle_CorpusSpecTest(t *testing.T)   { testCorpus(t, "spec-test.jsonl") }

func TestMoz_CorpusRepCpp(t *testing.T) { testCorpus(t, "rep-cpp.jsonl") }

type corpusCase struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Robots    *string `json:"robots"`
	RobotsB64 []byte  `json:"robots_b64"`
	Token     string  `json:"token"`
	URL       *string `json:"url"`
	URLB64    []byte  `json:"url_b64"`
	Allowed   bool    `json:"allowed"`
}

func (c *corpusCase) robots() []byte {
	if c.Robots != nil {
		return []byte(*c.Robots)
	}
	return c.RobotsB64
}

func (c *corpusCase) url() string {
	if c.URL != nil {
		return *c.URL
	}
	return string(c.URLB64)
}

func readCorpus(t testing.TB, file string) []corpusCase {
	t.Helper()
	f, err := os.Open(filepath.Join(shared(t, "corpus"), file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []corpusCase
	for in := bufio.NewReader(f); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var c corpusCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return cases
}

func testCorpus(t *testing.T, file string) {
	for _, c := range readCorpus(t, file) {
		t.Run(c.ID+" "+strings.ReplaceAll(c.Name, "/", "∕"), func(t *testing.T) {
			path := PathOf(c.url())
			m := New(parser.Parse(c.robots()), c.Token)
			got := m.Match(path)
			if got.Allowed != c.Allowed {
				t.Errorf("token %q, path %q: allowed %t by %q in line %d, want %t\n%.2000s",
					c.Token, path, got.Allowed, got.Rule, got.Rule.Line, c.Allowed, c.robots())
			}
			strict, form := m.MatchStrict(path)
			if f1 := Normalize(path); sameForms(f1, octetsOf(f1)) && strict != got {
				t.Errorf("path %q: strict says %+v in %v, F1 alone %+v", path, strict, form, got)
			}
		})
	}
}
