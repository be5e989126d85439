package parser

import "strings"

// Normalize returns the normal form of a path and query to which rules are
// compared (RFC 9309 §2.2.2): octets that may not stand in a URI are
// percent-encoded, escapes of unreserved characters are decoded, other escapes
// are in upper case. Reserved characters stay as they are, raw or escaped,
// except "*" and "$", which are escaped because they are operators in patterns.
// A "%" that begins no escape stays. Input in this form is returned as it is.
func Normalize(pathQuery string) string {
	for i := range len(pathQuery) {
		if octets[pathQuery[i]]&plain == 0 {
			return string(AppendNormal(make([]byte, 0, len(pathQuery)+16), pathQuery))
		}
	}
	return pathQuery
}

// AppendNormal appends the normal form that [Normalize] returns to dst.
func AppendNormal(dst []byte, pathQuery string) []byte {
	return appendNormal(dst, pathQuery, false)
}

// NormalizePattern returns the normal form of a path pattern as written. In
// text "*" stands only as the operator; atEnd says that the pattern ended in
// "$", which text is without (RFC 9309 §2.2.3). The pattern's length, by which
// rules take precedence, is that of text and one more with atEnd.
func NormalizePattern(written string) (text string, atEnd bool) {
	text, atEnd = strings.CutSuffix(written, "$")
	for i := range len(text) {
		if octets[text[i]]&plain == 0 && text[i] != '*' {
			return string(appendNormal(make([]byte, 0, len(text)+16), text, true)), atEnd
		}
	}
	return text, atEnd
}

// appendNormal appends the normal form of s, in which "*" is an operator if there
// are wildcards.
func appendNormal(buf []byte, s string, wildcards bool) []byte {
	const upperHex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case octets[c]&plain != 0 || c == '*' && wildcards:
			buf = append(buf, c)
		case c != '%':
			buf = append(buf, '%', upperHex[c>>4], upperHex[c&0x0f])
		case !isEscape(s[i:]):
			buf = append(buf, '%')
		default:
			d := unhex(s[i+1])<<4 | unhex(s[i+2])
			if octets[d]&unreserved != 0 {
				buf = append(buf, d)
			} else {
				buf = append(buf, '%', upperHex[d>>4], upperHex[d&0x0f])
			}
			i += 2
		}
	}
	return buf
}

// isEscape reports whether s, which begins with "%", begins with an escape.
func isEscape(s string) bool {
	return len(s) >= 3 && octets[s[1]]&hexDigit != 0 && octets[s[2]]&hexDigit != 0
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0x0f + 9
}

// Classes of octets.
const (
	plain      = 1 << iota // stands in a normal form as it is: unreserved, and reserved without "*" and "$"
	unreserved             // RFC 3986 §2.3
	hexDigit
)

var octets = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = plain | unreserved | hexDigit
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = plain | unreserved
		t[c-'a'+'A'] = plain | unreserved
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] |= hexDigit
		t[c-'a'+'A'] |= hexDigit
	}
	for _, c := range "-._~" {
		t[c] = plain | unreserved
	}
	for _, c := range ":/?#[]@!&'()+,;=" { // RFC 3986 §2.2 without "*" and "$"
		t[c] = plain
	}
	return t
}()
