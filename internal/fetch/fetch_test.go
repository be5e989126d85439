package fetch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/faultorigin"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
)

// deadline is short enough for a test and long enough for a busy machine to
// answer what can be answered.
const deadline = 2 * time.Second

func newFetcher(o *faultorigin.Origin, change func(*fetch.Config)) *fetch.Fetcher {
	config := fetch.Config{Dial: o.Dial, RootCAs: o.Roots, Timeout: deadline, Version: "test"}
	if change != nil {
		change(&config)
	}
	return fetch.New(config)
}

func at(t *testing.T, url string) origin.Origin {
	t.Helper()
	o, err := origin.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// want is what a row of the threat table asks for.
type want struct {
	outcome fetch.Outcome
	cause   fetch.Cause
	status  int
}

var (
	ok         = want{fetch.Rules, fetch.CauseOK, 200}
	noAnswer   = func(c fetch.Cause) want { return want{fetch.Unreachable, c, 0} }
	badAnswer  = func(c fetch.Cause, status int) want { return want{fetch.Unreachable, c, status} }
	nothing    = func(status int) want { return want{fetch.Unavailable, fetch.CauseUnavailable, status} }
	emptyRules = func(status int) want { return want{fetch.Rules, fetch.CauseOK, status} }
)

func check(t *testing.T, result fetch.Result, w want) {
	t.Helper()
	got := want{result.Outcome, result.Cause, result.Status}
	if got != w {
		t.Errorf("got %v %s %d (%v), want %v %s %d", got.outcome, got.cause, got.status, result.Err, w.outcome, w.cause, w.status)
	}
	if (result.Err != nil) != (w.outcome == fetch.Unreachable) {
		t.Errorf("outcome %v with error %v", result.Outcome, result.Err)
	}
	if result.Outcome != fetch.Rules && result.Body != nil {
		t.Errorf("outcome %v with a body of %d bytes", result.Outcome, len(result.Body))
	}
}

// TestAccessResults asks origins of every mode. The names are the rows of the
// threat table.
func TestAccessResults(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	o.Set("loc-file.test", faultorigin.Redirect(302, "file:///etc/passwd"))
	o.Set("loc-gopher.test", faultorigin.Redirect(302, "gopher://other.test/"))
	o.Set("loc-http.test", faultorigin.Redirect(302, "http://ok.test/robots.txt"))
	o.Set("loc-broken.test", faultorigin.Redirect(302, "http://[::1/"))
	o.Set("loc-port.test", faultorigin.Redirect(302, "http://ok.test:0/robots.txt"))
	o.Set("loc-user.test", faultorigin.Redirect(302, "http://user:secret@ok.test/robots.txt"))
	o.Set("empty-gzip.test", faultorigin.Raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"))
	o.Set("utf32.test", faultorigin.Answer(200, "", "\xff\xfe\x00\x00U\x00\x00\x00"))
	f := newFetcher(o, nil)
	for name, tests := range map[string]map[string]want{
		"R01": {"http://ok.test": ok, "https://ok.test": ok, "http://st-201.test": emptyRules(201), "http://st-202.test": emptyRules(202), "http://st-203.test": emptyRules(203)},
		"R02": {"http://empty.test": ok, "http://st-204.test": emptyRules(204), "http://st-205.test": emptyRules(205)},
		"R03": {"http://st-206.test": badAnswer(fetch.CausePartial, 206), "http://st-304.test": badAnswer(fetch.CauseBadStatus, 304)},
		"R05": {"http://hops-1.test": ok, "http://hops-5.test": ok, "https://hops-5.test": ok, "http://loc-user.test": ok},
		"R06": {
			"http://hops-6.test": {fetch.Unavailable, fetch.CauseRedirectLimit, 301},
			"http://loop.test":   {fetch.Unavailable, fetch.CauseRedirectLimit, 302},
		},
		"R07": {
			"http://noloc.test":      badAnswer(fetch.CauseRedirectRefused, 301),
			"http://loc-broken.test": badAnswer(fetch.CauseRedirectRefused, 302),
			"http://loc-port.test":   badAnswer(fetch.CauseRedirectRefused, 302),
			"http://st-300.test":     badAnswer(fetch.CauseBadStatus, 300),
			"http://st-305.test":     badAnswer(fetch.CauseBadStatus, 305),
			"http://st-306.test":     badAnswer(fetch.CauseBadStatus, 306),
			"http://st-399.test":     badAnswer(fetch.CauseBadStatus, 399),
		},
		"R08": {
			"http://st-400.test": nothing(400), "http://st-401.test": nothing(401), "http://st-403.test": nothing(403),
			"http://st-404.test": nothing(404), "http://st-405.test": nothing(405), "http://st-407.test": nothing(407),
			"http://st-410.test": nothing(410), "http://st-451.test": nothing(451), "http://st-499.test": nothing(499),
		},
		"R09": {"http://st-429.test": badAnswer(fetch.CauseTooManyRequests, 429)},
		"R10": {"http://st-500.test": badAnswer(fetch.CauseServerError, 500), "http://st-503.test": badAnswer(fetch.CauseServerError, 503), "http://st-599.test": badAnswer(fetch.CauseServerError, 599)},
		"R11": {
			"http://st-999.test": badAnswer(fetch.CauseBadStatus, 999), "http://st-099.test": badAnswer(fetch.CauseBadStatus, 99),
			"http://st-101.test": badAnswer(fetch.CauseBadStatus, 101), "http://st-1000.test": noAnswer(fetch.CauseBadResponse),
			"http://st-20x.test": noAnswer(fetch.CauseBadResponse), "http://http09.test": noAnswer(fetch.CauseBadResponse),
			"http://continue.test": noAnswer(fetch.CauseBadResponse),
		},
		"R12": {"http://hang.test": noAnswer(fetch.CauseTimeout), "https://hang.test": noAnswer(fetch.CauseTimeout), "https://tls-stall.test": noAnswer(fetch.CauseTimeout)},
		"R13": {"http://drip.test": noAnswer(fetch.CauseTimeout), "http://dripbody.test": badAnswer(fetch.CauseTimeout, 200)},
		"R16": {
			"http://gzip.test": ok, "http://br.test": badAnswer(fetch.CauseEncoding, 200), "http://gzip-bogus.test": badAnswer(fetch.CauseEncoding, 200),
			"http://gzip-cut.test": badAnswer(fetch.CauseTruncated, 200), "http://gzip-bare.test": badAnswer(fetch.CauseEncoding, 200),
			"http://empty-gzip.test": badAnswer(fetch.CauseTruncated, 200),
		},
		"R17": {
			"http://short.test": badAnswer(fetch.CauseTruncated, 200), "https://short.test": badAnswer(fetch.CauseTruncated, 200),
			"http://badchunk.test": badAnswer(fetch.CauseTruncated, 200), "http://rst-body.test": badAnswer(fetch.CauseReset, 200),
			"http://chunked.test": ok,
		},
		"R18": {"http://cl-short.test": ok, "http://eof.test": ok, "https://tls-noclose.test": ok},
		"R19": {
			"http://two-cl.test": noAnswer(fetch.CauseBadResponse), "http://neg-cl.test": noAnswer(fetch.CauseBadResponse),
			"http://badheader.test": noAnswer(fetch.CauseBadResponse), "http://nul.test": noAnswer(fetch.CauseBadResponse),
		},
		"R20": {"http://bigheaders.test": noAnswer(fetch.CauseBadResponse), "http://cookies.test": noAnswer(fetch.CauseBadResponse)},
		"R21": {"http://rst.test": noAnswer(fetch.CauseReset)},
		"R23": {
			"https://expired.test": noAnswer(fetch.CauseTLS), "https://wrong-name.test": noAnswer(fetch.CauseTLS),
			"https://self-signed.test": noAnswer(fetch.CauseTLS),
		},
		"R25": {"http://html.test": ok},
		"R26": {"http://utf16le.test": ok, "http://utf16be.test": ok, "http://utf16-nobom.test": badAnswer(fetch.CauseEncoding, 200), "http://utf32.test": badAnswer(fetch.CauseEncoding, 200)},
		"R32": {
			"http://loc-file.test": badAnswer(fetch.CauseRedirectRefused, 302), "http://loc-gopher.test": badAnswer(fetch.CauseRedirectRefused, 302),
			"https://loc-http.test": badAnswer(fetch.CauseRedirectRefused, 302), "http://loc-http.test": ok,
		},
	} {
		for url, w := range tests {
			t.Run(name+"/"+strings.ReplaceAll(url, "://", "_"), func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				result := f.Fetch(t.Context(), fetch.Request{Origin: at(t, url)})
				check(t, result, w)
				if w.cause == fetch.CauseTimeout && time.Since(began) > 2*deadline {
					t.Errorf("took %v, far over the deadline", time.Since(began))
				}
			})
		}
	}
}

// What is read must also be what decides.
func TestBodies(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	f := newFetcher(o, nil)
	for host, allowed := range map[string]map[string]bool{
		"ok.test":       {"/private/x": false, "/public": true},
		"gzip.test":     {"/private/x": false, "/public": true},
		"hops-5.test":   {"/private/x": false, "/public": true},
		"chunked.test":  {"/private/x": false, "/public": true},
		"cl-short.test": {"/private/x": false, "/public": true},
		"eof.test":      {"/private/x": false, "/public": true},
		"utf16le.test":  {"/private/x": false, "/public": false},
		"utf16be.test":  {"/private/x": false, "/public": false},
		"html.test":     {"/private/x": true, "/public": true},
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			result := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://"+host)})
			m := matcher.New(parser.Parse(result.Body), "x")
			for path, w := range allowed {
				if got := m.Match(path).Allowed; got != w {
					t.Errorf("%s: allowed %v, want %v (body %q)", path, got, w, result.Body)
				}
			}
			if result.HTML != (host == "html.test") {
				t.Errorf("html: %v", result.HTML)
			}
			if result.EOFDelimited != (host == "eof.test") {
				t.Errorf("EOF-delimited: %v", result.EOFDelimited)
			}
		})
	}
}

