package app

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddypki"
	"github.com/caddyserver/certmagic"
)

// DefaultAuthority is the id of the certificate authority that intercepted
// clients must trust. No other certificates are signed with it.
const DefaultAuthority = "robotsgate"

// authorityName stands in the names of the certificates that we make, where
// people look who wonder what is in their trust store.
const authorityName = "Robotsgate interception"

// Authority signs the certificates of intercepted connections.
type Authority struct {
	ca *caddypki.CA
}

// Authority returns the authority with that id out of Caddy's pki app, which
// keeps it renewed. Where the configuration does not name it, it is made. It
// is for use while modules are provisioned.
func (a *App) Authority(id string) (*Authority, error) {
	unlock, err := a.lockAuthority(id)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", id, err)
	}
	defer unlock()
	pki, err := a.pkiWith(id)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", id, err)
	}
	ca, named := pki.CAs[id]
	if !named {
		ca = newCA()
		if err := ca.Provision(a.ctx, id, a.logger.Named("pki")); err != nil {
			return nil, fmt.Errorf("authority %s: making it: %w", id, err)
		}
		pki.CAs[id] = ca
	}
	// Whoever can read the jobs' traffic must not be able to read anybody
	// else's on this machine.
	ca.InstallTrust = new(bool)
	authority := &Authority{ca: ca}
	if a.authorities == nil {
		a.authorities = make(map[string]*Authority)
	}
	a.authorities[id] = authority
	return authority, nil
}

// Roots are the certificates that clients of this configuration must trust, as
// PEM and in the order of their authorities' ids; empty where nothing is
// intercepted.
func (a *App) Roots() []byte {
	var roots []byte
	for _, id := range slices.Sorted(maps.Keys(a.authorities)) {
		roots = append(roots, a.authorities[id].RootPEM()...)
	}
	return roots
}

func newCA() *caddypki.CA {
	return &caddypki.CA{Name: authorityName, InstallTrust: new(bool)}
}

// pkiWith returns Caddy's pki app, loaded with this authority alone where the
// configuration has no pki app: by itself that app would make the authority
// of Caddy's own sites and install it in the system's trust store.
func (a *App) pkiWith(id string) (*caddypki.PKI, error) {
	instance, err := a.ctx.AppIfConfigured("pki")
	if errors.Is(err, caddy.ErrNotConfigured) {
		config, err := json.Marshal(caddypki.PKI{CAs: map[string]*caddypki.CA{id: newCA()}})
		if err != nil {
			return nil, fmt.Errorf("encoding the pki app: %w", err)
		}
		if instance, err = a.ctx.LoadModuleByID("pki", config); err != nil {
			return nil, err
		}
		return instance.(*caddypki.PKI), nil
	}
	if err != nil {
		return nil, err
	}
	return instance.(*caddypki.PKI), nil
}

// authorityLock is how long gates wait that start on the same storage at the
// same time.
const authorityLock = 30 * time.Second

// lockAuthority makes sure that of two gates which start on one storage only
// one makes the authority: Caddy stores its key and certificate one after the
// other.
func (a *App) lockAuthority(id string) (unlock func(), err error) {
	storage := a.ctx.Storage()
	ctx, cancel := context.WithTimeout(a.ctx, authorityLock)
	defer cancel()
	key := path.Join("pki", "authorities", certmagic.StorageKeys.Safe(id))
	if storage.Exists(ctx, path.Join(key, "intermediate.key")) {
		return func() {}, nil
	}
	const name = "robots_gate_authority"
	if err := storage.Lock(ctx, name); err != nil {
		return nil, fmt.Errorf("locking the storage: %w", err)
	}
	return func() { _ = storage.Unlock(context.WithoutCancel(a.ctx), name) }, nil
}

// Issuer returns the certificates that sign now, without the root, and their
// key.
func (c *Authority) Issuer() ([]*x509.Certificate, crypto.Signer) {
	for {
		chain, key := c.ca.IntermediateCertificateChain(), c.ca.IntermediateKey()
		// The two are read one after the other, and a renewal may come
		// between.
		if len(chain) == 0 || key == nil || samePublicKey(chain[0].PublicKey, key.Public()) || c.settled(chain) {
			return chain, key
		}
	}
}

// settled reports whether the chain is still the one in use: then it is wrong
// for good, and minting says so.
func (c *Authority) settled(chain []*x509.Certificate) bool {
	now := c.ca.IntermediateCertificateChain()
	return len(now) > 0 && now[0] == chain[0]
}

func samePublicKey(a, b crypto.PublicKey) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
}

// RootPEM is the certificate that clients must trust.
func (c *Authority) RootPEM() []byte {
	var out bytes.Buffer
	// A buffer takes everything.
	_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.ca.RootCertificate().Raw})
	return out.Bytes()
}
