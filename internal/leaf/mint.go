package leaf

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// backdate lets clients accept a leaf whose clocks are behind ours.
const backdate = time.Hour

// subject stands in every leaf, so that who looks at a certificate sees where
// it comes from. With an empty subject the SAN would have to be critical
// (RFC 5280 §4.2.1.6), which some clients do not read.
var subject = pkix.Name{Organization: []string{"Robotsgate TLS interception"}}

// mint makes a certificate for one host.
func (m *Minter) mint(host string, chain []*x509.Certificate, key crypto.Signer, now time.Time) (*entry, error) {
	template, err := templateFor(host)
	if err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = now.Add(-backdate), now.Add(m.config.Lifetime)
	for _, c := range chain {
		if c.NotBefore.After(template.NotBefore) {
			template.NotBefore = c.NotBefore
		}
		if c.NotAfter.Before(template.NotAfter) {
			template.NotAfter = c.NotAfter
		}
	}
	life := template.NotAfter.Sub(now)
	if life <= 0 {
		return nil, fmt.Errorf("minting a certificate for %s: the authority's certificate expired on %s",
			host, template.NotAfter.UTC().Format(time.RFC3339))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, chain[0], m.key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("minting a certificate for %s: %w", host, err)
	}
	cert := &tls.Certificate{Certificate: make([][]byte, 0, 1+len(chain)), PrivateKey: m.key}
	cert.Certificate = append(cert.Certificate, der)
	for _, c := range chain {
		cert.Certificate = append(cert.Certificate, c.Raw)
	}
	// The wall clock counts, as it does for clients: the monotonic one stands
	// still while the machine sleeps.
	return &entry{host: host, cert: cert, issuer: chain[0], renewAt: now.Round(0).Add(life * 2 / 3)}, nil
}

// templateFor names the host as DNS name or IP address. It takes nothing but
// the normal form, so that no wildcard or odd spelling is ever signed.
func templateFor(host string) (*x509.Certificate, error) {
	authority := host
	if strings.IndexByte(host, ':') >= 0 {
		authority = "[" + host + "]"
	}
	o, err := origin.New("https", authority)
	if err != nil {
		return nil, fmt.Errorf("minting a certificate: %w", err)
	}
	if o.Host != host {
		return nil, fmt.Errorf("minting a certificate: host %q is not in normal form", host)
	}
	template := &x509.Certificate{
		Subject:               subject,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if addr, ok := o.IsIP(); ok {
		template.IPAddresses = []net.IP{addr.AsSlice()}
	} else {
		template.DNSNames = []string{host}
	}
	return template, nil
}
