// Package origin holds the one normal form of "where a request goes": scheme,
// host and port, and the target below it.
//
// The same value is the key of a robots.txt, what is dialled, what is sent as
// Host and what is compared with the SNI. Two spellings of one origin that
// differed in only one of those places would be a way past the gate, so
// nothing else in this module takes a host name apart.
package origin

import (
	"net/netip"
	"strconv"
	"strings"
)

// An Origin is a scheme, host and port in normal form. It is comparable and
// serves as a map key. Make one with New, Parse, FromURL, FromRequest or
// FromConnect; the zero value is no origin.
type Origin struct {
	// Scheme is "http" or "https".
	Scheme string
	// Host is a lower-case ASCII name without a trailing dot, or an IP address
	// as netip writes it: no brackets, no zone, IPv4 never mapped into IPv6.
	Host string
	// Port is never 0; the scheme's default port is filled in.
	Port uint16
}

// New makes an Origin of a scheme and an authority, host[:port], of which an
// IPv6 address stands in brackets. An absent or empty port is the scheme's
// default. Every error is a *BadTargetError.
func New(scheme, authority string) (Origin, error) {
	scheme, err := normalScheme(scheme)
	if err != nil {
		return Origin{}, err
	}
	host, port, err := splitAuthority(authority)
	if err != nil {
		return Origin{}, err
	}
	o := Origin{Scheme: scheme, Port: defaultPort(scheme)}
	if port != "" {
		if o.Port, err = parsePort(port); err != nil {
			return Origin{}, err
		}
	}
	if o.Host, err = normalHost(host); err != nil {
		return Origin{}, err
	}
	return o, nil
}

// Parse reads an origin written scheme://host[:port], with nothing behind it.
// Every error is a *BadTargetError.
func Parse(text string) (Origin, error) {
	scheme, authority, ok := strings.Cut(text, "://")
	if !ok {
		return Origin{}, bad("the origin has no scheme", "write https://host or http://host:port")
	}
	if strings.ContainsAny(authority, `/?#\`) {
		return Origin{}, bad("the origin has more than scheme, host and port",
			"write scheme://host[:port] without a path, query or slash at the end")
	}
	return New(scheme, authority)
}

// String returns scheme://host[:port] with the default port removed.
func (o Origin) String() string {
	var room [textRoom]byte
	return string(o.appendText(room[:0]))
}

// textRoom fits most URLs, so that making their text allocates it alone.
const textRoom = 256

func (o Origin) appendText(b []byte) []byte {
	b = append(b, o.Scheme...)
	b = append(b, "://"...)
	return o.appendAuthority(b)
}

// Authority returns host[:port] with the default port removed and IPv6 in
// brackets: what is sent as Host.
func (o Origin) Authority() string {
	if o.Port == defaultPort(o.Scheme) && strings.IndexByte(o.Host, ':') < 0 {
		return o.Host
	}
	var room [textRoom]byte
	return string(o.appendAuthority(room[:0]))
}

func (o Origin) appendAuthority(b []byte) []byte {
	if strings.IndexByte(o.Host, ':') >= 0 {
		b = append(b, '[')
		b = append(b, o.Host...)
		b = append(b, ']')
	} else {
		b = append(b, o.Host...)
	}
	if o.Port == defaultPort(o.Scheme) {
		return b
	}
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(o.Port), 10)
}

// DialAddress returns host:port, the port always there and IPv6 in brackets:
// the form that net.Dial takes.
func (o Origin) DialAddress() string {
	host := o.Host
	if strings.IndexByte(host, ':') >= 0 {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(o.Port))
}

// RobotsURL returns the URL of the origin's robots.txt (RFC 9309 §2.3).
func (o Origin) RobotsURL() string {
	return o.String() + "/robots.txt"
}

// IsIP returns the address where the host is an IP literal.
func (o Origin) IsIP() (netip.Addr, bool) {
	if strings.IndexByte(o.Host, ':') < 0 && !endsInNumber(o.Host) {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(o.Host)
	return addr, err == nil
}

// Clone returns a copy that shares no memory with the request or URL it was
// made of. Whoever keeps an origin beyond the request, such as a cache, keeps
// the clone: the host is otherwise a slice of the whole request target.
func (o Origin) Clone() Origin {
	o.Host = strings.Clone(o.Host)
	return o
}

func normalScheme(scheme string) (string, error) {
	switch {
	case scheme == "http" || strings.EqualFold(scheme, "http"):
		return "http", nil
	case scheme == "https" || strings.EqualFold(scheme, "https"):
		return "https", nil
	case scheme == "":
		return "", bad("the target has no scheme", "ask for an http:// or https:// URL")
	}
	return "", bad("scheme "+quote(scheme)+" is not served", "ask for an http:// or https:// URL")
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}
