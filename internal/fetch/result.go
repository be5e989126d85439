package fetch

import "time"

// Outcome is the access result of a robots.txt fetch, in the words of RFC 9309
// §2.3.1.
type Outcome uint8

const (
	// Unreachable: no usable answer. Everything is disallowed unless a last
	// good copy exists (§2.3.1.4). It is the zero value, so that a result
	// nobody filled in fails closed.
	Unreachable Outcome = iota
	// Rules: a complete 2xx answer whose parseable rules count (§2.3.1.1).
	Rules
	// Unavailable: 400–499 except 429, too many redirects or a redirect loop;
	// everything is allowed (§2.3.1.2, §2.3.1.3).
	Unavailable
	// NotModified: a 304 to our own validators; the copy they belong to stays.
	NotModified
)

// String returns the outcome's name in lower case.
func (o Outcome) String() string {
	switch o {
	case Rules:
		return "rules"
	case Unavailable:
		return "unavailable"
	case NotModified:
		return "not_modified"
	default:
		return "unreachable"
	}
}

// Cause says in one stable word why a fetch ended as it did. The set is closed:
// it is the label of a metric.
type Cause string

// The causes of success.
const (
	CauseOK            Cause = "ok"             // 2xx, complete
	CauseNotModified   Cause = "not_modified"   // 304 to our validators
	CauseUnavailable   Cause = "unavailable"    // 400–499 except 429
	CauseRedirectLimit Cause = "redirect_limit" // more hops than allowed, or a loop: unavailable
)

// The causes of an unreachable robots.txt.
const (
	CausePartial         Cause = "partial"          // 206, which was not asked for
	CauseBadStatus       Cause = "bad_status"       // 304 unasked, 1xx, 3xx without a meaning here, 600 and above
	CauseServerError     Cause = "server_error"     // 5xx
	CauseTooManyRequests Cause = "too_many"         // 429
	CauseRedirectRefused Cause = "redirect_refused" // no usable Location, another scheme, https to http
	CauseDialDenied      Cause = "dial_denied"      // the address policy refused a hop
	CauseEncoding        Cause = "encoding"         // a content or character encoding we cannot undo
	CauseTruncated       Cause = "truncated"        // the body ended before its announced end
	CauseTimeout         Cause = "timeout"          // the one deadline passed
	CauseYielded         Cause = "yielded"          // cancelled while silent, for origins waiting for its slot
	CauseDNS             Cause = "dns"              // the name did not resolve
	CauseTLS             Cause = "tls"              // handshake or certificate
	CauseRefused         Cause = "refused"          // connection refused
	CauseReset           Cause = "reset"            // connection closed or reset before the headers
	CauseBadResponse     Cause = "bad_response"     // not HTTP, or headers over the limit
	CauseCancelled       Cause = "cancelled"        // the process is shutting down
	CauseInternal        Cause = "internal"         // a panic in our own code
	CauseOther           Cause = "error"
)

// A Result is what one fetch of a robots.txt established, redirects included.
type Result struct {
	// Outcome is the access result; Cause says why; Err explains an
	// unreachable one to the operator and is nil otherwise.
	Outcome Outcome
	Cause   Cause
	Err     error

	// Status is the last status code received, 0 when there was none.
	Status int

	// FinalURL is the URL that gave the last answer: the robots.txt URL of the
	// origin unless there were redirects.
	FinalURL string

	// Body is the decoded body of Rules, at most Config.MaxBody bytes.
	// Truncated says that it was longer; the line cut by the limit is dropped.
	Body      []byte
	Truncated bool

	// EOFDelimited says that only the end of the connection ended the body, so
	// that a cut answer cannot be told from a whole one.
	EOFDelimited bool

	// HTML says that the body is a web page rather than a robots.txt.
	HTML bool

	// ETag and LastModified are the validators of FinalURL.
	ETag         string
	LastModified string

	// Lifetime is how long the answer says that it stays fresh, 0 when it says
	// that it is stale at once. HasLifetime is false when it says nothing.
	Lifetime    time.Duration
	HasLifetime bool

	// RetryAfter is the wait that an unreachable answer asks for, unclamped; 0
	// when it asks for none.
	RetryAfter time.Duration

	// VaryUserAgent says that some answer on the way named User-Agent in Vary.
	VaryUserAgent bool

	// UserAgent is the User-Agent that was sent.
	UserAgent string
}

// fail makes the result unreachable for one cause.
func (r *Result) fail(cause Cause, err error) {
	r.Outcome, r.Cause, r.Err = Unreachable, cause, err
	r.Body, r.Truncated, r.EOFDelimited, r.HTML = nil, false, false, false
}
