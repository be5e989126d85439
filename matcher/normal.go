package matcher

import "strings"

// Normalize returns the form F1 of a path and query, to which rules are
// compared (RFC 9309 §2.2.2): octets that may not stand in a URI are
// percent-encoded, escapes of unreserved characters are decoded, other escapes
// are in upper case. Reserved characters stay as they are, raw or escaped,
// except "*" and "$", which are escaped because they are operators in rules.
// A "%" that begins no escape stays. Input in this form is returned as it is.
func Normalize(pathQuery string) string {
	for i := range len(pathQuery) {
		if octets[pathQuery[i]]&plain == 0 {
			return string(appendNormal(make([]byte, 0, len(pathQuery)+16), pathQuery, i, false))
		}
	}
	return pathQuery
}

// A pattern is a rule's path pattern in normal form: only operators are left as
// "*", and the final "$" is cut off.
type pattern struct {
	text   string
	atEnd  bool // the final "$": matches only at the end of the URL
	octets int  // length in normal form, operators counted
}

// normalizePattern brings a pattern as written into normal form.
func normalizePattern(written string) pattern {
	text, atEnd := strings.CutSuffix(written, "$")
	p := pattern{text: text, atEnd: atEnd}
	for i := range len(text) {
		if octets[text[i]]&plain == 0 && text[i] != '*' {
			p.text = string(appendNormal(make([]byte, 0, len(text)+16), text, i, true))
			break
		}
	}
	p.octets = len(p.text)
	if atEnd {
		p.octets++
	}
	return p
}

// appendNormal appends the normal form of s, whose first n octets are in it.
func appendNormal(buf []byte, s string, n int, wildcards bool) []byte {
	const upperHex = "0123456789ABCDEF"
	buf = append(buf, s[:n]...)
	for i := n; i < len(s); i++ {
		c := s[i]
		switch {
		case octets[c]&plain != 0 || c == '*' && wildcards:
			buf = append(buf, c)
		case c != '%':
			buf = append(buf, '%', upperHex[c>>4], upperHex[c&0x0f])
		case i+2 >= len(s) || octets[s[i+1]]&hexDigit == 0 || octets[s[i+2]]&hexDigit == 0:
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

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0x0f + 9
}

// Classes of octets.
const (
	plain      = 1 << iota // stands in a normal form as it is: unreserved and reserved without % * $
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
