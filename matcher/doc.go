// Package matcher decides whether a crawler may fetch a URL, by the rules that
// package parser read from a robots.txt file.
//
// [New] picks the rules that count for a crawler: those of every group that
// names its product token, else those of the global group, else none (RFC 9309
// §2.2.1). The [Matcher] is immutable and safe for concurrent use; make one for
// each file and crawler and keep it.
//
// [Matcher.Match] compares the normal form F1 of RFC 9309 §2.2.2 (see
// [Normalize]). The rule with the most octets wins, in normal form and with its
// operators counted; between rules of the same length Allow wins, then the
// earlier line. Without a matching rule everything is allowed, and /robots.txt
// itself always is.
//
// [Matcher.MatchStrict] also judges the forms F2 to F5 to which an origin may
// resolve the same request (see [Form]).
//
// Paths are given as they go over the wire: the escaped path, then "?" and the
// raw query if there is one; no fragment. [PathOf] takes them out of a URL.
//
// # Looks wrong, is intentional
//
//   - "%2F" and "/" differ, "%70" and "p" do not: escapes of unreserved
//     characters are the character, escapes of reserved ones stay (RFC 3986
//     §6.2.2.2).
//   - "%2A" and "%24" in a pattern are a literal "*" and "$" and match them raw
//     or escaped; a "$" that is not the pattern's last octet is literal too.
//   - A group that names a crawler shuts out the global group even when it has
//     no rules.
//   - A pattern that begins with neither "/" nor "*" is kept but matches no path
//     of the wire, which begins with "/".
package matcher
