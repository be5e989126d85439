package matcher

import "strings"

// PathOf returns the path and query of a URL given as text, as it is written:
// scheme, authority and fragment are cut, an empty path is "/", and
// "http://h?x" asks for "/?x". Without a scheme the text up to the first "/",
// "?" or ";" is taken for an authority, as Google's parser does: "example.com/x"
// and "//example.com/x" ask for "/x".
func PathOf(url string) string {
	url, _, _ = strings.Cut(url, "#")
	if rest, ok := strings.CutPrefix(url, "//"); ok {
		url = rest
	} else if i := strings.Index(url, "://"); i >= 0 && i <= strings.IndexAny(url, "/?;") {
		url = url[i+len("://"):]
	}
	i := strings.IndexAny(url, "/?;")
	switch {
	case i < 0:
		return "/"
	case url[i] == '/':
		return url[i:]
	default:
		return "/" + url[i:]
	}
}
