package integration_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotsgate/robotsgate/integration_test/oracle"
)

// trial is everything that one run left behind.
type trial struct {
	mode
	sites     map[string]site // by host and port
	requests  []request
	answers   []answer // of each request
	records   []record
	exchanges []exchange
	robots    []exchange // fetches of robots.txt
	junk      []string
}

// mode is how a gate was configured, as far as it changes what to expect.
type mode struct {
	rfc    bool // paths rfc
	report bool // mode report
}

// tally counts what a run was made of.
type tally struct {
	sent, denied, byPath, named, normalised int
	hosts                                   map[string]bool
}

// compare holds the answers, the access log and the origin's socket against
// the oracle and returns every difference. Requests with the same User-Agent
// were sent one after the other, so their order tells them apart.
func (tr *trial) compare() (tally, []string) {
	c := &comparison{trial: tr, tally: tally{hosts: map[string]bool{}}}
	records, exchanges := map[string][]record{}, map[string][]exchange{}
	for _, r := range tr.records {
		records[r.agent()] = append(records[r.agent()], r)
	}
	for _, e := range tr.exchanges {
		exchanges[e.Agent] = append(exchanges[e.Agent], e)
	}
	for i, req := range tr.requests {
		left := records[req.Agent]
		if len(left) == 0 {
			c.errorf(req, "has no record in the access log")
			continue
		}
		records[req.Agent] = left[1:]
		if c.request(req, tr.answers[i], left[0], exchanges[req.Agent]) {
			exchanges[req.Agent] = exchanges[req.Agent][1:]
		}
	}
	for agent, left := range records {
		for _, r := range left {
			c.wrong = append(c.wrong, fmt.Sprintf("a record of a request that nobody sent: %s %s by %s", r.Request.Method, r.Request.URI, agent))
		}
	}
	for agent, left := range exchanges {
		for _, e := range left {
			c.wrong = append(c.wrong, fmt.Sprintf("arrived at the origin although it was denied or never sent: %s %s%s by %s", e.Method, e.Host, e.Target, agent))
		}
	}
	for _, junk := range tr.junk {
		c.wrong = append(c.wrong, fmt.Sprintf("arrived at the origin and is no request: %q", junk))
	}
	c.sequence()
	c.fetches()
	return c.tally, c.wrong
}

type comparison struct {
	*trial
	tally
	wrong []string
}

func (c *comparison) errorf(req request, format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf("%s %s by %s: ", req.Method, req.url(), req.Agent)+fmt.Sprintf(format, args...))
}

// expectation is what the documents say the gate must do with a request.
type expectation struct {
	oracle.Verdict
	status int // of the denial
}

// expect applies the access result of the site's robots.txt, then its rules.
func (m mode) expect(s site, token, target string) expectation {
	switch {
	case s.Status >= 500:
		return expectation{oracle.Verdict{Reason: "unreachable"}, http.StatusServiceUnavailable}
	case s.Status >= 400:
		return expectation{oracle.Verdict{Allowed: true, Reason: "unavailable"}, 0}
	}
	return expectation{s.rules.Judge([]string{token}, target, !m.rfc), http.StatusForbidden}
}

// received returns the target that is to be judged: what the client wrote on
// its request line, as far as it is known, else what Caddy says it read there.
func (c *comparison) received(req request, rec record) (target string, ok bool) {
	line := rec.Request.URI
	if req.Exact {
		if utf8.ValidString(req.Target) && line != req.url() { // else JSON cannot hold it
			c.errorf(req, "Caddy received %q", line)
		}
		line = req.url()
	}
	u, err := url.Parse(line)
	if err != nil || u.Host != req.Host || rec.Request.Method != req.Method {
		c.errorf(req, "Caddy received %s %q (%v)", rec.Request.Method, line, err)
		return "", false
	}
	target = u.EscapedPath()
	if u.RawQuery != "" || u.ForceQuery {
		target += "?" + u.RawQuery
	}
	return target, true
}

// request compares one request and says whether it was to arrive.
func (c *comparison) request(req request, got answer, rec record, arrived []exchange) bool {
	c.sent++
	c.hosts[req.Host] = true
	target, ok := c.received(req, rec)
	if !ok {
		return false
	}
	want := c.expect(c.sites[req.Host], req.Token, target)
	c.count(want)
	c.record(req, rec, target, want)
	mark := ""
	if !want.Allowed && c.report {
		mark = "would-deny; reason=" + want.Reason
	} else if !want.Allowed {
		c.denial(req, got, rec, want)
		return false
	}
	status, body := page(req.Host, target)
	if req.Method == http.MethodHead {
		body = nil
	}
	if got.Error != "" || got.Status != status || got.Gate != mark || got.Body != sha256.Sum256(body) {
		c.errorf(req, "is passed on (%s), and the client got %d %q %s or another body than the origin sent with %d", want.Reason, got.Status, got.Gate, got.Error, status)
	}
	if len(arrived) == 0 {
		c.errorf(req, "is passed on (%s), and never arrived at the origin", want.Reason)
		return false
	}
	c.exchange(req, target, arrived[0])
	return true
}

