package parser

import "strings"

// text is a line, still in the file's octets or already kept as a string.
type text interface{ ~string | ~[]byte }

// isSpace reports what is cut around lines, keys and values.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\v' || c == '\f'
}

func trim[T text](s T) T {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// startsKey reports whether a key can begin with c: letters of any language and
// digits can. It tells records from the lines of HTML pages and other garbage.
func startsKey(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

func index[T text](s T, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// splitLine divides a line without comment into key and value. Without a colon
// it must consist of exactly two words, runs without space or tab (Google's
// leniency for a forgotten colon). ok is false for a line that has no
// key or one that begins with punctuation.
func splitLine[T text](line T) (key, value T, ok bool) {
	line = trim(line)
	if len(line) == 0 || !startsKey(line[0]) {
		return key, value, false
	}
	if i := index(line, ':'); i >= 0 {
		key, value = trim(line[:i]), trim(line[i+1:])
		return key, value, true
	}
	i := 0
	for i < len(line) && line[i] != ' ' && line[i] != '\t' {
		i++
	}
	j := i
	for j < len(line) && (line[j] == ' ' || line[j] == '\t') {
		j++
	}
	if j == i {
		return key, value, false
	}
	for k := j; k < len(line); k++ {
		if line[k] == ' ' || line[k] == '\t' {
			return key, value, false
		}
	}
	key, value = trim(line[:i]), trim(line[j:])
	return key, value, true
}

// Keys that count, in lower case. The first of each list is the right spelling;
// the others are the misspellings Google documents. A key counts when it begins
// with one of them.
var (
	agentKeys    = []string{"user-agent", "useragent", "user agent"}
	allowKeys    = []string{"allow"}
	disallowKeys = []string{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"}
)

// classify says what a line with this key is.
func classify[T text](key T) kind {
	if len(key) < len("allow") {
		return kindOther
	}
	switch key[0] | 0x20 {
	case 'u':
		if hasAnyPrefix(key, agentKeys) {
			return kindAgent
		}
	case 'a':
		if hasAnyPrefix(key, allowKeys) {
			return kindAllow
		}
	case 'd':
		if hasAnyPrefix(key, disallowKeys) {
			return kindDisallow
		}
	}
	return kindOther
}

func hasAnyPrefix[T text](key T, lower []string) bool {
	for _, p := range lower {
		if len(key) >= len(p) && equalFold(key[:len(p)], p) {
			return true
		}
	}
	return false
}

// equalFold compares without regard to the case of ASCII letters.
func equalFold[T text](s T, t string) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range len(t) {
		if lower(s[i]) != lower(t[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// Token returns the product token that the value of a user-agent line names:
// the value up to the first octet outside A–Z a–z 0–9 _ . -, in its own case;
// "*" when it is "*" alone or followed by white space; "" when it names nobody.
// The RFC's grammar (§2.2.1) is narrower, but a fifth of real user-agent lines
// is outside it: MJ12bot, 360Spider, archive.org_bot.
func Token(name string) string {
	if strings.HasPrefix(name, "*") {
		if len(name) == 1 || isSpace(name[1]) {
			return name[:1]
		}
		return ""
	}
	for i := range len(name) {
		if !isTokenOctet(name[i]) {
			return name[:i]
		}
	}
	return name
}

func isTokenOctet(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}
