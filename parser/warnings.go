package parser

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Codes of warnings.
const (
	WarnHTML            = "html"                 // the file is an HTML page
	WarnUTF16           = "utf_16"               // UTF-16, which few crawlers decode
	WarnByteOrderMark   = "byte_order_mark"      // UTF-8 byte order mark
	WarnNotUTF8         = "not_utf_8"            // octets that are no UTF-8
	WarnNUL             = "nul_octet"            // a NUL octet ends the line early
	WarnTooLarge        = "too_large"            // over RecommendedLimit
	WarnLongLine        = "line_too_long"        // over MaxLine
	WarnUnreadable      = "unreadable_line"      // neither key and value nor comment
	WarnMissingColon    = "missing_colon"        // two words, read as key and value
	WarnMisspeltKey     = "misspelt_key"         // key that almost is one
	WarnUnknownKey      = "unknown_key"          // key without a known meaning
	WarnUnsupported     = "unsupported"          // known key that RFC 9309 does not have
	WarnOutsideGroup    = "rule_outside_group"   // rule before the first user-agent line
	WarnEmptyAllow      = "empty_allow"          // "Allow:" without a path
	WarnNamesNobody     = "agent_names_nobody"   // user-agent line without a product token
	WarnAgentCut        = "agent_cut"            // user-agent value longer than its product token
	WarnRepeatedAgent   = "repeated_agent"       // token named twice in one group
	WarnRepeatedGroup   = "repeated_group"       // token with several groups
	WarnNoRules         = "group_without_rules"  // group without any rule line
	WarnNeverMatches    = "rule_never_matches"   // no URL can match the rule
	WarnNeverWins       = "rule_never_wins"      // another rule always takes precedence
	WarnRobotsTxt       = "rule_for_robots_txt"  // /robots.txt is always allowed
	WarnDollar          = "dollar_inside"        // "$" that is not the last octet
	WarnSpace           = "space_in_path"        // white space in a path pattern
	WarnEscape          = "bad_escape"           // "%" without two hexadecimal digits
	WarnRelativeSitemap = "sitemap_not_absolute" // Sitemap that is no absolute URL
)

// file warns about the file as a whole.
func (in *inspector) file(encoding string, decoded []byte) {
	switch encoding {
	case encodingUTF16LE, encodingUTF16BE:
		in.warn(1, WarnUTF16, "the file is UTF-16, which most crawlers read as garbage, and then everything is allowed", "save it as UTF-8 without byte order mark")
	case encodingUTF8BOM:
		in.warn(1, WarnByteOrderMark, "the file begins with a byte order mark, with which some crawlers miss the first line", "save it as UTF-8 without byte order mark")
	}
	start := bytes.ToLower(bytes.TrimLeft(decoded[:min(len(decoded), 4096)], " \t\v\f\r\n"))
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<!--", "<?xml"} {
		if bytes.HasPrefix(start, []byte(tag)) {
			in.html = true
			in.warn(1, WarnHTML, "this is an HTML page, not a robots.txt file; whatever in it is no rule is ignored", "serve plain text, or status 404 when there is no robots.txt")
			return
		}
	}
}

// lines warns about single lines and returns how many there are.
func (in *inspector) lines(decoded []byte) int {
	l := newLines(decoded)
	tooLarge := len(decoded) > RecommendedLimit
	for l.advance() {
		if tooLarge && l.pos > RecommendedLimit {
			tooLarge = false
			in.warn(l.no, WarnTooLarge,
				fmt.Sprintf("the file has %d octets, and crawlers may ignore what lies beyond %d, which is in this line", len(decoded), RecommendedLimit),
				"use fewer and shorter patterns, with * where they differ")
		}
		in.line(&l)
	}
	if in.open != 0 {
		in.warn(in.open, WarnNoRules, "no rule follows these User-agent lines, so that everything is allowed to these crawlers and the rules for * do not count for them", "Disallow: without a path to say so, or leave the lines out")
	}
	return l.no
}

func (in *inspector) line(l *lines) {
	if l.clipped() {
		in.warn(l.no, WarnLongLine, fmt.Sprintf("the line is longer than %d octets; the rest of it is ignored", MaxLine), "divide it")
	}
	if bytes.IndexByte(l.whole(), 0) >= 0 {
		in.warn(l.no, WarnNUL, "a NUL octet ends the line here", "save the file as UTF-8 text")
	}
	if !in.utf8 && !utf8.Valid(l.whole()) {
		in.warn(l.no, WarnNotUTF8, "the line is not UTF-8; its octets are compared as they are", "save the file as UTF-8, or percent-encode the octets of paths")
	}
	line := trim(string(l.text()))
	if line == "" {
		return
	}
	key, value, ok := splitLine(line)
	if !ok {
		in.unreadable(l.no, line)
		return
	}
	k := classify(key)
	if in.html && k == kindOther {
		return
	}
	if k != kindOther {
		in.spelling(l.no, k, key, value, strings.Contains(line, ":"))
	}
	switch k {
	case kindAgent:
		in.grouped = true
		if in.open == 0 {
			in.open = l.no
		}
		in.agent(l.no, value)
	case kindAllow, kindDisallow:
		in.open = 0
		in.rule(Rule{Allow: k == kindAllow, Pattern: value, Line: l.no})
	default:
		in.record(l.no, key, value)
	}
}

