// Package parser reads robots.txt files as RFC 9309 defines them, with
// Google's documented leniency where the RFC leaves room.
//
// [Parse] is total: any octets are a robots.txt file, and whatever is not
// understood is passed over without disturbing what is. The result is
// immutable and safe for concurrent use. It holds groups, their product tokens
// and rules, and every other record (Sitemap, Crawl-delay, Content-Signal and
// whatever comes next) with its line number and group. Package matcher decides
// with it which URLs a crawler may fetch.
//
// [Inspect] reads the same file for people: it returns what [Parse] found
// together with warnings on lines that do not say what their author meant.
//
// # What is accepted
//
//   - CR, LF and CRLF end a line. Lines count from 1. A line is cut at
//     [MaxLine] octets and used; a NUL octet ends what is read of a line.
//   - A UTF-8 byte order mark, whole or its first octets, is skipped. UTF-16
//     with a byte order mark is decoded.
//   - '#' starts a comment anywhere. White space (space, tab, VT, FF) around key
//     and value is cut. A line without a colon counts if it is exactly two
//     words.
//   - Keys are compared case-insensitively and by prefix, so "Disallowed:" is
//     Disallow; the misspellings dissallow, dissalow, disalow, diasllow,
//     disallaw, useragent, "user agent" and site-map are read as meant.
//   - A product token is the value of a user-agent line up to the first octet
//     outside A–Z a–z 0–9 _ . -, compared case-insensitively and whole. "*"
//     alone or before white space names the global group.
//   - Consecutive user-agent lines share the rules that follow. Only a rule
//     ends such a run, also one with an empty value, which is no rule itself.
//     Rules before the first user-agent line are ignored.
//
// # Limits
//
// Parse reads all of its input. RFC 9309 §2.5 asks for at least 500 KiB; the
// caller cuts longer files, see [RecommendedLimit].
package parser
