package matcher

import "strings"

// Form is a normal form of a path and query in which a request is judged. The
// zero Form stands for none.
type Form uint8

// Forms that [Matcher.MatchStrict] judges. F2 to F5 change the path, up to the
// first "?"; the query stays. F3 to F5 are judged in a second way too, with runs
// of slashes merged before dot segments are removed: RFC 3986 counts the empty
// segment of "/a//../b" and makes "/a/b" of it, many origins make "/b".
const (
	F1 Form = iota + 1 // RFC 9309 §2.2.2, see Normalize
	F2                 // F1 without dot segments (RFC 3986 §5.2.4)
	F3                 // F2 with runs of slashes merged
	F4                 // F3 with %2F, %5C and \ as slashes, then as F2 and F3 again
	F5                 // F4 without parameters (from ";" to the end of a segment), then as F2 and F3 again
)

// String returns "F1" to "F5", and "" for the zero Form.
func (f Form) String() string {
	switch f {
	case F1:
		return "F1"
	case F2:
		return "F2"
	case F3:
		return "F3"
	case F4:
		return "F4"
	case F5:
		return "F5"
	default:
		return ""
	}
}

// Forms returns the forms F1 to F5 of a path and query, in this order, in the
// first of their two ways.
func Forms(pathQuery string) [5]string { return formsOf(Normalize(pathQuery)) }

func formsOf(f1 string) [5]string {
	path, query := cutQuery(f1)
	forms := [5]string{f1}
	path = removeDotSegments(path)
	forms[1] = path + query
	path = mergeSlashes(path)
	forms[2] = path + query
	path = clean(unifySeparators(path))
	forms[3] = path + query
	path = clean(cutParams(path))
	forms[4] = path + query
	return forms
}

// mergedFirst returns F3 to F5 with slashes merged before dot segments go.
func mergedFirst(f1 string) [3]string {
	path, query := cutQuery(f1)
	unified := unifySeparators(path)
	return [3]string{
		clean(mergeSlashes(path)) + query,
		clean(mergeSlashes(unified)) + query,
		clean(mergeSlashes(cutParams(unified))) + query,
	}
}

// cutQuery divides before the first "?".
func cutQuery(pathQuery string) (path, query string) {
	if i := strings.IndexByte(pathQuery, '?'); i >= 0 {
		return pathQuery[:i], pathQuery[i:]
	}
	return pathQuery, ""
}

// sameForms reports that all forms of the path of f1, which is in form F1 and
// consists of octets, are equal: it has no dot segment, no "//", %2F, %5C or ";".
func sameForms(f1 string, octets octetSet) bool {
	if octets&(octetSets[';']|octetSets['%'])&present == 0 && !strings.Contains(f1, "//") &&
		(octets&octetSets['.'] == 0 || !strings.Contains(f1, "/.")) {
		return true
	}
	path, _ := cutQuery(f1)
	for i := range len(path) {
		switch path[i] {
		case ';':
			return false
		case '%':
			if isSeparatorEscape(path[i:]) {
				return false
			}
		case '/':
			if i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.' && startsDotSegment(path[i+1:])) {
				return false
			}
		}
	}
	return true
}

// startsDotSegment reports whether s begins with a segment "." or "..".
func startsDotSegment(s string) bool {
	s = strings.TrimPrefix(s, ".")
	s = strings.TrimPrefix(s, ".")
	return s == "" || s[0] == '/'
}

// isSeparatorEscape reports whether s begins with %2F or %5C.
func isSeparatorEscape(s string) bool {
	return len(s) >= 3 && s[0] == '%' &&
		(s[1] == '2' && s[2]|0x20 == 'f' || s[1] == '5' && s[2]|0x20 == 'c')
}

func clean(path string) string {
	return mergeSlashes(removeDotSegments(path))
}

// removeDotSegments is the algorithm of RFC 3986 §5.2.4 for a path that begins
// with a slash; any other path is left alone.
func removeDotSegments(path string) string {
	if !strings.HasPrefix(path, "/") || !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path))
	for rest := path; rest != ""; {
		end := len(rest)
		if i := strings.IndexByte(rest[1:], '/'); i >= 0 {
			end = i + 1
		}
		segment := rest[:end]
		rest = rest[end:]
		if segment != "/." && segment != "/.." {
			out = append(out, segment...)
			continue
		}
		if segment == "/.." {
			for len(out) > 0 {
				last := out[len(out)-1]
				out = out[:len(out)-1]
				if last == '/' {
					break
				}
			}
		}
		if rest == "" {
			out = append(out, '/')
		}
	}
	return string(out)
}

func mergeSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			out = append(out, path[i])
		}
	}
	return string(out)
}

// unifySeparators writes %2F, %5C and \ as slashes.
func unifySeparators(path string) string {
	if !strings.ContainsAny(path, `%\`) {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\':
			out = append(out, '/')
		case isSeparatorEscape(path[i:]):
			out = append(out, '/')
			i += 2
		default:
			out = append(out, path[i])
		}
	}
	return string(out)
}

// cutParams cuts every segment at its first ";".
func cutParams(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	out := make([]byte, 0, len(path))
	inParams := false
	for i := range len(path) {
		switch path[i] {
		case ';':
			inParams = true
		case '/':
			inParams = false
		}
		if !inParams {
			out = append(out, path[i])
		}
	}
	return string(out)
}
