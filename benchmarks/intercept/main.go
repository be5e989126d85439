// Command intercept measures what interception costs: requests a second
// through a gate in clear, intercepted over HTTP/1.1 and over HTTP/2, against
// origins in the same process, and the time of handshakes. Runs are
// interleaved; for each figure it prints minimum, median and maximum.
//
//	go run ./intercept -gate ../robotsgate
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	gateBinary = flag.String("gate", "robotsgate", "binary to measure")
	runs       = flag.Int("runs", 5, "interleaved runs of each trial")
	length     = flag.Duration("length", 2*time.Second, "length of a run")
	workers    = flag.Int("workers", 32, "requests under way at once")
	size       = flag.Int("size", 1024, "octets of a page")
	only       = flag.String("only", "", "run this trial alone, for profiling")
)

func main() {
	flag.Parse()
	if err := measure(); err != nil {
		log.Fatal(err)
	}
}

// rig is a gate with origins behind it.
type rig struct {
	proxy         *url.URL
	roots         *x509.CertPool // the gate's
	plain, secure *httptest.Server
	originRoots   *x509.CertPool
	fixed         string   // address of Caddy's own reverse_proxy to plain
	forwarder     *url.URL // egress_proxy without a gate
}

func measure() error {
	page := []byte(strings.Repeat("x", *size))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
			return
		}
		_, _ = w.Write(page)
	})
	r := &rig{plain: httptest.NewServer(handler), secure: httptest.NewUnstartedServer(handler)}
	defer r.plain.Close()
	r.secure.EnableHTTP2 = true
	r.secure.StartTLS()
	defer r.secure.Close()
	r.originRoots = r.secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	stop, err := r.start()
	if err != nil {
		return err
	}
	defer stop()
	if err := r.throughput(); err != nil {
		return err
	}
	return r.handshakes()
}

// start runs the gate and waits until it answers.
func (r *rig) start() (stop func(), err error) {
	dir, err := os.MkdirTemp("", "intercept-bench-")
	if err != nil {
		return nil, err
	}
	addrs := []string{freeAddr(), freeAddr(), freeAddr()}
	r.proxy = &url.URL{Scheme: "http", Host: addrs[0]}
	r.fixed = addrs[1]
	r.forwarder = &url.URL{Scheme: "http", Host: addrs[2]}
	config := filepath.Join(dir, "Caddyfile")
	text := fmt.Sprintf(`{
	admin off
	storage file_system %s
	robots_gate {
		allow_ranges 127.0.0.0/8
		ports 1024-65535
		fetch {
			root_ca %s
		}
	}
}
:%s {
	bind 127.0.0.1
	tls_intercept
	robots_gate {
		agents all
	}
	egress_proxy
}
:%s {
	bind 127.0.0.1
	reverse_proxy %s
}
:%s {
	bind 127.0.0.1
	egress_proxy
}
`, dir, r.writeRoot(dir), port(addrs[0]), port(addrs[1]), r.plain.Listener.Addr(), port(addrs[2]))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(*gateBinary, "run", "--config", config, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "serving initial configuration") {
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	pem, err := os.ReadFile(filepath.Join(dir, "pki", "authorities", "robotsgate", "root.crt"))
	if err != nil {
		return nil, err
	}
	r.roots = x509.NewCertPool()
	r.roots.AppendCertsFromPEM(pem)
	fmt.Printf("gate is process %d\n", cmd.Process.Pid)
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}, nil
}

// trial is one way to fetch pages.
type trial struct {
	name  string
	url   string
	setup func(*http.Transport)
}