func TestR04_NotModified(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	f := newFetcher(o, nil)
	first := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://etag.test")})
	check(t, first, ok)
	if first.ETag != `"v1"` {
		t.Fatalf("validator %q", first.ETag)
	}
	again := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://etag.test"), ETag: first.ETag})
	check(t, again, want{fetch.NotModified, fetch.CauseNotModified, 304})
}

// A validator belongs to the URL that gave it: sent elsewhere it could confirm
// something else.
func TestR04_ValidatorsStayWithTheirURL(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	o.Set("moved.test", faultorigin.Redirect(301, "http://etag.test/robots.txt"))
	f := newFetcher(o, nil)
	first := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://moved.test")})
	check(t, first, ok)
	again := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://moved.test"), ETag: first.ETag, ValidatorURL: first.FinalURL})
	check(t, again, want{fetch.NotModified, fetch.CauseNotModified, 304})
	for _, e := range o.Log("moved.test") {
		if e.Header.Get("If-None-Match") != "" {
			t.Errorf("the first hop got the validator of the last: %q", e.Raw)
		}
	}
}

func TestR09_RetryAfter(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	http := func(at time.Time) string { return at.Format("Mon, 02 Jan 2006 15:04:05 GMT") }
	for header, w := range map[string]time.Duration{
		"Retry-After: 120\r\n": 2 * time.Minute,
		"Date: " + http(now) + "\r\nRetry-After: " + http(now.Add(90*time.Second)) + "\r\n": 90 * time.Second,
		"Date: " + http(now) + "\r\nRetry-After: " + http(now.Add(-time.Hour)) + "\r\n":     0,
		"Retry-After: soon\r\n": 0,
		"Retry-After: -5\r\n":   0,
		"":                      0,
	} {
		o.Set("busy.test", faultorigin.Answer(503, header, ""))
		got := newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "http://busy.test")})
		if got.RetryAfter != w {
			t.Errorf("%q: %v, want %v", header, got.RetryAfter, w)
		}
	}
}

