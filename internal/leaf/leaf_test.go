package leaf

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newMinter(t testing.TB, config Config) *Minter {
	t.Helper()
	m, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func get(t testing.TB, m *Minter, host string) *tls.Certificate {
	t.Helper()
	cert, err := m.Get(host)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func parse(t testing.TB, cert *tls.Certificate) *x509.Certificate {
	t.Helper()
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// shake makes a TLS connection over loopback with the certificate that the
// server config chooses.
func shake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var served sync.WaitGroup
	defer served.Wait()
	served.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		// One octet, so that the client reads the TLS 1.3 ticket before it.
		_, _ = tls.Server(conn, server).Write([]byte{1})
	})
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return tls.ConnectionState{}, err
	}
	return conn.ConnectionState(), nil
}

func TestHandshakes(t *testing.T) {
	a, other := newAuthority(t, 7*24*time.Hour), newAuthority(t, 7*24*time.Hour)
	m := newMinter(t, Config{Issuer: a.issuer})
	long := strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("b", 61)
	for _, host := range []string{"example.com", "a_b.example", "localhost", "xn--bcher-kva.example", long, "192.0.2.1", "2001:db8::1"} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			server := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return m.Get(host) }}
			client := &tls.Config{RootCAs: a.pool(), ServerName: host, MaxVersion: version}
			state, err := shake(t, server, client)
			if err != nil {
				t.Errorf("%s, %s: %v", host, tls.VersionName(version), err)
				continue
			}
			if n := len(state.PeerCertificates); n != 2 {
				t.Errorf("%s: %d certificates were sent, want leaf and intermediate", host, n)
			}
			client.RootCAs = other.pool()
			if _, err := shake(t, server, client); err == nil {
				t.Errorf("%s: a client that trusts another root accepts it", host)
			}
			client.RootCAs, client.ServerName = a.pool(), "www.example.net"
			if _, err := shake(t, server, client); err == nil {
				t.Errorf("%s: a client that asked for another host accepts it", host)
			}
		}
	}
}

func TestResumption(t *testing.T) {
	a := newAuthority(t, 7*24*time.Hour)
	m := newMinter(t, Config{Issuer: a.issuer})
	server := &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return m.Get(hello.ServerName) }}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := &tls.Config{RootCAs: a.pool(), ServerName: "example.com", MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
		for turn, want := range []bool{false, true, true} {
			if state, err := shake(t, server, client); err != nil || state.DidResume != want {
				t.Errorf("%s, connection %d: resumed %v, %v; want %v", tls.VersionName(version), turn, state.DidResume, err, want)
			}
		}
	}
}

func TestContents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t, 7*24*time.Hour)
		now := time.Now().UTC()
		m := newMinter(t, Config{Issuer: a.issuer})
		name, addr := parse(t, get(t, m, "example.com")), parse(t, get(t, m, "192.0.2.1"))
		if len(name.DNSNames) != 1 || name.DNSNames[0] != "example.com" || len(name.IPAddresses) != 0 {
			t.Errorf("names %q, addresses %v; want example.com alone", name.DNSNames, name.IPAddresses)
		}
		if len(addr.IPAddresses) != 1 || !addr.IPAddresses[0].Equal(net.IPv4(192, 0, 2, 1)) || len(addr.DNSNames) != 0 {
			t.Errorf("names %q, addresses %v; want 192.0.2.1 alone", addr.DNSNames, addr.IPAddresses)
		}
		if name.IsCA || name.KeyUsage != x509.KeyUsageDigitalSignature || len(name.ExtKeyUsage) != 1 || name.ExtKeyUsage[0] != x509.ExtKeyUsageServerAuth {
			t.Errorf("CA %v, key usage %v, extended %v; want a server's", name.IsCA, name.KeyUsage, name.ExtKeyUsage)
		}
		if name.SerialNumber.Cmp(addr.SerialNumber) == 0 || name.SerialNumber.BitLen() < 64 {
			t.Errorf("serial numbers %v and %v, want them random", name.SerialNumber, addr.SerialNumber)
		}
		if !name.PublicKey.(*ecdsa.PublicKey).Equal(addr.PublicKey) {
			t.Error("two leaves have two keys, want one")
		}
		// The intermediate began a minute ago, the default life is 12 hours.
		if !name.NotBefore.Equal(now.Add(-time.Minute)) || !name.NotAfter.Equal(now.Add(12*time.Hour)) {
			t.Errorf("valid from %v to %v, now %v", name.NotBefore, name.NotAfter, now)
		}
		time.Sleep(2 * time.Hour)
		if later := parse(t, get(t, m, "later.example")); !later.NotBefore.Equal(now.Add(time.Hour)) {
			t.Errorf("valid from %v, want an hour before %v", later.NotBefore, now.Add(2*time.Hour))
		}
	})
}

