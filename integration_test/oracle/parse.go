package oracle

import (
	"bytes"
	"strings"
	"unicode/utf16"
)

// group is a run of user-agent lines and the rules under it. Names are
// lower-case; the global group's is "*".
type group struct {
	names []string
	rules []rule
}

// maxLine is how many octets of a line count.
const maxLine = 16663

// parse reads a robots.txt. It never fails: what is no record is skipped.
func parse(body []byte) []group {
	var groups []group
	inRules := true // so that the first user-agent line opens a group
	for i, line := range lines(decode(body)) {
		key, value, ok := record(line)
		if !ok {
			continue
		}
		switch {
		case isKey(key, "user-agent", "useragent", "user agent"):
			if inRules {
				groups = append(groups, group{})
				inRules = false
			}
			last := &groups[len(groups)-1]
			if name := groupName(value); name != "" {
				last.names = append(last.names, name)
			}
		case isKey(key, "allow"), isKey(key, "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
			inRules = true
			if len(groups) == 0 || value == "" {
				continue // before any group; or no rule, though it ends the run
			}
			last := &groups[len(groups)-1]
			last.rules = append(last.rules, newRule(isKey(key, "allow"), value, i+1))
		}
	}
	return groups
}

// Group is one group as a test may want to look at it: Names as compared, "*"
// for the global group, and the patterns as written.
type Group struct {
	Names    []string
	Patterns []string
}

// Groups lists the groups in the order of the file.
func (r Robots) Groups() []Group {
	var out []Group
	for _, g := range r.groups {
		pub := Group{Names: g.names}
		for _, r := range g.rules {
			pub.Patterns = append(pub.Patterns, r.pattern)
		}
		out = append(out, pub)
	}
	return out
}

// Cut shortens a robots.txt to what a reader with that limit of octets has to
// parse: a line that the limit cuts in two is dropped.
func Cut(body []byte, limit int) []byte {
	if len(body) <= limit {
		return body
	}
	return body[:bytes.LastIndexAny(body[:limit], "\r\n")+1]
}

// decode skips a byte order mark, whole or cut short, and turns UTF-16 into
// UTF-8. Anything else is left as it is.
func decode(body []byte) []byte {
	little := bytes.HasPrefix(body, []byte{0xFF, 0xFE})
	big := bytes.HasPrefix(body, []byte{0xFE, 0xFF})
	if little || big {
		var units []uint16
		for i := 2; i+1 < len(body); i += 2 {
			if little {
				units = append(units, uint16(body[i+1])<<8|uint16(body[i]))
			} else {
				units = append(units, uint16(body[i])<<8|uint16(body[i+1]))
			}
		}
		return []byte(string(utf16.Decode(units)))
	}
	for _, mark := range []string{"\xEF\xBB\xBF", "\xEF\xBB", "\xEF"} {
		if bytes.HasPrefix(body, []byte(mark)) {
			return body[len(mark):]
		}
	}
	return body
}

// lines splits at CR, LF and CR LF, and cuts each line at maxLine octets and
// at its first NUL.
func lines(body []byte) []string {
	text := strings.ReplaceAll(string(body), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	all := strings.Split(text, "\n")
	for i, line := range all {
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		line, _, _ = strings.Cut(line, "\x00")
		all[i] = line
	}
	return all
}

const white = " \t\v\f"

// record splits a line into key and value. A line without a colon counts only
// when it is exactly two words.
func record(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, white)
	key, value, colon := strings.Cut(line, ":")
	if !colon {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) != 2 {
			return "", "", false
		}
		key, value = words[0], words[1]
	}
	key = strings.Trim(key, white)
	return key, strings.Trim(value, white), key != ""
}

// isKey says whether key is one of the spellings or begins with one
// .
func isKey(key string, spellings ...string) bool {
	for _, s := range spellings {
		if len(key) >= len(s) && strings.EqualFold(key[:len(s)], s) {
			return true
		}
	}
	return false
}

// groupName is the name that a user-agent line gives: "*" alone or before
// white space, else the characters a product name may have; empty when the
// line names nobody.
func groupName(value string) string {
	if value == "*" || len(value) > 1 && value[0] == '*' && strings.ContainsRune(white, rune(value[1])) {
		return "*"
	}
	end := 0
	for end < len(value) && strings.IndexByte(nameOctets, value[end]) >= 0 {
		end++
	}
	return strings.ToLower(value[:end])
}

const nameOctets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