func TestR14_EndlessBody(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	f := newFetcher(o, nil)
	result := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://infinite.test")})
	check(t, result, ok)
	if !result.Truncated || len(result.Body) > fetch.DefaultMaxBody || len(result.Body) < fetch.DefaultMaxBody-20 {
		t.Errorf("truncated %v, %d bytes", result.Truncated, len(result.Body))
	}
	if !bytes.HasSuffix(result.Body, []byte("\nAllow: /public\n")) {
		t.Errorf("the cut line is still there: %q", result.Body[len(result.Body)-30:])
	}
}

// The limit may fall anywhere in "Disallow: /a\n": a cut rule is another rule.
func TestR14_CutLine(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	const text = "User-agent: *\nDisallow: /a\nAllow: /public\nDisallow: /b\n"
	o.Set("cut.test", faultorigin.Answer(200, "", text))
	for limit := 1; limit <= len(text); limit++ {
		f := newFetcher(o, func(c *fetch.Config) { c.MaxBody = int64(limit) })
		result := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://cut.test")})
		w := ""
		for line := range strings.Lines(text) {
			// A line counts when it fits whole, its line end apart.
			if len(w)+len(strings.TrimSuffix(line, "\n")) > limit {
				break
			}
			w += line
		}
		if got := strings.TrimSuffix(string(result.Body), "\n"); got != strings.TrimSuffix(w, "\n") {
			t.Errorf("limit %d: %q, want %q", limit, got, w)
		}
		if result.Truncated != (limit < len(text)) {
			t.Errorf("limit %d: truncated %v", limit, result.Truncated)
		}
	}
}