func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t, 13*time.Hour)
		var minted atomic.Int64
		m := newMinter(t, Config{Issuer: a.issuer, OnMinted: func() { minted.Add(1) }})
		first := get(t, m, "example.com")
		time.Sleep(8*time.Hour - time.Nanosecond)
		if get(t, m, "example.com") != first || minted.Load() != 1 {
			t.Error("made anew before two thirds of its life")
		}
		time.Sleep(time.Nanosecond)
		second := get(t, m, "example.com")
		if second == first || minted.Load() != 2 {
			t.Error("not made anew after two thirds of its life")
		}
		// Five hours are left of the intermediate.
		if got, want := parse(t, second).NotAfter, a.chain[0].NotAfter; !got.Equal(want) {
			t.Errorf("the leaf ends %v, the intermediate %v", got, want)
		}
		time.Sleep(200 * time.Minute)
		if get(t, m, "example.com") == second {
			t.Error("a clamped leaf was not made anew after two thirds of its life")
		}
		time.Sleep(100 * time.Minute)
		if _, err := m.Get("example.com"); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("the intermediate has ended, Get: %v", err)
		}
		a.renew(t, 7*24*time.Hour)
		renewed := get(t, m, "example.com")
		if err := parse(t, renewed).CheckSignatureFrom(a.chain[0]); err != nil {
			t.Errorf("after renewal: %v", err)
		}
		a.renew(t, 7*24*time.Hour)
		if again := get(t, m, "example.com"); again == renewed {
			t.Error("a leaf of an earlier issuer was served")
		}
		if len(m.leaves) != 1 || m.recent.Len() != 1 {
			t.Errorf("%d leaves are kept in %d places, want one in one", len(m.leaves), m.recent.Len())
		}
	})
}

func TestBound(t *testing.T) {
	a := newAuthority(t, 7*24*time.Hour)
	var minted int
	m := newMinter(t, Config{Issuer: a.issuer, Max: 3, OnMinted: func() { minted++ }})
	for _, step := range []struct {
		host string
		want int
	}{
		{"a.example", 1},
		{"b.example", 2},
		{"c.example", 3},
		{"a.example", 3},
		{"d.example", 4}, // b goes
		{"a.example", 4},
		{"c.example", 4},
		{"b.example", 5}, // d goes
		{"a.example", 5},
		{"d.example", 6},
	} {
		if get(t, m, step.host); minted != step.want {
			t.Errorf("%s: %d minted, want %d", step.host, minted, step.want)
		}
	}
	if len(m.leaves) != 3 || m.recent.Len() != 3 {
		t.Errorf("%d leaves are kept, want 3", len(m.leaves))
	}
}

// heldSigner lets the first signature wait.
type heldSigner struct {
	crypto.Signer
	release chan struct{}
	signed  atomic.Int64
	fail    error
}

func (s *heldSigner) Sign(r io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	if s.signed.Add(1) == 1 {
		<-s.release
		if s.fail != nil {
			return nil, s.fail
		}
	}
	return s.Signer.Sign(r, digest, opts)
}

