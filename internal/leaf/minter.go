// Package leaf mints the TLS certificates that intercepted connections are
// served with, and keeps them.
//
// All leaves share one key: a key of their own would cost each handshake with
// a new host more than the signature does, and would protect nothing, since
// the process holds them all.
//
// Resumption is a matter of the tls.Config: its session ticket keys live in
// it. Serve every host from one Config whose GetCertificate calls Minter.Get;
// a Config for each host or connection makes every handshake a full one.
package leaf

import (
	"container/list"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Defaults of Config.
const (
	DefaultLifetime = 12 * time.Hour
	DefaultMax      = 1000
)

// An Issuer returns the authority that signs now: its certificate, those
// between it and the root behind it (the root is not needed), and its key. It
// is called for every Get, so it must be fast, and safe for concurrent use. A
// renewed authority is noticed by its new first certificate.
type Issuer func() (chain []*x509.Certificate, key crypto.Signer)

// Config says how leaves are made.
type Config struct {
	// Issuer is the signing authority. Required.
	Issuer Issuer
	// Lifetime of a leaf; it ends earlier where a certificate of its chain
	// does. Default: 12 hours.
	Lifetime time.Duration
	// Max is the number of leaves kept; beyond it the least recently used one
	// is dropped. A leaf takes about 1 KiB. Default: 1000.
	Max int
	// OnMinted is called after each certificate that was made.
	OnMinted func()
}

// A Minter makes leaves and keeps them. It is safe for concurrent use.
type Minter struct {
	config Config
	key    *ecdsa.PrivateKey

	mu     sync.Mutex
	leaves map[string]*list.Element // of *entry, by host
	recent *list.List               // most recently used first
	calls  map[string]*call         // mints under way, by host
}

// entry is a kept leaf.
type entry struct {
	host    string
	cert    *tls.Certificate
	issuer  *x509.Certificate
	renewAt time.Time
}

// call is one mint that several callers may wait for.
type call struct {
	done  chan struct{}
	entry *entry
	err   error
}

// New returns a minter with a fresh P-256 key for its leaves.
func New(config Config) (*Minter, error) {
	if config.Issuer == nil {
		return nil, errors.New("minting leaf certificates needs an issuer")
	}
	if config.Lifetime < 0 || config.Max < 0 {
		return nil, errors.New("the lifetime and number of leaf certificates cannot be negative")
	}
	if config.Lifetime == 0 {
		config.Lifetime = DefaultLifetime
	}
	if config.Max == 0 {
		config.Max = DefaultMax
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of leaf certificates: %w", err)
	}
	return &Minter{
		config: config, key: key,
		leaves: make(map[string]*list.Element), recent: list.New(), calls: make(map[string]*call),
	}, nil
}

// Get returns a certificate for a host in normal form (origin.Origin.Host),
// kept or new. It is made anew after two thirds of its life and when the
// issuer has changed. However many ask for one host at a time, it is made
// once. The certificate is shared: it must not be changed.
func (m *Minter) Get(host string) (*tls.Certificate, error) {
	chain, key := m.config.Issuer()
	if len(chain) == 0 || key == nil {
		return nil, errors.New("minting a leaf certificate: the authority has no certificate or no key")
	}
	now := time.Now()

	m.mu.Lock()
	if element, ok := m.leaves[host]; ok {
		if e := element.Value.(*entry); e.issuer == chain[0] && now.Before(e.renewAt) {
			m.recent.MoveToFront(element)
			m.mu.Unlock()
			return e.cert, nil
		}
	}
	c, running := m.calls[host]
	if running {
		m.mu.Unlock()
		<-c.done
	} else {
		c = &call{done: make(chan struct{}), err: errors.New("minting a leaf certificate was abandoned")}
		host = strings.Clone(host) // it may be a slice of a whole request
		m.calls[host] = c
		m.mu.Unlock()
		m.run(c, host, chain, key, now)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.entry.cert, nil
}

// run mints for a call, keeps the result and releases those who wait, even
// where the signer panics.
func (m *Minter) run(c *call, host string, chain []*x509.Certificate, key crypto.Signer, now time.Time) {
	defer func() {
		m.mu.Lock()
		delete(m.calls, host)
		if c.err == nil {
			m.keep(c.entry)
		}
		m.mu.Unlock()
		close(c.done)
	}()
	c.entry, c.err = m.mint(host, chain, key, now)
	if c.err == nil && m.config.OnMinted != nil {
		m.config.OnMinted()
	}
}

// keep stores an entry in place of the host's older one and drops what is too
// many. The caller holds m.mu.
func (m *Minter) keep(e *entry) {
	if old, ok := m.leaves[e.host]; ok {
		m.recent.Remove(old)
	}
	m.leaves[e.host] = m.recent.PushFront(e)
	for m.recent.Len() > m.config.Max {
		oldest := m.recent.Back()
		m.recent.Remove(oldest)
		delete(m.leaves, oldest.Value.(*entry).host)
	}
}