func TestR15_Bomb(t *testing.T) {
	o := faultorigin.Start(t)
	f := newFetcher(o, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://bomb.test")})
	runtime.ReadMemStats(&after)
	check(t, result, ok)
	if !result.Truncated || matcher.New(parser.Parse(result.Body)).Match("/private").Allowed {
		t.Errorf("truncated %v, %d bytes", result.Truncated, len(result.Body))
	}
	// The origin's own compressor is in the figure too.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

func TestR20_HeadersAreNotKept(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	o.Set("cookie.test", faultorigin.Answer(200, "Set-Cookie: id=1\r\n", faultorigin.Rules))
	f := newFetcher(o, nil)
	for range 2 {
		check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://cookie.test")}), ok)
	}
	for _, e := range o.Log("cookie.test") {
		for _, name := range []string{"Cookie", "Authorization", "Referer", "From"} {
			if e.Header.Get(name) != "" {
				t.Errorf("%s was sent: %q", name, e.Raw)
			}
		}
	}
}

func TestR21_Refused(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	o.Close()
	check(t, newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "http://ok.test")}), noAnswer(fetch.CauseRefused))
}

func TestR22_DNS(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	f := newFetcher(o, func(c *fetch.Config) {
		c.Dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "gone.test", IsNotFound: true}}
		}
	})
	check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://gone.test")}), noAnswer(fetch.CauseDNS))
}

// A certificate that fails must not send us to plain http.
func TestR23_NeverOverHTTP(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "https://expired.test")})
	if n := len(o.Log("expired.test")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// HTTP/2 is not offered, so its faults do not reach us; padding in the chunk
// headers does.
func TestR24_NoHTTP2(t *testing.T) {
	t.Parallel()
	offered := make(chan []string, 1)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		offered <- hello.SupportedProtos
		return nil, errors.New("seen enough")
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	f := fetch.New(fetch.Config{Timeout: deadline})
	check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "https://"+l.Addr().String())}), noAnswer(fetch.CauseTLS))
	if got := <-offered; !slices.Equal(got, []string{"http/1.1"}) {
		t.Errorf("offered %q", got)
	}
}

func TestR24_ChunkPadding(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	o.Set("padded.test", faultorigin.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+
		strings.Repeat("1;"+strings.Repeat("x", 3000)+"\r\n#\r\n", 1000)+"0\r\n\r\n"))
	result := newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "http://padded.test")})
	check(t, result, badAnswer(fetch.CauseTruncated, 200))
}

func TestR31_UserAgent(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	f := newFetcher(o, nil)
	for given, sent := range map[string]string{
		"":                         "robotsgate/test",
		" \x01 ":                   "robotsgate/test",
		"ExampleBot/1.0 (+http)":   "ExampleBot/1.0 (+http)",
		"Bad\r\nHost: evil\x00Bot": "BadHost: evilBot",
		"Tab\tBot\xff":             "Tab\tBot\xff",
		strings.Repeat("a", 5000):  strings.Repeat("a", 512),
	} {
		result := f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://vary.test"), UserAgent: given})
		log := o.Log("vary.test")
		if got := log[len(log)-1].Header.Get("User-Agent"); got != sent || result.UserAgent != sent {
			t.Errorf("%q: sent %q, said %q, want %q", given, got, result.UserAgent, sent)
		}
		if !result.VaryUserAgent {
			t.Error("Vary: User-Agent went unnoticed")
		}
	}
}

type refusal struct{ reason string }

func (r refusal) Error() string  { return "refused by the address policy" }
func (r refusal) Reason() string { return r.reason }

