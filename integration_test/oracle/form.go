package oracle

import (
	"fmt"
	"strings"
)

var formNames = [5]string{"F1", "F2", "F3", "F4", "F5"}

// Forms returns F1 to F5 of a path with an optional query, query included.
func Forms(target string) []string {
	target, _, _ = strings.Cut(target, "#")
	path, query, hasQuery := strings.Cut(target, "?")
	end := ""
	if hasQuery {
		end = "?" + escapeOperators(normalise(query))
	}
	f1 := escapeOperators(normalise(path))
	f2 := removeDots(f1)
	f3 := mergeSlashes(f2)
	f4 := mergeSlashes(removeDots(separators(f3)))
	f5 := mergeSlashes(removeDots(cutParams(f4)))
	return []string{f1 + end, f2 + end, f3 + end, f4 + end, f5 + end}
}

// Merged returns the other way to F3, F4 and F5: many servers merge slashes
// before they remove dot segments, so that nothing is left of "/a//..".
func Merged(target string) []string {
	path, query, hasQuery := strings.Cut(Forms(target)[0], "?")
	end := ""
	if hasQuery {
		end = "?" + query
	}
	resolve := func(path string) string { return mergeSlashes(removeDots(mergeSlashes(path))) }
	separated := separators(path)
	return []string{resolve(path) + end, resolve(separated) + end, resolve(cutParams(separated)) + end}
}

const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	reserved   = ":/?#[]@!$&'()*+,;="
)

// normalise is RFC 9309 section 2.2.2 for one run of text: escapes of
// unreserved characters are decoded, other escapes get upper-case digits, and
// octets that may not stand in a URI are escaped.
func normalise(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0:
			octet := byte(hex(s[i+1])*16 + hex(s[i+2]))
			if strings.IndexByte(unreserved, octet) >= 0 {
				out.WriteByte(octet)
			} else {
				fmt.Fprintf(&out, "%%%02X", octet)
			}
			i += 2
		case c == '%' || strings.IndexByte(unreserved+reserved, c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// escapeOperators makes a URL's own "*" and "$" equal to their escapes, which
// is how a pattern spells them literally.
func escapeOperators(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "*", "%2A"), "$", "%24")
}

// removeDots is RFC 3986 section 5.2.4, step by step.
func removeDots(in string) string {
	out := ""
	for in != "" {
		switch {
		case strings.HasPrefix(in, "../"):
			in = in[3:]
		case strings.HasPrefix(in, "./"):
			in = in[2:]
		case strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"):
			in = in[3:]
			out = dropLast(out)
		case in == "/..":
			in = "/"
			out = dropLast(out)
		case in == "." || in == "..":
			in = ""
		default:
			end := strings.Index(in[1:], "/") + 1
			if end == 0 {
				end = len(in)
			}
			out += in[:end]
			in = in[end:]
		}
	}
	return out
}

// dropLast removes the last segment and the slash before it.
func dropLast(out string) string {
	return out[:max(strings.LastIndex(out, "/"), 0)]
}

func mergeSlashes(s string) string {
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	return s
}

// separators turns everything that some origin reads as a slash into one.
func separators(s string) string {
	for _, other := range []string{"%2F", "%5C", `\`} {
		s = strings.ReplaceAll(s, other, "/")
	}
	return s
}

// cutParams removes ";…" from every segment.
func cutParams(s string) string {
	segments := strings.Split(s, "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	return strings.Join(segments, "/")
}
