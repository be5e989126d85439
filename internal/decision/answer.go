package decision

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"
)

// Headers of the answer to a denial.
const (
	HeaderGate        = "X-Robots-Gate"
	HeaderProxyStatus = "Proxy-Status"
	// ProxyName is how the gate names itself in Proxy-Status (RFC 9209).
	ProxyName = "robotsgate"
)

// Answer is what a client gets instead of the resource.
type Answer struct {
	Status int
	Header http.Header
	// Body is an application/problem+json document (RFC 9457).
	Body []byte
}

// DenialAnswer builds the answer to a denied record with the given status.
func (r *Record) DenialAnswer(status int) Answer {
	rl := rulings[r.Reason]
	a := Answer{Status: status, Header: http.Header{}}
	a.Header.Set("Content-Type", "application/problem+json")
	a.Header.Set("Cache-Control", "no-store")
	a.Header.Set(HeaderGate, "deny; reason="+string(r.Reason))
	a.Header.Set(HeaderProxyStatus, proxyStatus(rl.proxyError, string(r.Reason)))
	if r.Reason.Waits() {
		a.Header.Set("Retry-After", retryAfterSeconds(r.RetryAfter))
	}
	a.Body = r.problem(status, rl.title, r.Advice())
	return a
}

// OriginErrorAnswer builds the answer where the request was allowed and the
// origin failed: 502 or 504 and the error type of RFC 9209.
func (r *Record) OriginErrorAnswer(status int, proxyError string) Answer {
	a := Answer{Status: status, Header: http.Header{}}
	a.Header.Set("Content-Type", "application/problem+json")
	a.Header.Set("Cache-Control", "no-store")
	a.Header.Set(HeaderProxyStatus, proxyStatus(proxyError, r.Error))
	detail := "The gate allowed this request, but the origin did not answer it: " + r.Error + ". This is no robots decision."
	a.Body = r.problem(status, "Origin failed", detail)
	return a
}

// WouldDeny is the X-Robots-Gate value of a response passed on in report mode.
func (r *Record) WouldDeny() string {
	return "would-deny; reason=" + string(r.Reason)
}

// proxyStatus is one member of the Proxy-Status list; details is a string of
// RFC 8941, which holds printable ASCII alone.
func proxyStatus(errorType, details string) string {
	var b strings.Builder
	b.WriteString(ProxyName + "; error=" + errorType + `; details="`)
	for i := range min(len(details), 200) {
		switch c := details[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c > 0x7e:
			b.WriteByte('?')
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func retryAfterSeconds(d time.Duration) string {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	return strconv.Itoa(seconds)
}

// problem is the RFC 9457 document: its own members, then the public record.
func (r *Record) problem(status int, title, detail string) []byte {
	body := objectJSON(zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
		enc.AddString("type", "about:blank")
		enc.AddString("title", title)
		enc.AddInt("status", status)
		enc.AddString("detail", detail)
		return public{r}.MarshalLogObject(enc)
	}))
	return append(bytes.TrimRight(body, "\n"), '\n')
}

// Advice tells the reader of a denial what happened and what to do next.
func (r *Record) Advice() string {
	switch r.Reason {
	case Disallowed:
		return fmt.Sprintf("%s line %d disallows this URL for %s (%s). Skip it, or ask the site's owner for permission and have the gate's operator record it as an override.", r.robots(), r.Rule.Line, r.group(), cut(r.Rule.String()))
	case DisallowedNormalized:
		return fmt.Sprintf("Origins resolve this URL to one that %s line %d disallows for %s (%s; normal form %s). Ask for the resolved URL instead; the gate's operator can set `paths rfc` to judge URLs as written.", r.robots(), r.Rule.Line, r.group(), cut(r.Rule.String()), r.Form)
	case StatusDenied:
		return fmt.Sprintf("%s answered %d, and the gate is configured to deny then. Ask the gate's operator about `on_status`.", r.robots(), r.RobotsStatus)
	case Overridden:
		return "The gate's operator has forbidden this origin" + r.overrideReason() + ". Ask them before you crawl it."
	case TunnelOpaque:
		return "The gate cannot see the requests inside this CONNECT tunnel, so it cannot judge them. Send plain http requests, or ask the gate's operator for interception (tls_intercept) or for `tunnels host`."
	case AddressDenied:
		return "The destination's address is not one that the gate may dial" + r.class() + ". If it is yours, the gate's operator can open it with `allow_ranges`."
	case PortDenied:
		return "The gate forwards to the ports of its configuration alone (80 and 443 by default). Its operator can add this one with `ports`."
	case Unreachable:
		return fmt.Sprintf("%s could not be read (%s), and without it nothing may be crawled (RFC 9309 section 2.3.1.4). Wait as Retry-After says; the gate tries again by itself.", r.robots(), r.cause())
	case Overloaded:
		return "The gate is fetching as many robots.txt files as it may. Wait as Retry-After says, or ask its operator to raise `max_in_flight`."
	case BadTarget:
		return sentence(r.Error)
	case AuthorityMismatch:
		return "The host of this request is not the one that the tunnel was opened for. Open one CONNECT tunnel for each host."
	case Loop:
		return "This request came through this gate before. Check that the gate's upstream does not lead back to it."
	default:
		return "The gate failed while it decided, and denies what it cannot decide. Its operator finds the cause in the error log."
	}
}

func (r *Record) robots() string {
	if r.RobotsURL == "" {
		return "robots.txt"
	}
	return r.RobotsURL
}

func (r *Record) group() string {
	if r.Token == "" || r.Token == "*" {
		return "every crawler (group *)"
	}
	return r.Token
}

func (r *Record) cause() string {
	if r.Error == "" {
		return "unreachable"
	}
	return r.Error
}

func (r *Record) class() string {
	if r.DeniedClass == "" {
		return ""
	}
	return " (" + r.DeniedClass + ")"
}

func (r *Record) overrideReason() string {
	if r.Override == nil || r.Override.Reason == "" {
		return ""
	}
	return ": " + r.Override.Reason
}

// sentence makes a message out of a lower-case error.
func sentence(s string) string {
	if s == "" {
		return "The request's target cannot be judged."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