// denial compares what a client learns of a denial: the headers, and the same
// facts in the body as in the record.
func (c *comparison) denial(req request, got answer, rec record, want expectation) {
	if got.Error != "" || got.Status != want.status || got.Gate != "deny; reason="+want.Reason || got.Type != problemType ||
		!strings.HasPrefix(got.Proxy, "robotsgate; error=") || !strings.Contains(got.Proxy, `details="`+want.Reason+`"`) {
		c.errorf(req, "is to be denied with %d %s, the client got %+v", want.status, want.Reason, got)
	}
	if req.Method == http.MethodHead {
		return
	}
	var problem struct {
		evidence
		Status int    `json:"status"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal([]byte(got.Problem), &problem); err != nil {
		c.errorf(req, "the denial is no JSON: %v\n%s", err, got.Problem)
		return
	}
	said, logged := problem.evidence, rec.Robots
	if problem.Status != want.status || problem.Title == "" || problem.Detail == "" || said.Decision != "deny" ||
		said.Reason != logged.Reason || said.URL != logged.URL || said.Form != logged.Form || said.Token != logged.Token ||
		said.Rule != logged.Rule || said.Line != logged.Line || said.SHA256 != logged.SHA256 {
		c.errorf(req, "the denial says\n%s\nand the record %+v", got.Problem, logged)
	}
}

func (c *comparison) count(want expectation) {
	if want.Token != "" && want.Token != "*" {
		c.named++
	}
	if want.Allowed {
		return
	}
	c.denied++
	if len(want.Patterns) > 0 && !slices.ContainsFunc(want.Patterns, isRoot) {
		c.byPath++
	}
	if want.Reason == oracle.DisallowedNormalised {
		c.normalised++
	}
}

// record compares the gate's own account of a request.
func (c *comparison) record(req request, rec record, target string, want expectation) {
	r := rec.Robots
	decision := "deny"
	if want.Allowed {
		decision = "allow"
	}
	if r.Decision != decision || r.Reason != want.Reason || r.Enforced == nil || *r.Enforced == c.report {
		c.errorf(req, "(judged as %s) is to be recorded as %s %s, the record says %+v", target, decision, want.Reason, r)
		return
	}
	if r.URL != "http://"+req.Host+target && utf8.ValidString(target) {
		c.errorf(req, "was received as %s, the record says %s", target, r.URL)
	}
	if want.Token != "" && !strings.EqualFold(r.Token, want.Token) {
		c.errorf(req, "is judged by the group of %s, the record says %q", want.Token, r.Token)
	}
	if len(want.Lines) > 0 && !slices.Contains(want.Lines, r.Line) {
		c.errorf(req, "is decided by one of lines %d, the record says line %d (%s)", want.Lines, r.Line, r.Rule)
	}
	if len(want.Patterns) > 0 && !slices.ContainsFunc(want.Patterns, func(pattern string) bool { return recorded(r.Rule, want.Allowed, pattern) }) {
		c.errorf(req, "is decided by one of the patterns %q, the record says %q", want.Patterns, r.Rule)
	}
	if want.Reason == oracle.DisallowedNormalised && r.Form != want.Form {
		c.errorf(req, "is first disallowed in form %s, the record says %q", want.Form, r.Form)
	}
	if s := c.sites[req.Host]; s.Status == 0 && len(s.Robots) <= maxBody {
		if sum := sha256.Sum256(s.Robots); r.SHA256 != hex.EncodeToString(sum[:]) || r.Status != http.StatusOK {
			c.errorf(req, "the record names another robots.txt: status %d, SHA-256 %s", r.Status, r.SHA256)
		}
	}
}

// recorded says whether the record's rule is that pattern, or the beginning of
// one that is long or that JSON cannot hold.
func recorded(rule string, allow bool, pattern string) bool {
	key := "Disallow: "
	if allow {
		key = "Allow: "
	}
	if len(pattern) > 900 || !utf8.ValidString(pattern) {
		return strings.HasPrefix(rule, key)
	}
	return rule == key+pattern
}

// exchange compares what the origin read with what was judged.
func (c *comparison) exchange(req request, target string, e exchange) {
	line, _, _ := strings.Cut(e.Head, "\r\n")
	if line != req.Method+" "+target+" HTTP/1.1" || e.Host != req.Host {
		c.errorf(req, "was judged as %s and arrived as %q at %s", target, line, e.Host)
	}
	if e.Body != sha256.Sum256(req.Body) {
		c.errorf(req, "arrived with another body of the request")
	}
	for name := range e.Header {
		if strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "Proxy-") {
			c.errorf(req, "arrived with the header %s", name)
		}
	}
}

// sequence demands that the records of one gate count up without a gap.
func (c *comparison) sequence() {
	var seqs []uint64
	for _, r := range c.records {
		seqs = append(seqs, r.Robots.Seq)
		if r.Robots.Gate == "" || r.Robots.Gate != c.records[0].Robots.Gate {
			c.wrong = append(c.wrong, fmt.Sprintf("a record of gate %q among those of %q", r.Robots.Gate, c.records[0].Robots.Gate))
		}
	}
	slices.Sort(seqs)
	for i, seq := range seqs {
		if seq != seqs[0]+uint64(i) {
			c.wrong = append(c.wrong, "the records' seq has a gap or a double at "+strconv.FormatUint(seq, 10))
			return
		}
	}
}

// fetches demands one robots.txt fetch for each host that was asked for, and
// more only where it failed; none carries anything of a job but its
// User-Agent.
func (c *comparison) fetches() {
	fetched := map[string]int{}
	for _, e := range c.robots {
		fetched[e.Host]++
		for _, name := range []string{"Cookie", "Authorization", "Referer", "Proxy-Authorization", "Content-Type"} {
			if e.Header.Get(name) != "" {
				c.wrong = append(c.wrong, fmt.Sprintf("the robots.txt fetch of %s carries %s", e.Host, name))
			}
		}
	}
	for host := range c.hosts {
		failed := c.sites[host].Status >= 500
		if n := fetched[host]; n == 0 || n > 1 && !failed {
			c.wrong = append(c.wrong, fmt.Sprintf("the robots.txt of %s was fetched %d times, want once", host, n))
		}
	}
}
