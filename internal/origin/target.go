package origin

import (
	"errors"
	"net/url"
	"strings"
)

// A Target is what is asked of an origin, exactly as the origin receives
// it: escapes, order and odd characters of path and query are kept.
type Target struct {
	Origin Origin
	// Path is url.URL.EscapedPath, "/" where the URL has none. It is "*" for
	// the server-wide OPTIONS request alone.
	Path string
	// Query is the raw query without its question mark.
	Query string
	// HasQuery tells "/p?" from "/p".
	HasQuery bool
}

// PathQuery returns path and query as they stand in the request line: what is
// sent and what is judged.
func (t Target) PathQuery() string {
	if !t.HasQuery {
		return t.Path
	}
	return t.Path + "?" + t.Query
}

// URL returns the absolute URL.
func (t Target) URL() string {
	url, _ := t.Texts()
	return url
}

// Texts returns the absolute URL and the text of its origin, which is a part of
// it: both cost one allocation.
func (t Target) Texts() (url, origin string) {
	var room [textRoom]byte
	b := t.Origin.appendText(room[:0])
	end := len(b)
	if t.Path != "*" {
		b = append(b, t.Path...)
	}
	if t.HasQuery {
		b = append(b, '?')
		b = append(b, t.Query...)
	}
	url = string(b)
	return url, url[:end]
}

// ParseTarget reads an absolute http or https URL given as text. A fragment is
// cut, as every client does, and spaces in the query are escaped. Every error
// is a *BadTargetError.
func ParseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, parseProblem(err)
	}
	u.RawQuery = strings.ReplaceAll(u.RawQuery, " ", "%20")
	return FromURL(u)
}

// FromURL returns the target of an absolute http or https URL. A fragment is
// ignored: it is never sent. Every error is a *BadTargetError.
func FromURL(u *url.URL) (Target, error) {
	if u.User != nil {
		return Target{}, errUserinfo
	}
	scheme, err := normalScheme(u.Scheme)
	if err != nil {
		return Target{}, err
	}
	if u.Opaque != "" {
		return Target{}, bad("the URL has no // after its scheme", "write "+scheme+"://host/path")
	}
	o, err := New(scheme, u.Host)
	if err != nil {
		return Target{}, err
	}
	return below(o, u)
}

// below takes path and query of u.
func below(o Origin, u *url.URL) (Target, error) {
	// u.Path is decoded, so this finds %00 and raw octets alike.
	for i := range len(u.Path) {
		if c := u.Path[i]; c < ' ' || c == 0x7f {
			return Target{}, bad("the path has a control character",
				"remove the characters %00 to %1f and %7f from the path")
		}
	}
	for i := range len(u.RawQuery) {
		if c := u.RawQuery[i]; c <= ' ' || c == 0x7f || c == '#' {
			return Target{}, bad("the query has a space, a # or a control character",
				"percent-encode it, and leave fragments out")
		}
	}
	t := Target{Origin: o, Path: u.EscapedPath(), Query: u.RawQuery, HasQuery: u.RawQuery != "" || u.ForceQuery}
	switch {
	case t.Path == "":
		t.Path = "/"
	case t.Path[0] != '/':
		return Target{}, bad("the path does not begin with a slash", "ask for /path")
	}
	return t, nil
}

// parseProblem turns an error of url.Parse into one that repeats nothing of
// the URL but a broken escape: the rest may hold a password.
func parseProblem(err error) *BadTargetError {
	if escape, ok := errors.AsType[url.EscapeError](err); ok {
		return bad("the URL has the broken escape "+quote(string(escape)), "write a literal percent sign as %25")
	}
	return bad("the URL cannot be read", "write http://host[:port]/path or https://host[:port]/path, "+
		"with no spaces or control characters in it and IPv6 addresses in brackets")
}
