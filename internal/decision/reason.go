package decision

import (
	"maps"
	"net/http"
	"slices"
)

// Reason says why a request was allowed or denied.
type Reason string

// Reasons of an allow.
const (
	RuleAllowed        Reason = "rule_allowed"
	NoRule             Reason = "no_rule"
	NoGroup            Reason = "no_group"
	Unavailable        Reason = "unavailable"
	RobotsTXT          Reason = "robots_txt"
	NotBot             Reason = "not_bot"
	UnreachableAllowed Reason = "unreachable_allowed"
)

// Overridden is a reason of an allow and of a denial.
const Overridden Reason = "override"

// Reasons of a denial.
const (
	Disallowed           Reason = "disallowed"
	DisallowedNormalized Reason = "disallowed_normalized"
	StatusDenied         Reason = "status_denied"
	TunnelOpaque         Reason = "tunnel_opaque"
	AddressDenied        Reason = "address_denied"
	PortDenied           Reason = "port_denied"
	Unreachable          Reason = "unreachable"
	Overloaded           Reason = "overloaded"
	BadTarget            Reason = "bad_target"
	AuthorityMismatch    Reason = "authority_mismatch"
	Loop                 Reason = "loop"
	Internal             Reason = "internal"
)

// ruling is what the product says of one reason of a denial.
type ruling struct {
	status int
	// robots is true for decisions that rest on a robots.txt or on the
	// gate's own robots policy: report mode loosens these and no others.
	robots bool
	// proxyError is the error type of RFC 9209 in Proxy-Status.
	proxyError string
	title      string
}

var rulings = map[Reason]ruling{
	Disallowed:           {http.StatusForbidden, true, "http_request_denied", "Disallowed by robots.txt"},
	DisallowedNormalized: {http.StatusForbidden, true, "http_request_denied", "Disallowed by robots.txt once the path is resolved"},
	StatusDenied:         {http.StatusForbidden, true, "http_request_denied", "Denied for the status of robots.txt"},
	Overridden:           {http.StatusForbidden, true, "http_request_denied", "Denied by an override"},
	TunnelOpaque:         {http.StatusForbidden, true, "http_request_denied", "Tunnel refused: its requests cannot be judged"},
	AddressDenied:        {http.StatusForbidden, false, "destination_ip_prohibited", "Destination address refused"},
	PortDenied:           {http.StatusForbidden, false, "http_request_denied", "Destination port refused"},
	Unreachable:          {http.StatusServiceUnavailable, true, "http_request_denied", "robots.txt is unreachable"},
	Overloaded:           {http.StatusServiceUnavailable, true, "http_request_denied", "Too many robots.txt fetches in flight"},
	BadTarget:            {http.StatusBadRequest, false, "http_request_error", "Request target refused"},
	AuthorityMismatch:    {http.StatusMisdirectedRequest, false, "http_request_error", "Authority of tunnel and request differ"},
	Loop:                 {http.StatusLoopDetected, false, "proxy_loop_detected", "Request loops through this gate"},
	Internal:             {http.StatusInternalServerError, false, "proxy_internal_error", "Gate failed to decide"},
}

// Denials are the reasons of a denial, in the order of their names.
func Denials() []Reason { return slices.Sorted(maps.Keys(rulings)) }

// Status is the default HTTP status of a denial for that reason; 500 for an
// unknown one.
func (r Reason) Status() int {
	if rl, ok := rulings[r]; ok {
		return rl.status
	}
	return http.StatusInternalServerError
}

// Robots reports whether a denial for that reason is a robots decision, which
// report mode passes on. The address guard, malformed targets, loops and
// authority mismatches are always enforced.
func (r Reason) Robots() bool {
	return rulings[r].robots
}

// Waits reports whether asking again later can change the answer by itself.
func (r Reason) Waits() bool {
	return r == Unreachable || r == Overloaded
}

// OfRules is the reason of a verdict that rests on rules alone.
func OfRules(allowed, matched, hasGroup, otherForm bool) Reason {
	switch {
	case !allowed && otherForm:
		return DisallowedNormalized
	case !allowed:
		return Disallowed
	case !hasGroup:
		return NoGroup
	case matched:
		return RuleAllowed
	default:
		return NoRule
	}
}
