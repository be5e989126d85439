package matcher

import (
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/robotsgate/robotsgate/parser"
)

// The oracle decides from the file's text by the letter of RFC 9309 and the
// rulings, as slowly as is convenient: regular expressions, every rule tried.
// It shares no code with the packages.

type oracle struct {
	lines []oracleLine
	made  map[parser.Rule]oracleRule
}

type oracleLine struct {
	no         int
	what       string // "agent", "allow", "disallow"
	value      string
	startGroup bool
}

var (
	oracleEnds       = regexp.MustCompile("\r\n|\r|\n")
	oracleKeyed      = regexp.MustCompile(`(?s)^([^:]*):(.*)$`)
	oracleTwoWords   = regexp.MustCompile(`(?s)^([^ \t]+)[ \t]+([^ \t]+)$`)
	oracleAgent      = regexp.MustCompile(`(?i)^user[- ]?agent`)
	oracleAllow      = regexp.MustCompile(`(?i)^allow`)
	oracleDisallow   = regexp.MustCompile(`(?i)^(disallow|dissallow|dissalow|disalow|diasllow|disallaw)`)
	oracleSlashes    = regexp.MustCompile("/+")
	oracleSeparators = regexp.MustCompile(`(?i)%2f|%5c|\\`)
	oracleParams     = regexp.MustCompile(`;[^/]*`)
	oracleName       = regexp.MustCompile(`^[A-Za-z0-9_.-]+`)
)

func newOracle(file string) *oracle {
	o := &oracle{made: map[parser.Rule]oracleRule{}}
	seenAgent, lastAgent := false, false
	for i, line := range oracleEnds.Split(oracleText(file), -1) {
		if len(line) > 16663 {
			line = line[:16663]
		}
		line, _, _ = strings.Cut(line, "\x00")
		line, _, _ = strings.Cut(line, "#")
		line = strings.Trim(line, " \t\v\f")
		parts := oracleKeyed.FindStringSubmatch(line)
		if parts == nil {
			parts = oracleTwoWords.FindStringSubmatch(line)
		}
		if parts == nil {
			continue
		}
		key, value := strings.Trim(parts[1], " \t\v\f"), strings.Trim(parts[2], " \t\v\f")
		switch {
		case oracleAgent.MatchString(key):
			o.lines = append(o.lines, oracleLine{i + 1, "agent", value, !lastAgent})
			seenAgent, lastAgent = true, true
		case oracleAllow.MatchString(key) && seenAgent:
			o.lines = append(o.lines, oracleLine{i + 1, "allow", value, false})
			lastAgent = false
		case oracleDisallow.MatchString(key) && seenAgent:
			o.lines = append(o.lines, oracleLine{i + 1, "disallow", value, false})
			lastAgent = false
		}
	}
	return o
}

func oracleText(file string) string {
	for _, order := range []struct {
		mark      string
		low, high int
	}{{"\xff\xfe", 0, 1}, {"\xfe\xff", 1, 0}} {
		if rest, ok := strings.CutPrefix(file, order.mark); ok {
			var units []uint16
			for ; len(rest) >= 2; rest = rest[2:] {
				units = append(units, uint16(rest[order.low])|uint16(rest[order.high])<<8)
			}
			return string(utf16.Decode(units))
		}
	}
	for _, mark := range []string{"\xef\xbb\xbf", "\xef\xbb", "\xef"} {
		if rest, ok := strings.CutPrefix(file, mark); ok {
			return rest
		}
	}
	return file
}

type oracleRule struct {
	rule   parser.Rule
	length int
	start  string // what a matching URL begins with
	re     *regexp.Regexp
}

// rules returns the rules for the first token with a group, or "*", and which
// token that was.
func (o *oracle) rules(tokens []string) ([]oracleRule, string) {
	for _, token := range append(tokens[:len(tokens):len(tokens)], "*") {
		if token == "" {
			token = "*"
		}
		var rules []oracleRule
		found, inGroup := false, false
		for _, l := range o.lines {
			if l.startGroup {
				inGroup = false
			}
			switch {
			case l.what == "agent":
				name := oracleName.FindString(l.value)
				if l.value == "*" || len(l.value) > 1 && l.value[0] == '*' && strings.ContainsRune(" \t\v\f", rune(l.value[1])) {
					name = "*"
				}
				if name != "" && strings.EqualFold(name, token) {
					found, inGroup = true, true
				}
			case inGroup && l.value != "":
				r := parser.Rule{Allow: l.what == "allow", Pattern: l.value, Line: l.no}
				if _, ok := o.made[r]; !ok {
					o.made[r] = newOracleRule(r)
				}
				rules = append(rules, o.made[r])
			}
		}
		if found {
			return rules, token
		}
	}
	return nil, ""
}

