package parser

import (
	"fmt"
	"strings"
)

// unsupported are keys in use that RFC 9309 does not have, with what they meant
// and what reaches every crawler instead. Declarations that ask for no
// obedience here (Content-Signal, Content-Usage, License) are not among them.
var unsupported = map[string]struct{ message, instead string }{
	"crawl-delay":  {"Crawl-delay is kept but limits nothing: few crawlers obey it", "answer too many requests with status 429 and Retry-After"},
	"request-rate": {"Request-rate is kept but limits nothing: hardly any crawler obeys it", "answer too many requests with status 429 and Retry-After"},
	"visit-time":   {"Visit-time is kept but limits nothing: hardly any crawler obeys it", "answer with status 503 and Retry-After at other times"},
	"clean-param":  {"Clean-param is kept but changes nothing: only Yandex reads it", "rel=canonical links, or Disallow: /*?param="},
	"host":         {"Host is kept but changes nothing: only Yandex ever read it", "redirect the other host names with status 301"},
	"noindex":      {"Noindex is kept but hides nothing: no search engine obeys it here", "the header X-Robots-Tag: noindex, on pages that are not disallowed"},
	"nofollow":     {"Nofollow is kept but has no effect: no search engine obeys it here", "the header X-Robots-Tag: nofollow"},
	"noarchive":    {"Noarchive is kept but has no effect: no search engine obeys it here", "the header X-Robots-Tag: noarchive"},
}

// knownRecords are keys that are kept and need no warning.
var knownRecords = map[string]bool{
	"sitemap": true, "content-signal": true, "content-usage": true, "license": true,
}

// wellKnown are the keys that a misspelt one is compared with, and their usual
// writing.
var wellKnown = []string{"User-agent", "Disallow", "Allow", "Sitemap", "Crawl-delay", "Content-Signal", "Content-Usage"}

// record warns about a line that is neither user-agent line nor rule.
func (in *inspector) record(no int, key, value string) {
	name := strings.ToLower(key)
	if u, ok := unsupported[name]; ok {
		in.warn(no, WarnUnsupported, u.message, u.instead)
		return
	}
	if strings.HasPrefix(name, "site-map") || strings.HasPrefix(name, "sitemap") && name != "sitemap" {
		in.warn(no, WarnMisspeltKey, fmt.Sprintf("%q is read as Sitemap by some crawlers only", key), "Sitemap: "+value)
		return
	}
	if name == "sitemap" && !strings.Contains(value, "://") {
		in.warn(no, WarnRelativeSitemap, "a sitemap is named by its absolute URL; this one is ignored by most crawlers", "Sitemap: https://www.example.com/"+strings.TrimLeft(value, "/"))
	}
	if knownRecords[name] {
		return
	}
	if name == "http" || name == "https" {
		instead := "put # before it if it is a comment"
		if strings.Contains(strings.ToLower(value), "sitemap") {
			instead = "Sitemap: " + key + ":" + value
		}
		in.warn(no, WarnUnreadable, "a URL alone says nothing, and is ignored", instead)
		return
	}
	for _, right := range wellKnown {
		if distance(name, strings.ToLower(right)) <= max(1, len(right)/4) {
			in.warn(no, WarnMisspeltKey, fmt.Sprintf("%q is no known key, and the line has no effect", key), strings.TrimSpace(right+": "+value))
			return
		}
	}
	in.warn(no, WarnUnknownKey, fmt.Sprintf("%q is no known key, and the line has no effect", key), "put # before it if it is a comment")
}

// distance counts the letters to insert, remove or replace to make t of s, and
// gives up with a large number where the lengths differ by more than 3.
func distance(s, t string) int {
	if len(s) > len(t)+3 || len(t) > len(s)+3 {
		return len(s) + len(t)
	}
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(s) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(t) {
			replaced := diagonal
			if s[i] != t[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(t)]
}
