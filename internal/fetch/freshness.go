package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxDeclared bounds what a header may declare, against overflow only: the
// cache has bounds of its own.
const maxDeclared = 10 * 365 * 24 * time.Hour

// maxValidator bounds a validator worth remembering.
const maxValidator = 256

// freshness notes how long the answer says that it stays fresh (RFC 9111
// §4.2.1), less the age it already has.
func (r *Result) freshness(header http.Header) {
	lifetime, ok := declaredLifetime(header)
	if !ok {
		r.Lifetime, r.HasLifetime = 0, false
		return
	}
	if age, valid := seconds(header.Get("Age")); valid {
		lifetime -= age
	}
	r.Lifetime, r.HasLifetime = max(lifetime, 0), true
}

// declaredLifetime reads Cache-Control, then Expires. We are a shared cache,
// so s-maxage comes first.
func declaredLifetime(header http.Header) (time.Duration, bool) {
	var maxAge, sMaxAge time.Duration
	var hasMaxAge, hasSMaxAge bool
	for _, line := range header.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "no-store", "no-cache":
				return 0, true
			case "max-age":
				maxAge, _ = seconds(value)
				hasMaxAge = true // an unreadable age is stale (§4.2.1)
			case "s-maxage":
				sMaxAge, _ = seconds(value)
				hasSMaxAge = true
			}
		}
	}
	if hasSMaxAge {
		return sMaxAge, true
	}
	if hasMaxAge {
		return maxAge, true
	}
	value := header.Get("Expires")
	if value == "" {
		return 0, false
	}
	expires, err := http.ParseTime(value)
	if err != nil {
		return 0, true // an invalid date is in the past (§5.3)
	}
	return min(max(expires.Sub(date(header)), 0), maxDeclared), true
}

// retryAfter reads Retry-After, in seconds or as a date (RFC 9110 §10.2.3).
func retryAfter(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if wait, ok := seconds(value); ok {
		return wait
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(date(header)), 0), maxDeclared)
}

// date is the answer's own clock, ours where it has none: differences of its
// dates then do not depend on how far the clocks are apart.
func date(header http.Header) time.Time {
	if at, err := http.ParseTime(header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}

// seconds reads delta-seconds; values beyond any use count as maxDeclared
// (RFC 9111 §1.2.2).
func seconds(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(maxDeclared/time.Second) {
		return maxDeclared, true
	}
	return time.Duration(n) * time.Second, true
}

// validators notes what makes the next fetch of the same URL conditional.
func (r *Result) validators(header http.Header) {
	if tag := header.Get("ETag"); len(tag) <= maxValidator {
		r.ETag = tag
	}
	if at := header.Get("Last-Modified"); len(at) <= maxValidator {
		r.LastModified = at
	}
}

// variesByUserAgent reports whether the answer names User-Agent in Vary.
func variesByUserAgent(header http.Header) bool {
	for _, line := range header.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(name), "User-Agent") {
				return true
			}
		}
	}
	return false
}