func (in *inspector) unreadable(no int, line string) {
	if in.html {
		return
	}
	instead := "put # before it if it is a comment"
	if strings.HasPrefix(line, "/") {
		instead = "Disallow: " + line
	}
	in.warn(no, WarnUnreadable, "the line is neither a key with a value nor a comment, and is ignored", instead)
}

// spelling warns about a key that is read as something it is not written like.
func (in *inspector) spelling(no int, k kind, key, value string, colon bool) {
	right := [...]string{kindAgent: "User-agent", kindAllow: "Allow", kindDisallow: "Disallow"}[k]
	instead := strings.TrimSpace(right + ": " + value)
	if !equalFold(key, strings.ToLower(right)) {
		in.warn(no, WarnMisspeltKey, fmt.Sprintf("%q is read as %s here, but other crawlers may ignore the line", key, right), instead)
	}
	if !colon {
		in.warn(no, WarnMissingColon, fmt.Sprintf("the colon after %s is missing; the line is read nevertheless, but other crawlers may ignore it", key), instead)
	}
}

func (in *inspector) agent(no int, name string) {
	switch token := Token(name); {
	case token == "":
		in.warn(no, WarnNamesNobody, fmt.Sprintf("%q names no crawler, so that the rules below count for nobody by this line", name), "User-agent: * for every crawler, or a product token such as User-agent: ExampleBot")
	case token == "*" && trim(name[1:]) != "":
		in.warn(no, WarnAgentCut, fmt.Sprintf("%q is read as *, every crawler", name), "User-agent: *")
	case token != name && strings.Contains(name, ","):
		in.warn(no, WarnAgentCut, fmt.Sprintf("only %q is read; a line names one crawler", token), "one User-agent line for each")
	case token != name:
		in.warn(no, WarnAgentCut, fmt.Sprintf("only %q of %q is read", token, name), "User-agent: "+token)
	}
}

func (in *inspector) rule(r Rule) {
	if !in.grouped {
		in.warn(r.Line, WarnOutsideGroup, "the rule stands before the first User-agent line and is ignored", "put User-agent: * above it")
		return
	}
	if r.Pattern == "" {
		if r.Allow {
			in.warn(r.Line, WarnEmptyAllow, "Allow without a path is no rule and allows nothing", "Allow: / if everything is meant")
		}
		return
	}
	if r.Pattern[0] != '/' && r.Pattern[0] != '*' {
		in.warn(r.Line, WarnNeverMatches, "the pattern begins with neither / nor *, and every path begins with /, so it never matches", rooted(r).String())
	}
	if r.Pattern == "/robots.txt" || r.Pattern == "/robots.txt$" {
		in.warn(r.Line, WarnRobotsTxt, "/robots.txt itself is always allowed", "leave the rule out")
	}
	if i := strings.IndexByte(r.Pattern, '$'); i >= 0 && i < len(r.Pattern)-1 {
		in.warn(r.Line, WarnDollar, "$ means the end of the URL only as the last character; here it is the character itself",
			Rule{Allow: r.Allow, Pattern: strings.ReplaceAll(r.Pattern, "$", "%24")}.String()+" if that is meant")
	}
	if strings.ContainsAny(r.Pattern, " \t\v\f") {
		in.warn(r.Line, WarnSpace, "the path contains white space, which matches only a space in the URL", "one line for each path, # before a comment, or %20 for a space that is meant")
	}
	for i := range len(r.Pattern) {
		if r.Pattern[i] == '%' && !isEscape(r.Pattern[i:]) {
			in.warn(r.Line, WarnEscape, "% is not followed by two hexadecimal digits and is compared as it is", "%25 for a percent sign that is meant")
			break
		}
	}
}

// rooted is the rule with what was probably meant: the path of a URL, or the
// pattern with a slash before it.
func rooted(r Rule) Rule {
	path := r.Pattern
	if _, rest, ok := strings.Cut(path, "://"); ok {
		path = rest
	} else if !strings.HasPrefix(strings.ToLower(path), "www.") {
		return Rule{Allow: r.Allow, Pattern: "/" + path}
	}
	_, path, _ = strings.Cut(path, "/")
	return Rule{Allow: r.Allow, Pattern: "/" + path}
}