func TestR33_RedirectToDeniedAddress(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	o.Set("lure.test", faultorigin.Redirect(302, "http://127.0.0.1/robots.txt"))
	o.Set("lure-name.test", faultorigin.Redirect(302, "http://internal.test/robots.txt"))
	f := newFetcher(o, func(c *fetch.Config) {
		c.CheckOrigin = func(o origin.Origin) error {
			if o.Host == "127.0.0.1" {
				return refusal{"address_denied"}
			}
			return nil
		}
		c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == "internal.test:80" {
				return nil, &net.OpError{Op: "dial", Err: refusal{"address_denied"}}
			}
			return o.Dial(ctx, network, addr)
		}
	})
	check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://lure.test")}), badAnswer(fetch.CauseDialDenied, 302))
	check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://lure-name.test")}), noAnswer(fetch.CauseDialDenied))
	if n := len(o.Log("127.0.0.1")) + len(o.Log("internal.test")); n != 0 {
		t.Errorf("%d requests reached denied addresses", n)
	}
}

func TestR40_EnvironmentProxy(t *testing.T) {
	o := faultorigin.Start(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	check(t, newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "http://ok.test")}), ok)
	check(t, newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "https://ok.test")}), ok)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	f := newFetcher(o, nil)
	for cause, w := range map[error]fetch.Cause{fetch.ErrYielded: fetch.CauseYielded, errors.New("stopping"): fetch.CauseCancelled} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o.Set("wait.test", func(c *faultorigin.Conn) bool {
			cancel(cause)
			return faultorigin.ByName("hang")(c)
		})
		check(t, f.Fetch(ctx, fetch.Request{Origin: at(t, "http://wait.test")}), noAnswer(w))
	}
}

func TestR47_Lifetime(t *testing.T) {
	t.Parallel()
	const day = "Date: Fri, 01 May 2026 12:00:00 GMT\r\n"
	type lifetime struct {
		d   time.Duration
		has bool
	}
	o := faultorigin.Start(t)
	for header, w := range map[string]lifetime{
		"":                                  {0, false},
		"Cache-Control: max-age=60\r\n":     {time.Minute, true},
		"Cache-Control: max-age=0\r\n":      {0, true},
		"cache-control: MAX-AGE=\"60\"\r\n": {time.Minute, true},
		"Cache-Control: public, max-age=60, s-maxage=120\r\n":         {2 * time.Minute, true},
		"Cache-Control: max-age=60\r\nCache-Control: no-store\r\n":    {0, true},
		"Cache-Control: no-cache\r\n":                                 {0, true},
		"Cache-Control: max-age=soon\r\n":                             {0, true},
		"Cache-Control: max-age=-1\r\n":                               {0, true},
		"Cache-Control: max-age=99999999999999999999\r\n":             {10 * 365 * 24 * time.Hour, true},
		"Cache-Control: max-age=60\r\nAge: 20\r\n":                    {40 * time.Second, true},
		"Cache-Control: max-age=60\r\nAge: 99999999999999\r\n":        {0, true},
		"Cache-Control: max-age=60\r\nAge: old\r\n":                   {time.Minute, true},
		day + "Expires: Fri, 01 May 2026 12:10:00 GMT\r\n":            {10 * time.Minute, true},
		day + "Expires: Fri, 01 May 2026 11:00:00 GMT\r\n":            {0, true},
		day + "Expires: 0\r\n":                                        {0, true},
		"Cache-Control: max-age=60\r\nExpires: never\r\n":             {time.Minute, true},
		"Cache-Control: private\r\n":                                  {0, false},
		"Cache-Control: stale-while-revalidate=60, max-agee=3600\r\n": {0, false},
	} {
		o.Set("fresh.test", faultorigin.Answer(200, header, faultorigin.Rules))
		result := newFetcher(o, nil).Fetch(t.Context(), fetch.Request{Origin: at(t, "http://fresh.test")})
		if got := (lifetime{result.Lifetime, result.HasLifetime}); got != w {
			t.Errorf("%q: %v, want %v", header, got, w)
		}
	}
}

// A request through a parent proxy names the whole URL; what the proxy says of
// itself is not the origin's answer.
func TestUpstream(t *testing.T) {
	t.Parallel()
	o := faultorigin.Start(t)
	proxy := at(t, "http://proxy.test")
	f := newFetcher(o, func(c *fetch.Config) {
		c.Upstream = mustURL(t, proxy.String())
		c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != "proxy.test:80" {
				t.Errorf("dialled %s", addr)
			}
			return o.Dial(ctx, network, addr)
		}
	})
	check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://ok.test")}), ok)
	if got := o.Log("ok.test"); len(got) != 1 || got[0].Target != "http://ok.test/robots.txt" {
		t.Errorf("the proxy saw %v", got)
	}
	check(t, f.Fetch(t.Context(), fetch.Request{Origin: at(t, "http://st-407.test")}), badAnswer(fetch.CauseBadStatus, 407))
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
