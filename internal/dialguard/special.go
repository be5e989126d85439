package dialguard

import (
	"cmp"
	"net/netip"
	"slices"
)

// Classes of what the guard refuses, as they stand in DeniedError.Class and in
// the label of the metric dial_denied_total.
const (
	ClassLoopback    = "loopback"
	ClassPrivate     = "private"
	ClassLinkLocal   = "link_local"
	ClassMetadata    = "metadata"
	ClassSpecial     = "special"
	ClassOwnListener = "own_listener"
	ClassDeniedRange = "denied_range"
	ClassPort        = "port"
)

type specialRange struct {
	prefix netip.Prefix
	class  string
}

// special is what is denied unless an allow range opens it, the narrowest
// ranges first, so that the first hit is the most specific.
var special = sortedSpecial(map[string][]string{
	ClassLoopback: {
		"127.0.0.0/8", // RFC 1122 §3.2.1.3
		"::1/128",     // RFC 4291
	},
	ClassPrivate: {
		"10.0.0.0/8",     // RFC 1918
		"172.16.0.0/12",  // RFC 1918
		"192.168.0.0/16", // RFC 1918
		"100.64.0.0/10",  // shared address space (carrier NAT), RFC 6598
		"fc00::/7",       // unique local, RFC 4193
		"fec0::/10",      // site local, deprecated by RFC 3879, still routed by some
	},
	ClassLinkLocal: {
		"169.254.0.0/16", // RFC 3927
		"fe80::/10",      // RFC 4291
	},
	// Services that hand credentials to whoever asks from inside a machine.
	// Some are public or private addresses: the other ranges do not cover them.
	ClassMetadata: {
		"169.254.169.254/32",     // AWS, Azure, Google Cloud, Oracle, DigitalOcean and others
		"169.254.170.2/32",       // AWS ECS task credentials
		"169.254.170.23/32",      // AWS EKS pod identity
		"169.254.42.42/32",       // Scaleway
		"169.254.0.23/32",        // Tencent Cloud
		"168.63.129.16/32",       // Azure wire server, a public address
		"100.100.100.200/32",     // Alibaba Cloud
		"192.0.0.192/32",         // Oracle Cloud, classic
		"fd00:ec2::254/128",      // AWS over IPv6
		"fd00:ec2::23/128",       // AWS EKS pod identity over IPv6
		"fd20:ce::254/128",       // Google Cloud over IPv6
		"fd00:42::42/128",        // Scaleway over IPv6
		"fd00:c1::a9fe:a9fe/128", // Oracle Cloud over IPv6
	},
	// The rest of the IANA IPv4 and IPv6 Special-Purpose Address Registries
	// (RFC 6890), including the entries marked globally reachable: anycast
	// relays and sinks serve no pages. Multicast and unallocated space come
	// from the IANA address space registries.
	ClassSpecial: {
		"0.0.0.0/8",         // "this network", RFC 791; 0.0.0.0 dials the machine itself
		"192.0.0.0/24",      // IETF protocol assignments, RFC 6890
		"192.0.2.0/24",      // documentation, RFC 5737
		"192.31.196.0/24",   // AS112-v4, RFC 7535
		"192.52.193.0/24",   // AMT, RFC 7450
		"192.88.99.0/24",    // 6to4 relay anycast, deprecated by RFC 7526
		"192.175.48.0/24",   // direct delegation AS112, RFC 7534
		"198.18.0.0/15",     // benchmarking, RFC 2544
		"198.51.100.0/24",   // documentation, RFC 5737
		"203.0.113.0/24",    // documentation, RFC 5737
		"224.0.0.0/4",       // multicast, RFC 5771
		"240.0.0.0/4",       // reserved, RFC 1112, and limited broadcast, RFC 919
		"::/128",            // unspecified, RFC 4291; dials the machine itself
		"::/96",             // IPv4-compatible, deprecated by RFC 4291
		"::ffff:0:0:0/96",   // IPv4-translated, RFC 2765
		"64:ff9b::/96",      // NAT64, RFC 6052; see Guard.CheckAddr
		"64:ff9b:1::/48",    // NAT64 for local use, RFC 8215
		"100::/64",          // discard only, RFC 6666
		"100:0:0:1::/64",    // dummy prefix, RFC 9780
		"2001::/23",         // IETF protocol assignments, RFC 2928: Teredo, ORCHID, benchmarking and others
		"2001:db8::/32",     // documentation, RFC 3849
		"2002::/16",         // 6to4, RFC 3056: an IPv4 address inside
		"2620:4f:8000::/48", // direct delegation AS112, RFC 7534
		"3fff::/20",         // documentation, RFC 9637
		"5f00::/16",         // segment routing SIDs, RFC 9602
		"ff00::/8",          // multicast, RFC 4291
		"::/3",              // reserved by IETF
		"4000::/2",          // reserved by IETF: only 2000::/3 is global unicast
		"8000::/1",          // reserved by IETF
	},
})

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func sortedSpecial(classes map[string][]string) []specialRange {
	var ranges []specialRange
	for class, prefixes := range classes {
		for _, p := range prefixes {
			ranges = append(ranges, specialRange{netip.MustParsePrefix(p), class})
		}
	}
	slices.SortFunc(ranges, func(a, b specialRange) int {
		return cmp.Or(cmp.Compare(b.prefix.Bits(), a.prefix.Bits()), a.prefix.Addr().Compare(b.prefix.Addr()))
	})
	return ranges
}

// specialFor returns the narrowest special range that holds addr.
func specialFor(addr netip.Addr) (specialRange, bool) {
	for _, r := range special {
		if r.prefix.Contains(addr) {
			return r, true
		}
	}
	return specialRange{}, false
}
