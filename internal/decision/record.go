// Package decision holds the record of one request: what was asked, by whom,
// what was decided and on which evidence. It is one value that flows from the
// handler into the access log, the denial entry, the client's answer, the
// admin API and the command line, always under the same field names.
package decision

import (
	"time"

	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/parser"
)

// Version of the record's layout, its field v.
const Version = 1

// Verdict is the record's field decision.
type Verdict string

// The two verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
)

// Form names a normal form of a path, F1 to F5; empty where none was decisive.
type Form string

// TokenSource says where the product tokens of a record came from.
type TokenSource string

// The sources of product tokens.
const (
	TokenFromConfig    TokenSource = "config"
	TokenFromUserAgent TokenSource = "user_agent"
)

// Source says where the robots.txt of a record came from.
type Source string

// The sources of a robots.txt.
const (
	SourceMemory    Source = "memory"
	SourceStorage   Source = "storage"
	SourceFetched   Source = "fetched"
	SourceCoalesced Source = "coalesced"
	SourceStale     Source = "stale"
	SourceOverride  Source = "override"
)

// Override is the exception that the configuration makes for an origin.
type Override struct {
	Origin string
	Owner  string
	Reason string
	Until  string
}

// Record is the evidence of one request. Its zero value is not a decision:
// New begins one, Allow and Deny end it. Fields are documented under the names
// that they have in logs.
type Record struct {
	Decision Verdict
	// Enforced is false where a gate in report mode passes on what it would deny.
	Enforced bool
	Reason   Reason
	Job      string
	// URL as judged: scheme, normalised authority, escaped path and raw query.
	URL    string
	Origin string
	// Form is the normal form that was disallowed.
	Form  Form
	Bot   bool
	Agent string
	// Tokens are the product tokens that were tried, in order.
	Tokens []string
	// Token is the one whose group was used, or "*".
	Token       string
	TokenSource TokenSource
	// Rule is the deciding rule; its line is 0 where none matched.
	Rule           parser.Rule
	RobotsURL      string
	RobotsFinalURL string
	RobotsStatus   int
	RobotsSHA256   string
	RobotsSize     int
	Truncated      bool
	FetchedAt      time.Time
	ValidatedAt    time.Time
	ExpiresAt      time.Time
	// Age is how long ago the copy was validated, in whole seconds.
	Age            int
	FetchUserAgent string
	Source         Source
	Archived       bool
	Override       *Override
	// Policy is the hash of the gate's effective configuration.
	Policy string
	Error  string
	Engine string
	Gate   string
	Seq    uint64

	// Redact writes query values in URL as REDACTED; the record itself keeps
	// them, because a request may have to be decided again.
	Redact bool
	// Tunnel is true where the request is a CONNECT that nobody intercepts.
	// The method in the access log says so, no field.
	Tunnel bool
	// RetryAfter is how long the client should wait before it asks again;
	// zero where waiting does not help. It becomes a header, not a field.
	RetryAfter time.Duration
	// DeniedClass names the address class that the guard refused. It
	// becomes part of the answer, not a field.
	DeniedClass string
}

// Allowed ends the record with an allow.
func (r *Record) Allowed(reason Reason) {
	r.Decision, r.Reason = Allow, reason
}

// Denied ends the record with a denial.
func (r *Record) Denied(reason Reason) {
	r.Decision, r.Reason = Deny, reason
}

// Refused reports whether the request must not be passed on.
func (r *Record) Refused() bool {
	return r.Decision == Deny && r.Enforced
}

// WouldRefuse reports whether report mode lets pass what would be refused.
func (r *Record) WouldRefuse() bool {
	return r.Decision == Deny && !r.Enforced
}

// Aim sets url and origin to those of the target.
func (r *Record) Aim(t origin.Target) {
	r.URL, r.Origin = t.Texts()
}

// PathQuery is the part of the URL that rules are matched against.
func (r *Record) PathQuery() string {
	if len(r.URL) == len(r.Origin) {
		// OPTIONS * asks for no path.
		return "*"
	}
	return r.URL[len(r.Origin):]
}
