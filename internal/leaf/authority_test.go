package leaf

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"sync"
	"testing"
	"time"
)

// authority is a root and an intermediate that can be renewed.
type authority struct {
	root    *x509.Certificate
	rootKey *ecdsa.PrivateKey

	mu    sync.Mutex
	chain []*x509.Certificate
	key   crypto.Signer
}

func newAuthority(t testing.TB, lifetime time.Duration) *authority {
	t.Helper()
	a := new(authority)
	a.root, a.rootKey = issue(t, "root", nil, nil, 10*365*24*time.Hour)
	a.renew(t, lifetime)
	return a
}

func (a *authority) renew(t testing.TB, lifetime time.Duration) {
	t.Helper()
	cert, key := issue(t, "intermediate", a.root, a.rootKey, lifetime)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chain, a.key = []*x509.Certificate{cert}, key
}

func (a *authority) issuer() ([]*x509.Certificate, crypto.Signer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.chain, a.key
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.root)
	return pool
}

// issue makes a CA certificate, signed by itself where parent is nil.
func issue(t testing.TB, name string, parent *x509.Certificate, parentKey crypto.Signer, lifetime time.Duration) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	if parent == nil {
		parent, parentKey = template, key
	} else {
		template.MaxPathLenZero = true
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}
