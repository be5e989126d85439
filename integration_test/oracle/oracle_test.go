package oracle

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/integration_test/repo"
)

func TestJudge(t *testing.T) {
	const robots = "User-agent: examplebot\nUser-agent: other\nAllow: /private/open$\nDisallow: /private\nDisallow: /*.pdf$\n\n" +
		"User-agent: *\nDisallow: /all\n"
	tests := []struct {
		name   string
		robots string
		tokens []string
		target string
		rfc    bool
		want   Verdict
	}{
		{"rule", robots, []string{"ExampleBot"}, "/private/x", false, Verdict{Reason: Disallowed, Token: "examplebot", Form: "F1", Lines: []int{4}, Patterns: []string{"/private"}}},
		{"longest allows", robots, []string{"OTHER"}, "/private/open", false, Verdict{Allowed: true, Reason: RuleAllowed, Token: "other", Lines: []int{3}, Patterns: []string{"/private/open$"}}},
		{"wildcard", robots, []string{"other"}, "/a.pdf", false, Verdict{Reason: Disallowed, Token: "other", Form: "F1", Lines: []int{5}, Patterns: []string{"/*.pdf$"}}},
		{"anchor", robots, []string{"other"}, "/a.pdf?x", false, Verdict{Allowed: true, Reason: NoRule, Token: "other"}},
		{"named group excludes the global one", robots, []string{"other"}, "/all", false, Verdict{Allowed: true, Reason: NoRule, Token: "other"}},
		{"global group", robots, []string{"bot"}, "/all", false, Verdict{Reason: Disallowed, Token: "*", Form: "F1", Lines: []int{8}, Patterns: []string{"/all"}}},
		{"second token", robots, []string{"bot", "other"}, "/all", false, Verdict{Allowed: true, Reason: NoRule, Token: "other"}},
		{"empty token is everybody", robots, []string{"", "other"}, "/all", false, Verdict{Reason: Disallowed, Token: "*", Form: "F1", Lines: []int{8}, Patterns: []string{"/all"}}},
		{"anchor counts", "User-agent: *\nAllow: /x\nDisallow: /x$\n", nil, "/x", false, Verdict{Reason: Disallowed, Token: "*", Form: "F1", Lines: []int{3}, Patterns: []string{"/x$"}}},
		{"robots.txt", "User-agent: *\nDisallow: /\n", nil, "/robots.txt", false, Verdict{Allowed: true, Reason: RobotsTxt}},
		{"no group", "User-agent: a\nDisallow: /\n", []string{"b"}, "/", false, Verdict{Allowed: true, Reason: NoGroup}},
		{"escaped letter", robots, []string{"other"}, "/%70rivate", true, Verdict{Reason: Disallowed, Token: "other", Form: "F1", Lines: []int{4}, Patterns: []string{"/private"}}},
		{"dots", robots, []string{"other"}, "/a/%2e./private", false, Verdict{Reason: DisallowedNormalised, Token: "other", Form: "F2", Lines: []int{4}, Patterns: []string{"/private"}}},
		{"dots, rfc", robots, []string{"other"}, "/a/%2e./private", true, Verdict{Allowed: true, Reason: NoRule, Token: "other"}},
		{"slashes", robots, []string{"other"}, "//private", false, Verdict{Reason: DisallowedNormalised, Token: "other", Form: "F3", Lines: []int{4}, Patterns: []string{"/private"}}},
		{"separators", robots, []string{"other"}, "/a%2f..%5Cprivate", false, Verdict{Reason: DisallowedNormalised, Token: "other", Form: "F4", Lines: []int{4}, Patterns: []string{"/private"}}},
		{"params", robots, []string{"other"}, "/a/..;x/private", false, Verdict{Reason: DisallowedNormalised, Token: "other", Form: "F5", Lines: []int{4}, Patterns: []string{"/private"}}},
		{"query is no path", robots, []string{"other"}, "/a?/../private", false, Verdict{Allowed: true, Reason: NoRule, Token: "other"}},
		{"tie", "User-agent: *\nDisallow: /x\nAllow: /x\nAllow: /%78\n", nil, "/x", false, Verdict{Allowed: true, Reason: RuleAllowed, Token: "*", Lines: []int{3, 4}, Patterns: []string{"/x", "/%78"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Read([]byte(tt.robots)).Judge(tt.tokens, tt.target, !tt.rfc)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Judge(%q) = %+v, want %+v", tt.target, got, tt.want)
			}
		})
	}
}

func TestForms(t *testing.T) {
	tests := map[string][5]string{
		"/plain?q=../a//b": {"/plain?q=../a//b", "/plain?q=../a//b", "/plain?q=../a//b", "/plain?q=../a//b", "/plain?q=../a//b"},
		"/é":               {"/%C3%A9", "/%C3%A9", "/%C3%A9", "/%C3%A9", "/%C3%A9"},
		"/%c3%a9%7E":       {"/%C3%A9~", "/%C3%A9~", "/%C3%A9~", "/%C3%A9~", "/%C3%A9~"},
		"/*$%zz%2":         {"/%2A%24%zz%2", "/%2A%24%zz%2", "/%2A%24%zz%2", "/%2A%24%zz%2", "/%2A%24%zz%2"},
		"/a/./b/../c":      {"/a/./b/../c", "/a/c", "/a/c", "/a/c", "/a/c"},
		"/../..//x/.":      {"/../..//x/.", "//x/", "/x/", "/x/", "/x/"},
		`/a%2f%2e%2e\b`:    {"/a%2F..%5Cb", "/a%2F..%5Cb", "/a%2F..%5Cb", "/b", "/b"},
		"/a;b/..;c/d;e":    {"/a;b/..;c/d;e", "/a;b/..;c/d;e", "/a;b/..;c/d;e", "/a;b/..;c/d;e", "/d"},
		"/a/%2E":           {"/a/.", "/a/", "/a/", "/a/", "/a/"},
		"/x#y":             {"/x", "/x", "/x", "/x", "/x"},
	}
	for target, want := range tests {
		if got := Forms(target); !slices.Equal(got, want[:]) {
			t.Errorf("Forms(%q) = %q, want %q", target, got, want)
		}
	}
}

