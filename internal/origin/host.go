package origin

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Limits of a name in its textual form (RFC 1035 §2.3.4: 255 octets on the
// wire are 253 characters).
const (
	maxNameLength  = 253
	maxLabelLength = 63
)

// lookup maps names as browsers do (UTS #46, non-transitional). Underscores
// and hyphens in odd places exist in the DNS, so only plainName's alphabet is
// asked for, not the host name rules of STD 3.
var lookup = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
)

// splitAuthority cuts host[:port]. The host keeps its brackets, the port may
// be empty. Nothing of an authority with userinfo is repeated in the error.
func splitAuthority(authority string) (host, port string, err error) {
	if strings.IndexByte(authority, '@') >= 0 {
		return "", "", errUserinfo
	}
	colon := strings.IndexByte(authority, ':')
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", "", bad("host "+quote(authority)+" has no closing bracket",
				"write an IPv6 address as [address] or [address]:port")
		}
		if end+1 == len(authority) {
			return authority, "", nil
		}
		if authority[end+1] != ':' {
			return "", "", bad("host "+quote(authority)+" goes on after its closing bracket",
				"write an IPv6 address as [address] or [address]:port")
		}
		return authority[:end+1], authority[end+2:], nil
	}
	if colon < 0 {
		return authority, "", nil
	}
	if strings.IndexByte(authority[colon+1:], ':') >= 0 {
		return "", "", bad("host "+quote(authority)+" has more than one colon",
			"write host:port, and an IPv6 address in brackets as [address]:port")
	}
	return authority[:colon], authority[colon+1:], nil
}

func parsePort(port string) (uint16, error) {
	const advice = "use a port from 1 to 65535, or none for the scheme's default"
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || len(port) > 5 {
		return 0, bad("port "+quote(port)+" is not valid", advice)
	}
	return uint16(n), nil
}

// normalHost brings a host, IPv6 in brackets, to normal form. A host that is
// in normal form already comes back as it is, without allocation.
func normalHost(host string) (string, error) {
	if host == "" {
		return "", errNoHost
	}
	if plainName(host) {
		return host, nil
	}
	if host[0] == '[' {
		return normalIPv6(host)
	}
	name, err := toASCII(host)
	if err != nil {
		return "", err
	}
	if endsInNumber(name) {
		return normalIPv4(name)
	}
	if !plainLabels(name) {
		return "", bad("host "+quote(host)+" is not a valid name",
			"use letters, digits, hyphens, underscores and single dots, at most 63 characters between dots and 253 in all")
	}
	return name, nil
}

// toASCII lowers, maps and encodes a name and takes one trailing dot off.
func toASCII(host string) (string, error) {
	name, dotted := strings.CutSuffix(host, ".")
	if name == "" {
		return "", errNoHost
	}
	ascii := true
	for i := range len(name) {
		ascii = ascii && name[i] < utf8.RuneSelf
	}
	if ascii {
		name = strings.ToLower(name)
		if !hasALabel(name) {
			return name, nil
		}
	}
	if !utf8.ValidString(name) {
		return "", bad("host "+quote(host)+" is not UTF-8", "send the name in its ASCII form (xn--…)")
	}
	// A length that no valid name has need not be mapped at its full cost.
	if len(name) > 4*maxNameLength {
		return "", bad("host "+quote(host)+" is too long", "use a name of at most 253 characters")
	}
	mapped, err := lookup.ToASCII(name)
	if err != nil {
		return "", bad("host "+quote(host)+" is not a valid internationalised name",
			"correct the name, or send its ASCII form (xn--…)")
	}
	if !dotted {
		// Full-width and ideographic dots become dots by the mapping alone.
		mapped = strings.TrimSuffix(mapped, ".")
	}
	if mapped == "" {
		return "", errNoHost
	}
	return mapped, nil
}

func normalIPv4(name string) (string, error) {
	addr, err := netip.ParseAddr(name)
	if err != nil || !addr.Is4() {
		// Resolvers disagree on 127.1, 0x7f000001 or 0177.0.0.1: some reach
		// an address that nobody has judged.
		return "", bad("host "+quote(name)+" ends in a number and is no IPv4 address",
			"write IPv4 addresses as four decimal numbers without leading zeros")
	}
	// netip reads no other spelling of an IPv4 address than the canonical one.
	return name, nil
}

func normalIPv6(bracketed string) (string, error) {
	text := strings.TrimSuffix(bracketed[1:], "]")
	if strings.IndexByte(text, '%') >= 0 {
		return "", bad("host "+quote(bracketed)+" has a zone", "leave the zone out; link-local targets are not served")
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() {
		return "", bad("host "+quote(bracketed)+" is no IPv6 address", "put only IPv6 addresses in brackets, names and IPv4 without")
	}
	return addr.Unmap().String(), nil
}

// plainName reports whether host is a name in normal form that needs neither
// IDNA nor a look at whether it is an address.
func plainName(host string) bool {
	return plainLabels(host) && !hasALabel(host) && !endsInNumber(host)
}

// plainLabels reports whether name consists of labels of lower-case letters,
// digits, hyphens and underscores, each and all within the limits.
func plainLabels(name string) bool {
	if name == "" || len(name) > maxNameLength {
		return false
	}
	label := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			label++
			if label > maxLabelLength {
				return false
			}
		case c == '.' && label > 0:
			label = 0
		default:
			return false
		}
	}
	return label > 0
}

// hasALabel reports whether a label has the ACE prefix; such labels are
// decoded and checked, since what they decode to may be invalid.
func hasALabel(name string) bool {
	return strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--")
}

// endsInNumber reports whether the last label is a decimal, octal or
// hexadecimal number, which makes the whole host an IPv4 address or nothing
// (the rule of the WHATWG URL standard, "ends in a number").
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || last[0] < '0' || last[0] > '9' {
		return false
	}
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
