package intercept

import (
	"crypto/tls"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// tlsConfig is the one configuration of all tunnels: session tickets live in
// it, so that clients resume whatever tunnel they come through.
func (i *Intercept) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			t := hello.Conn.(*tunnel)
			if t.names(hello.ServerName) {
				return nil, nil
			}
			t.otherName = hello.ServerName
			return otherNameConfig, nil
		},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return i.minter.Get(hello.Conn.(*tunnel).origin.Host)
		},
	}
}

// otherNameConfig refuses a handshake for another host than the tunnel's.
// Without a certificate to choose, crypto/tls sends unrecognized_name; without
// tickets it cannot resume a session of the other host instead.
var otherNameConfig = &tls.Config{
	MinVersion:             tls.VersionTLS12,
	SessionTicketsDisabled: true,
	GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil },
}

// names reports whether a server name means the tunnel's host. Clients that
// send none, as all do for addresses, mean what they sent the CONNECT for.
func (t *tunnel) names(serverName string) bool {
	if serverName == "" {
		return true
	}
	o, err := origin.New("https", serverName)
	return err == nil && o.Host == t.origin.Host
}
