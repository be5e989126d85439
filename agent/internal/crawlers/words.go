package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// entry is one crawler of the list: a regular expression, and User-Agents
// that it matches.
type entry struct {
	Pattern   string   `json:"pattern"`
	Instances []string `json:"instances"`
}

func readEntries(list []byte) ([]entry, error) {
	var entries []entry
	if err := json.Unmarshal(list, &entries); err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	return entries, nil
}

// names turns the list's regular expressions into the words and phrases that
// they find, lower-case and sorted. A pattern stands for the whole words that
// its matches touch in the list's own User-Agents, so that no regular
// expression is left to run; one without User-Agents for its own literal.
func names(list []byte) ([]string, error) {
	entries, err := readEntries(list)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	for _, e := range entries {
		re, err := regexp.Compile(e.Pattern)
		if err != nil {
			return nil, fmt.Errorf("reading the pattern %q: %w", e.Pattern, err)
		}
		for _, ua := range e.Instances {
			if loc := re.FindStringIndex(ua); loc != nil {
				addName(found, touched(ua, loc[0], loc[1]))
			}
		}
		if len(e.Instances) == 0 {
			addName(found, literal(re.String()))
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// touched widens ua[start:end] to whole words, and is empty inside a URL or an
// e-mail address: those are known without a list.
func touched(ua string, start, end int) string {
	for start < end && !wordByte(ua[start]) {
		start++
	}
	for end > start && !wordByte(ua[end-1]) {
		end--
	}
	for start > 0 && wordByte(ua[start-1]) {
		start--
	}
	for end < len(ua) && wordByte(ua[end]) {
		end++
	}
	run := ua[strings.LastIndexAny(ua[:start], " (;,")+1 : end]
	if strings.Contains(run, "://") || strings.Contains(run, "@") || strings.HasPrefix(run, "www.") ||
		strings.HasPrefix(ua[end:], "://") || strings.HasPrefix(ua[end:], "@") {
		return ""
	}
	return ua[start:end]
}

// literal returns the text of a pattern that is nothing but text.
func literal(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpLiteral {
		return ""
	}
	return strings.Trim(string(re.Rune), "/ ")
}

// plain are names too common to speak for a bot by themselves.
var plain = regexp.MustCompile(`^([\d. ]+|.{1,2}|make|code|current|operator|notion|asana|web|the|fetch|feeder|summary|` +
	`notification|element|integrity|daemon|version|silk|photon|nova|valve|buck|red|verity|chirp|pulse|` +
	`slack|discord|whatsapp|viber|snapchat|spotify|tumblr|steam|twitter|flipboard|stripe|paypal)$`)

// shape is what the identifier reads as one word or one phrase.
var shape = regexp.MustCompile(`^[a-z0-9_.!'&\x80-\xff-]+( [a-z0-9_.!'&\x80-\xff-]+)*$`)

func addName(found map[string]bool, name string) {
	name = strings.ToLower(name)
	if shape.MatchString(name) && !plain.MatchString(name) && strings.Count(name, " ") < 6 {
		found[name] = true
	}
}

// wordByte is the identifier's own notion of a word.
func wordByte(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b >= 0x80 || strings.IndexByte("_.-!'&", b) >= 0
}