func TestGroups(t *testing.T) {
	tests := []struct {
		name, robots string
		want         []Group
	}{
		{"odd records end nothing", "user-agent: a\nsitemap: x\n\nuser-agent: b\nfoo\ndisallow: /x\ncrawl-delay: 1\nallow: /y", []Group{{[]string{"a", "b"}, []string{"/x", "/y"}}}},
		{"empty rule ends the run", "user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /", []Group{{[]string{"a"}, nil}, {[]string{"b"}, []string{"/"}}}},
		{"rules before any group", "disallow: /\nuser-agent: a\nallow: /", []Group{{[]string{"a"}, []string{"/"}}}},
		{"names", "user-agent: Foo/1.2\nuser-agent: foo.Bar x\nuser-agent: *\nuser-agent: * x\nuser-agent: *foo\nuser-agent: \"*\"\nuser-agent:", []Group{{[]string{"foo", "foo.bar", "*", "*"}, nil}}},
		{"line ends", "user-agent: a\rdisallow: /x\r\n\nallow: /y", []Group{{[]string{"a"}, []string{"/x", "/y"}}}},
		{"two words", "user-agent a\ndisallow /x\ndisallow /y z\nallow", []Group{{[]string{"a"}, []string{"/x"}}}},
		{"misspelt", "useragent: a\nDISALLOWED: /x\ndissalow: /y # comment\nuser agent: b", []Group{{[]string{"a"}, []string{"/x", "/y"}}, {[]string{"b"}, nil}}},
		{"white space", "user-agent\v:\fa\t\ndisallow: \v/x y\f", []Group{{[]string{"a"}, []string{"/x y"}}}},
		{"NUL", "user-agent: a\x00b\ndisallow: /x\x00: y", []Group{{[]string{"a"}, []string{"/x"}}}},
		{"mark cut short", "\xEF\xBBuser-agent: a", []Group{{[]string{"a"}, nil}}},
		{"UTF-16", "\xFE\xFF\x00u\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00a\x00", []Group{{[]string{"a"}, nil}}},
		{"long line", "user-agent: a\ndisallow: /" + strings.Repeat("x", maxLine), []Group{{[]string{"a"}, []string{"/" + strings.Repeat("x", maxLine-len("disallow: /"))}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			same := func(a, b Group) bool {
				return slices.Equal(a.Names, b.Names) && slices.Equal(a.Patterns, b.Patterns)
			}
			if got := Read([]byte(tt.robots)).Groups(); !slices.EqualFunc(got, tt.want, same) {
				t.Errorf("Groups(%q) = %q, want %q", tt.robots, got, tt.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for limit, want := range map[int]string{11: "a: b\nc: d\ne", 10: "a: b\nc: d\n", 9: "a: b\n", 4: ""} {
		if got := string(Cut([]byte("a: b\nc: d\ne"), limit)); got != want {
			t.Errorf("Cut at %d = %q, want %q", limit, got, want)
		}
	}
}

// TestCorpus holds the oracle to the project's rulings, case by case.
func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(repo.Shared(t, "corpus"), "*.jsonl"))
	if len(files) == 0 {
		t.Fatal("the corpus holds no .jsonl file")
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		scanner := bufio.NewScanner(f)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			var c struct {
				ID        string `json:"id"`
				Robots    string `json:"robots"`
				RobotsB64 string `json:"robots_b64"`
				Token     string `json:"token"`
				URL       string `json:"url"`
				URLB64    string `json:"url_b64"`
				Allowed   bool   `json:"allowed"`
				Why       string `json:"why"`
			}
			if err := json.Unmarshal(scanner.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			robots, url := plain(t, c.Robots, c.RobotsB64), plain(t, c.URL, c.URLB64)
			v := Read([]byte(robots)).Judge([]string{c.Token}, target(url), false)
			if v.Allowed != c.Allowed {
				t.Errorf("%s: %q may ask for %q: got %v, ruling %v (%s)\n%q", c.ID, c.Token, url, v, c.Allowed, c.Why, robots)
			}
		}
		if err := scanner.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func plain(t *testing.T, text, b64 string) string {
	t.Helper()
	if b64 == "" {
		return text
	}
	raw, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// target cuts scheme, authority and fragment from a URL as the corpus writes
// them: without a scheme the text up to the first "/", "?" or ";" is the
// authority, unless it begins with one slash.
func target(url string) string {
	url, _, _ = strings.Cut(url, "#")
	scheme, rest, ok := strings.Cut(url, "://")
	if ok && !strings.ContainsAny(scheme, "/?;") {
		url = rest
	}
	url = strings.TrimPrefix(url, "//")
	path := strings.IndexAny(url, "/?;")
	if path < 0 {
		return "/"
	}
	if url[path] == '/' {
		return url[path:]
	}
	return "/" + url[path:]
}