func newOracleRule(r parser.Rule) oracleRule {
	text, end := strings.CutSuffix(r.Pattern, "$")
	length, start, wild := 0, "", false
	re := `(?s)\A`
	for _, symbol := range oracleSymbols(text) {
		if symbol == "*" {
			re += ".*"
			length++
			wild = true
			continue
		}
		symbol = oracleNormal(symbol)
		re += regexp.QuoteMeta(symbol)
		length += len(symbol)
		if !wild {
			start += symbol
		}
	}
	if end {
		re += `\z`
		length++
	}
	return oracleRule{r, length, start, regexp.MustCompile(re)}
}

// oracleSymbols divides s into escapes and single octets, these as runes because
// the expressions see runes.
func oracleSymbols(s string) []string {
	const hex = "0123456789abcdefABCDEF"
	var symbols []string
	for len(s) > 0 {
		if len(s) >= 3 && s[0] == '%' && strings.IndexByte(hex, s[1]) >= 0 && strings.IndexByte(hex, s[2]) >= 0 {
			symbols = append(symbols, s[:3])
			s = s[3:]
		} else {
			symbols = append(symbols, string(rune(s[0])))
			s = s[1:]
		}
	}
	return symbols
}

// oracleNormal is the normal form of one symbol: an escape or an octet as rune.
func oracleNormal(symbol string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	if len(symbol) == 3 && symbol[0] == '%' {
		digits := "0123456789ABCDEF"
		escape := strings.ToUpper(symbol)
		octet := strings.IndexByte(digits, escape[1])*16 + strings.IndexByte(digits, escape[2])
		if strings.Contains(unreserved, string(rune(octet))) {
			return string(rune(octet))
		}
		return escape
	}
	const kept = unreserved + ":/?#[]@!&'()+,;=%"
	if strings.Contains(kept, symbol) {
		return symbol
	}
	octet := []rune(symbol)[0]
	return "%" + string("0123456789ABCDEF"[octet/16]) + string("0123456789ABCDEF"[octet%16])
}

func oracleF1(path string) string {
	var out strings.Builder
	for _, symbol := range oracleSymbols(path) {
		out.WriteString(oracleNormal(symbol))
	}
	return out.String()
}

func oracleForms(path string) []string {
	f1 := oracleF1(path)
	p, query, hasQuery := strings.Cut(f1, "?")
	if hasQuery {
		query = "?" + query
	}
	f2 := oracleDots(p)
	f3 := oracleSlashes.ReplaceAllString(f2, "/")
	f4 := oracleSeparators.ReplaceAllString(f3, "/")
	f4 = oracleSlashes.ReplaceAllString(oracleDots(f4), "/")
	f5 := oracleParams.ReplaceAllString(f4, "")
	f5 = oracleSlashes.ReplaceAllString(oracleDots(f5), "/")
	return []string{f1, f2 + query, f3 + query, f4 + query, f5 + query}
}

// oracleMerged are F3 to F5 where slashes are merged before dot segments go.
func oracleMerged(path string) []string {
	p, query, hasQuery := strings.Cut(oracleF1(path), "?")
	if hasQuery {
		query = "?" + query
	}
	resolve := func(p string) string {
		return oracleSlashes.ReplaceAllString(oracleDots(oracleSlashes.ReplaceAllString(p, "/")), "/")
	}
	unified := oracleSeparators.ReplaceAllString(p, "/")
	return []string{resolve(p) + query, resolve(unified) + query, resolve(oracleParams.ReplaceAllString(unified, "")) + query}
}

func oracleDots(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	var kept []string
	for i, s := range segments {
		if s == ".." && len(kept) > 0 {
			kept = kept[:len(kept)-1]
		}
		if s != "." && s != ".." {
			kept = append(kept, s)
		} else if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// decide judges a normal form.
func oracleDecide(rules []oracleRule, form string) Verdict {
	best, verdict := -1, Verdict{Allowed: true}
	for _, r := range rules {
		if r.length < best || !strings.HasPrefix(form, r.start) || !r.re.MatchString(form) {
			continue
		}
		if r.length > best || r.rule.Allow && !verdict.Allowed {
			best, verdict = r.length, Verdict{r.rule.Allow, true, r.rule}
		}
	}
	return verdict
}

func oracleMatch(rules []oracleRule, path string) Verdict {
	if path == "/robots.txt" {
		return Verdict{Allowed: true}
	}
	return oracleDecide(rules, oracleF1(path))
}

func oracleStrict(rules []oracleRule, path string) (Verdict, string) {
	verdict := oracleMatch(rules, path)
	if path == "/robots.txt" {
		return verdict, ""
	}
	merged := oracleMerged(path)
	for i, form := range oracleForms(path) {
		if v := oracleDecide(rules, form); !v.Allowed {
			return v, "F" + string(rune('1'+i))
		}
		if i < 2 {
			continue
		}
		if v := oracleDecide(rules, merged[i-2]); !v.Allowed {
			return v, "F" + string(rune('1'+i))
		}
	}
	return verdict, ""
}
