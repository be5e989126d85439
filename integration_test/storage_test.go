package integration_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// TestR56_GatesShareStorage runs gates on one storage: what one of them has
// fetched, the others use, a gate that starts a second later included.
func TestR56_GatesShareStorage(t *testing.T) {
	for name, storage := range map[string]func(*testing.T) string{
		"file_system": func(t *testing.T) string { return "file_system " + t.TempDir() },
		"redis":       redisStorage,
	} {
		t.Run(name, func(t *testing.T) {
			o := faultorigin.Start(t)
			_, port, _ := net.SplitHostPort(o.PlainAddr())
			settings := storage(t)
			one, two := startOn(t, settings, port), startOn(t, settings, port)
			const hosts = 20
			target := func(i int) string { return fmt.Sprintf("http://ok.%d.test:%s/private/x", i, port) }
			sums := make([]string, hosts)
			for i := range hosts {
				d := denial(t, one, target(i))
				if d.Source != "fetched" || d.Reason != "disallowed" {
					t.Fatalf("first gate: %+v", d)
				}
				sums[i] = d.SHA256
			}
			// The contract's second, which is what is tested.
			time.Sleep(time.Second)
			three := startOn(t, settings, port)
			// The origins are gone: only storage can answer.
			for i := range hosts {
				o.Set(fmt.Sprintf("ok.%d.test", i), faultorigin.Answer(503, "", ""))
				for who, g := range map[string]*gate{"running": two, "started later": three} {
					d := denial(t, g, target(i))
					if d.Source != "storage" || d.Reason != "disallowed" || d.SHA256 != sums[i] {
						t.Errorf("gate %s, host %d: %+v", who, i, d)
					}
				}
				if n := len(o.Log(fmt.Sprintf("ok.%d.test", i))); n != 1 {
					t.Errorf("host %d: %d requests reached the origin, want its robots.txt once", i, n)
				}
			}
		})
	}
}

// shared is the part of a denial that says where the rules came from.
type shared struct {
	Reason string `json:"reason"`
	Source string `json:"source"`
	SHA256 string `json:"robots_sha256"`
}

// denial asks through a gate for what is disallowed.
func denial(t *testing.T, g *gate, target string) shared {
	t.Helper()
	proxy := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: g.Addr}), DisableKeepAlives: true}
	response, err := proxy.RoundTrip(mustRequest(t, target))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var d shared
	if err := json.NewDecoder(response.Body).Decode(&d); err != nil {
		t.Fatalf("%s: %s: %v", target, response.Status, err)
	}
	return d
}

func mustRequest(t *testing.T, target string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", "ExampleBot/1.0")
	return request
}

// startOn starts a gate on a storage that others use too.
func startOn(t *testing.T, storage, port string) *gate {
	t.Helper()
	dir := t.TempDir()
	g := &gate{Addr: freeAddr(t)}
	_, listen, _ := net.SplitHostPort(g.Addr)
	config := fmt.Sprintf(`{
	admin off
	storage %s
	robots_gate {
		allow_ranges 127.0.0.0/8
		ports %s
		resolvers %s
	}
}
:%s {
	bind 127.0.0.1
	log
	%s
}
`, storage, port, newDNS(t), listen, proxySite())
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.process = start(t, dir, "serving initial configuration", gateBinary, "run", "--config", file, "--adapter", "caddyfile")
	return g
}

// redisStorage runs Debian's Redis and returns the storage option for it.
func redisStorage(t *testing.T) string {
	t.Helper()
	server, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("needs redis-server, which is required here: %v", err)
		}
		t.Skip("needs redis-server: install Debian's package of that name")
	}
	host, port, _ := net.SplitHostPort(freeAddr(t))
	dir := t.TempDir()
	log := filepath.Join(dir, "redis.log")
	cmd := exec.Command(server, "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", dir, "--logfile", log)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", net.JoinHostPort(host, port)); err == nil {
			_ = conn.Close()
			break
		}
		if time.Since(began) > startLimit {
			said, _ := os.ReadFile(log)
			t.Fatalf("redis-server does not listen:\n%s", said)
		}
	}
	return fmt.Sprintf("redis {\n\t\taddress %s:%s\n\t}", host, port)
}
