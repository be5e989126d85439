package agent

import "strings"

// addressRule says whether the bytes behind a word make it the beginning of a
// URL or of an e-mail address.
func addressRule(rest string) rule {
	switch {
	case strings.HasPrefix(rest, "://"):
		return ruleURL
	case rest[0] == '@' && mailDomain(rest[1:]):
		return ruleEmail
	}
	return 0
}

// mailDomain reports whether s starts with a domain name: at least one dot,
// and letters behind the last. "android@111.0" is no address.
func mailDomain(s string) bool {
	n := 0
	for n < len(s) && kinds[s[n]] == wordByte {
		n++
	}
	name := strings.TrimRight(s[:n], ".")
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && len(name)-dot > 2 && letter(name[dot+1]) && letter(name[dot+2])
}

// addressEnd returns the end of the URL or e-mail address that h[i] is inside.
func addressEnd(h string, i int) int {
	if n := strings.IndexAny(h[i:], " \t);,\"<>"); n >= 0 {
		return i + n
	}
	return len(h)
}

// domains are the endings by which a bare domain name is known.
var domains = []string{
	"ai", "app", "at", "be", "biz", "ch", "cloud", "co", "com", "cz", "de", "dev", "es",
	"eu", "fr", "info", "io", "it", "jp", "me", "net", "nl", "org", "pl", "ru", "se", "uk",
}

// isDomain reports whether a word is a bare domain name such as "example.com".
func isDomain(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	if dot < 2 || hasPrefix(w, "com.") {
		return false
	}
	if hasPrefix(w, "www.") {
		return true
	}
	for _, d := range domains {
		if foldEqual(w[dot+1:], d) {
			return true
		}
	}
	return false
}
