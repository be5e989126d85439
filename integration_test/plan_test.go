package integration_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/integration_test/oracle"
)

// domain holds every host of these tests: a name that can belong to nobody
// (RFC 6761), should a request ever leave the machine.
const domain = ".rig.test"

// readSites makes a site of every *.txt file of a directory, named after it.
// Each 40th answers its robots.txt with an error instead.
func readSites(t *testing.T, dir string) []site {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s holds no .txt file (%v)", dir, err)
	}
	var sites []site
	for i, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.NewReplacer("~", "-", "_", "-").Replace(strings.TrimSuffix(filepath.Base(file), ".txt"))
		s := site{Host: name + domain, Robots: body}
		s.rules = oracle.Read(oracle.Cut(body, maxBody))
		switch i % 40 {
		case 20:
			s.Status = http.StatusForbidden
		case 30:
			s.Status = http.StatusServiceUnavailable
		}
		sites = append(sites, s)
	}
	return sites
}

// request is one request as a client is told to send it. A client may write
// its target in another way: what counts is what the gate received.
type request struct {
	Host   string // with port
	Target string
	Token  string // the product token that Agent speaks of
	Agent  string
	Method string
	Body   []byte
	Exact  bool // the client writes Target as it stands
}

func (r request) url() string { return "http://" + r.Host + r.Target }

// planner makes requests out of the rules of real files.
type planner struct {
	*rand.Rand
	sites  []site
	groups [][]oracle.Group // of each site
	port   string
	next   int
}

func newPlanner(sites []site, port string, seed uint64) *planner {
	p := &planner{Rand: rand.New(rand.NewPCG(seed, 0)), sites: sites, port: port}
	for _, s := range sites {
		p.groups = append(p.groups, s.rules.Groups())
	}
	return p
}

// plan returns n requests of a client. Without fixed, each request names
// itself in its User-Agent; with it, all are plain GETs of one crawler.
func (p *planner) plan(n int, client, fixed string, exact bool) []request {
	var requests []request
	for len(requests) < n {
		i := p.next % len(p.sites)
		p.next++
		token := fixed
		if token == "" {
			token = p.token(p.groups[i])
		}
		target, ok := p.target(p.sites[i], p.groups[i], token)
		if !ok {
			continue
		}
		if exact {
			target = p.unescape(target)
		}
		r := request{
			Host: p.sites[i].Host + ":" + p.port, Target: target, Token: token, Method: http.MethodGet, Exact: exact,
			Agent: fmt.Sprintf("%s/1.0 (+http://%s.example/%d)", token, client, len(requests)),
		}
		if fixed != "" {
			r.Agent = fmt.Sprintf("%s/1.0 (+http://%s.example/)", token, client)
		} else if p.IntN(8) == 0 {
			r.Method = http.MethodPost
			r.Body = octets(p.Rand, p.IntN(2000))
		} else if p.IntN(12) == 0 {
			r.Method = http.MethodHead
		}
		requests = append(requests, r)
	}
	return requests
}