func (r *rig) trials() []trial {
	// example.com is what the certificate of httptest names; it never leaves
	// the machine, as the gate has the address from the URL.
	through := func(http2 bool) func(*http.Transport) {
		return func(t *http.Transport) {
			t.Proxy = http.ProxyURL(r.proxy)
			t.TLSClientConfig = &tls.Config{RootCAs: r.roots}
			t.ForceAttemptHTTP2 = http2
		}
	}
	direct := func(http2 bool) func(*http.Transport) {
		return func(t *http.Transport) {
			t.TLSClientConfig = &tls.Config{RootCAs: r.originRoots}
			t.ForceAttemptHTTP2 = http2
		}
	}
	return []trial{
		{"direct http", r.plain.URL + "/page", func(*http.Transport) {}},
		{"direct https h1", r.secure.URL + "/page", direct(false)},
		{"direct https h2", r.secure.URL + "/page", direct(true)},
		{"reverse_proxy fixed", "http://" + r.fixed + "/page", func(*http.Transport) {}},
		{"egress_proxy alone", r.plain.URL + "/page", func(t *http.Transport) { t.Proxy = http.ProxyURL(r.forwarder) }},
		{"gate plain", r.plain.URL + "/page", through(false)},
		{"gate intercepted h1", r.secure.URL + "/page", through(false)},
		{"gate intercepted h2", r.secure.URL + "/page", through(true)},
	}
}

func (r *rig) throughput() error {
	figures := map[string][]float64{}
	for range *runs {
		for _, t := range r.trials() {
			if *only != "" && t.name != *only {
				continue
			}
			rate, err := r.run(t)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			figures[t.name] = append(figures[t.name], rate)
		}
	}
	base := median(figures["gate plain"])
	fmt.Printf("\n%-22s %9s %9s %9s   of gate plain\n", "requests a second", "minimum", "median", "maximum")
	for _, t := range r.trials() {
		f := figures[t.name]
		if len(f) == 0 {
			continue
		}
		fmt.Printf("%-22s %9.0f %9.0f %9.0f   %.2f\n", t.name, slices.Min(f), median(f), slices.Max(f), median(f)/base)
	}
	return nil
}

func (r *rig) run(t trial) (float64, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: *workers, DisableCompression: true}
	t.setup(transport)
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), *length)
	defer cancel()
	var done atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, *workers)
	began := time.Now()
	for range *workers {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := fetch(transport, t.url); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}

func fetch(transport *http.Transport, target string) error {
	req, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "ExampleBot/1.0")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || n != int64(*size)) {
		err = fmt.Errorf("got %s and %d octets", resp.Status, n)
	}
	return err
}

// handshakes times the TLS handshake alone: first visits to hosts, and visits
// of a client that has been there.
func (r *rig) handshakes() error {
	var first, resumed []float64
	cache := tls.NewLRUClientSessionCache(0)
	for n := range 300 {
		host := fmt.Sprintf("h%d.example", n)
		for _, into := range []*[]float64{&first, &resumed} {
			took, err := r.handshake(host, cache)
			if err != nil {
				return err
			}
			*into = append(*into, took)
		}
	}
	fmt.Printf("\n%-22s %9s %9s %9s %9s\n", "handshake, ms", "minimum", "median", "p99", "maximum")
	for _, f := range []struct {
		name  string
		times []float64
	}{{"first visit", first}, {"resumed", resumed}} {
		slices.Sort(f.times)
		fmt.Printf("%-22s %9.2f %9.2f %9.2f %9.2f\n", f.name, f.times[0], median(f.times), f.times[len(f.times)*99/100], f.times[len(f.times)-1])
	}
	return nil
}

func (r *rig) handshake(host string, cache tls.ClientSessionCache) (milliseconds float64, err error) {
	conn, err := net.Dial("tcp", r.proxy.Host)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	authority := host + ":" + port(r.secure.Listener.Addr().String())
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", authority, authority)
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("CONNECT: %v, %w", resp, err)
	}
	inner := tls.Client(conn, &tls.Config{RootCAs: r.roots, ServerName: host, ClientSessionCache: cache, NextProtos: []string{"http/1.1"}})
	began := time.Now()
	if err := inner.Handshake(); err != nil {
		return 0, err
	}
	took := time.Since(began)
	// A request makes the client read the ticket; a bad one costs no fetch.
	fmt.Fprintf(inner, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n")
	_, _ = io.ReadAll(inner)
	return float64(took.Microseconds()) / 1000, nil
}

func (r *rig) writeRoot(dir string) string {
	file := filepath.Join(dir, "origin.pem")
	out, err := os.Create(file)
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	if err := writePEM(out, r.secure.Certificate()); err != nil {
		log.Fatal(err)
	}
	return file
}

func median(f []float64) float64 {
	if len(f) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f))
	return sorted[len(sorted)/2]
}

func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr)
	return p
}