func TestSingleFlight(t *testing.T) {
	for name, fail := range map[string]error{"success": nil, "failure": errors.New("the signer is gone")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority(t, 7*24*time.Hour)
				signer := &heldSigner{Signer: a.key, release: make(chan struct{}), fail: fail}
				a.key = signer
				m := newMinter(t, Config{Issuer: a.issuer})
				certs, errs := make([]*tls.Certificate, 10), make([]error, 10)
				var all sync.WaitGroup
				for i := range certs {
					all.Go(func() { certs[i], errs[i] = m.Get("example.com") })
				}
				synctest.Wait()
				get(t, m, "other.example") // is not held up
				if n := signer.signed.Load(); n != 2 {
					t.Errorf("%d signatures for two hosts", n)
				}
				close(signer.release)
				all.Wait()
				for i := range certs {
					if certs[i] != certs[0] || !errors.Is(errs[i], fail) || (certs[i] == nil) != (fail != nil) {
						t.Errorf("caller %d: %p, %v; want what caller 0 got: %p", i, certs[i], errs[i], certs[0])
					}
				}
				// A failure is not kept.
				get(t, m, "example.com")
			})
		})
	}
}

func TestSignerPanics(t *testing.T) {
	a := newAuthority(t, 7*24*time.Hour)
	good := a.key
	a.key = panickingSigner{good}
	m := newMinter(t, Config{Issuer: a.issuer})
	func() {
		defer func() { _ = recover() }()
		_, _ = m.Get("example.com")
	}()
	a.key = good
	get(t, m, "example.com")
}

type panickingSigner struct{ crypto.Signer }

func (panickingSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) { panic("no key") }

func TestRefusals(t *testing.T) {
	a := newAuthority(t, 7*24*time.Hour)
	m := newMinter(t, Config{Issuer: a.issuer, OnMinted: func() { t.Error("a certificate was made") }})
	for _, host := range []string{
		"", "*", "*.example.com", "Example.com", "example.com.", "[::1]", "::ffff:192.0.2.1", "2001:DB8::1", "127.1", "a b", "example.com:443", "user@example.com", "a\x00.example",
	} {
		if _, err := m.Get(host); err == nil {
			t.Errorf("%q: a certificate was made", host)
		}
	}
	for name, issuer := range map[string]Issuer{
		"no chain":    func() ([]*x509.Certificate, crypto.Signer) { return nil, a.key },
		"no key":      func() ([]*x509.Certificate, crypto.Signer) { return a.chain, nil },
		"another key": func() ([]*x509.Certificate, crypto.Signer) { return a.chain, a.rootKey },
	} {
		if _, err := newMinter(t, Config{Issuer: issuer}).Get("example.com"); err == nil {
			t.Errorf("%s: a certificate was made", name)
		}
	}
	for _, config := range []Config{{}, {Issuer: a.issuer, Max: -1}, {Issuer: a.issuer, Lifetime: -1}} {
		if _, err := New(config); err == nil {
			t.Errorf("%+v was accepted", config)
		}
	}
}

func TestCachedGetAllocatesNothing(t *testing.T) {
	a := newAuthority(t, 7*24*time.Hour)
	m := newMinter(t, Config{Issuer: a.issuer})
	get(t, m, "example.com")
	if n := testing.AllocsPerRun(100, func() { _, _ = m.Get("example.com") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGet(b *testing.B) {
	a := newAuthority(b, 7*24*time.Hour)
	m := newMinter(b, Config{Issuer: a.issuer})
	b.Run("leaf=cached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = m.Get("www.example.com")
		}
	})
	b.Run("leaf=cached_of_1000", func(b *testing.B) {
		hosts := make([]string, DefaultMax)
		for i := range hosts {
			hosts[i] = fmt.Sprintf("www%d.example.com", i)
			get(b, m, hosts[i])
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, _ = m.Get(hosts[i%len(hosts)])
		}
	})
	b.Run("leaf=minted", func(b *testing.B) {
		hosts := make([]string, 2*DefaultMax)
		for i := range hosts {
			hosts[i] = fmt.Sprintf("host%d.example.com", i)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, _ = m.Get(hosts[i%len(hosts)])
		}
	})
}