func octets(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// evident are group names that a User-Agent of the shape Name/1.0 gives as its
// product token beyond doubt.
var evident = regexp.MustCompile(`^[a-z][a-z0-9_-]*(bot|spider|crawler)[a-z0-9_-]*$`)

// token chooses a crawler: mostly one that the site has a group for.
func (p *planner) token(groups []oracle.Group) string {
	var named []string
	for _, g := range groups {
		for _, name := range g.Names {
			if evident.MatchString(name) {
				named = append(named, name)
			}
		}
	}
	if len(named) > 0 && p.IntN(3) > 0 {
		name := named[p.IntN(len(named))]
		if p.IntN(2) == 0 {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		return name
	}
	return []string{"ExampleBot", "Googlebot", "AhrefsBot", "TrialSpider"}[p.IntN(4)]
}

// target makes a target that lies near one of the patterns which apply to the
// token: for one half of the requests one that a rule other than "/" denies,
// for most of the others one that is allowed.
func (p *planner) target(s site, groups []oracle.Group, token string) (string, bool) {
	patterns := applying(groups, token)
	if len(patterns) == 0 {
		return p.mutate("/" + p.word()), p.IntN(8) == 0
	}
	wish := p.IntN(100)
	for range 8 {
		target := p.mutate(p.fill(patterns[p.IntN(len(patterns))]))
		if strings.Contains(target, "robots.txt") || controls.MatchString(target) || len(target) > 4000 {
			continue // the exemption, bad_target and 431 have tests of their own
		}
		v := s.rules.Judge([]string{token}, target, true)
		switch {
		case wish < 50 && !v.Allowed && !slices.ContainsFunc(v.Patterns, isRoot),
			wish >= 50 && wish < 85 && v.Allowed, wish >= 85:
			return target, true
		}
	}
	return "", false
}

var controls = regexp.MustCompile(`%[01][0-9A-Fa-f]|%7[Ff]`)

// isRoot says whether a pattern stands for the whole site.
func isRoot(pattern string) bool {
	return strings.Trim(pattern, "*$") == "/" || strings.Trim(pattern, "*$") == ""
}

func applying(groups []oracle.Group, token string) (patterns []string) {
	for _, name := range []string{strings.ToLower(token), "*"} {
		found := false
		for _, g := range groups {
			if slices.Contains(g.Names, name) {
				found = true
				patterns = append(patterns, g.Patterns...)
			}
		}
		if found {
			return patterns
		}
	}
	return nil
}

// fill turns a pattern into a target that it matches, most likely.
func (p *planner) fill(pattern string) string {
	pattern = strings.TrimSuffix(pattern, "$")
	var out strings.Builder
	for i, piece := range strings.Split(pattern, "*") {
		if i > 0 {
			out.WriteString([]string{"", p.word(), p.word() + "/" + p.word()}[p.IntN(3)])
		}
		out.WriteString(piece)
	}
	target := out.String()
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return p.escape(target)
}

// escape writes octets that no client may send as they are in one of their
// two spellings, and a percent sign that begins no escape as an escape.
func (p *planner) escape(s string) string {
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			out.WriteByte(c)
		case c <= ' ' || c >= 0x7f || strings.IndexByte("%\"<>\\^`{|}#", c) >= 0:
			fmt.Fprintf(&out, []string{"%%%02X", "%%%02x"}[p.IntN(2)], c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// unescape writes some escaped octets as they are: those that may not stand in
// a URL, and that a server accepts all the same.
func (p *planner) unescape(s string) string {
	if p.IntN(2) == 0 {
		return s
	}
	return forbidden.ReplaceAllStringFunc(s, func(escape string) string {
		raw, _ := url.PathUnescape(escape)
		return raw
	})
}

// forbidden are the escapes of "<>\^`{|} and of octets beyond ASCII.
var forbidden = regexp.MustCompile("%(22|3[CcEe]|5[CcEe]|60|7[BbCcDd]|[89A-Fa-f][0-9A-Fa-f])")

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func (p *planner) word() string {
	return []string{"x", "page", "a1", "index.html", "Photo", "~u", "42", "q=1", "b;c"}[p.IntN(9)]
}

// mutate changes a target in one of the ways in which real targets differ
// from the pattern that was written for them.
func (p *planner) mutate(target string) string {
	path, query, hasQuery := strings.Cut(target, "?")
	switch p.IntN(14) {
	case 0:
		path += "/" + p.word()
	case 1:
		path += p.word()
	case 2:
		path = path[:len(path)-1]
		if !strings.HasPrefix(path, "/") || strings.Contains(path[max(0, len(path)-2):], "%") {
			path = "/"
		}
	case 3:
		if hasQuery {
			query += "&"
		}
		hasQuery = true
		query += "z=%2F&y=" + p.word()
	case 4:
		i := p.IntN(len(path))
		if !insideEscape(path, i) {
			path = path[:i] + strings.ToUpper(path[i:i+1]) + path[i+1:]
		}
	case 5:
		i := p.IntN(len(path))
		if path[i] != '/' && path[i] != '%' && !insideEscape(path, i) {
			path = fmt.Sprintf("%s%%%02x%s", path[:i], path[i], path[i+1:])
		}
	case 6:
		path = p.atSlash(path, []string{"/./", "//", "/a/../", "/%2e/", "/a/%2E%2e/", "/;a/"}[p.IntN(6)])
	case 7:
		if i := strings.LastIndexByte(path, '/'); i > 0 {
			path = path[:i] + "%2f" + path[i+1:]
		}
	case 8:
		path += ";v=1"
	case 9:
		path = "/" + p.word() + path
	}
	if hasQuery {
		path += "?" + query
	}
	return path
}

func insideEscape(s string, i int) bool {
	return strings.Contains(s[max(0, i-2):i+1], "%")
}

// atSlash puts text in the place of one of the path's slashes.
func (p *planner) atSlash(path, text string) string {
	var slashes []int
	for i := range len(path) {
		if path[i] == '/' {
			slashes = append(slashes, i)
		}
	}
	i := slashes[p.IntN(len(slashes))]
	return path[:i] + text + path[i+1:]
}
