package integration_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// fetched is what a client got for one URL.
type fetched struct {
	Status int    `json:"status"`
	Gate   string `json:"gate"`
	Body   string `json:"body"`
	Proto  string `json:"proto"`
	Error  string `json:"error"`
}

// secureClient asks for https URLs through a proxy and trusts one root.
type secureClient struct {
	name  string
	needs func() error
	ask   func(t *testing.T, proxy, root string, urls ...string) []fetched
	// agent is what the origin sees, proto how the client spoke to the gate;
	// empty where it does not say.
	agent, proto string
}

func secureClients() []secureClient {
	return []secureClient{
		{name: "curl-h1", needs: program("curl"), ask: askCurl("--http1.1"), agent: "ExampleBot/1.0", proto: "1.1"},
		{name: "curl-h2", needs: program("curl"), ask: askCurl("--http2"), agent: "ExampleBot/1.0", proto: "2"},
		{name: "wget", needs: program("wget"), ask: askWget, agent: "ExampleBot/1.0"},
		{name: "requests", needs: pythonModule("requests"), ask: askPython("requests"), agent: "ExampleBot/1.0"},
		{name: "httpx", needs: pythonModule("httpx"), ask: askPython("httpx"), agent: "ExampleBot/1.0"},
		{name: "aiohttp", needs: pythonModule("aiohttp"), ask: askPython("aiohttp"), agent: "ExampleBot/1.0"},
		{name: "scrapy", needs: pythonModule("scrapy"), ask: askPython("scrapy"), agent: "ExampleBot/1.0"},
		{name: "undici", needs: undici, ask: askUndici, agent: "ExampleBot/1.0"},
		{name: "go-h1", needs: nothing, ask: askGo(false), agent: "ExampleBot/1.0", proto: "HTTP/1.1"},
		{name: "go-h2", needs: nothing, ask: askGo(true), agent: "ExampleBot/1.0", proto: "HTTP/2.0"},
		{name: "chromium", needs: chromium, ask: askChromium},
	}
}

// TestClients: every client gets allowed pages unchanged, and a refusal that
// says why for the others. Trusting another root, it gets neither.
func TestClients(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	stranger := filepath.Join(t.TempDir(), "stranger.pem")
	if err := os.WriteFile(stranger, newTestCA(t).pem(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range secureClients() {
		t.Run(c.name, func(t *testing.T) {
			client{name: c.name, needs: c.needs}.available(t)
			host := c.name + ".test"
			open, denied := i.origin.url(host, "/open?q=%C3%A9"), i.origin.url(host, "/private/x")
			got := c.ask(t, "http://"+i.Addr, i.CAFile, open, denied)
			if len(got) != 2 {
				t.Fatalf("got %+v", got)
			}
			if got[0].Status != 200 || got[0].Body != securePage(host+":"+i.origin.Port, "/open?q=%C3%A9") || got[0].Gate != "" {
				t.Errorf("allowed page: got %+v", got[0])
			}
			if got[1].Status != 403 || got[1].Gate != "deny; reason=disallowed" || !strings.Contains(got[1].Body, "Disallow: /private/") {
				t.Errorf("disallowed page: got %+v", got[1])
			}
			if c.proto != "" && got[0].Proto != c.proto {
				t.Errorf("the gate spoke %q, want %q", got[0].Proto, c.proto)
			}
			for n, f := range c.ask(t, "http://"+i.Addr, stranger, i.origin.url("stranger-"+host, "/open")) {
				if f.Error == "" {
					t.Errorf("URL %d under a root that the client does not trust: got %+v", n, f)
				}
			}
		})
	}
	for _, page := range i.origin.pages() {
		if strings.HasPrefix(page.Host, "stranger-") || strings.HasPrefix(page.URI, "/private") {
			t.Errorf("the origin got %+v", page)
		}
		for _, c := range secureClients() {
			if strings.HasPrefix(page.Host, c.name+".test") && c.agent != "" && page.Header.Get("User-Agent") != c.agent {
				t.Errorf("%s: the origin saw the User-Agent %q", c.name, page.Header.Get("User-Agent"))
			}
		}
	}
	i.stop()
}

func nothing() error { return nil }

// undici is Debian's node-undici, or whatever NODE_PATH holds.
func undici() error {
	cmd := exec.Command("node", "-e", `require("undici").ProxyAgent`)
	cmd.Env = nodeEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("node has no undici: %w: %s", err, out)
	}
	return nil
}

func nodeEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "NODE_PATH=" + os.Getenv("NODE_PATH") + ":/usr/share/nodejs"}
}

func chromium() error {
	return errors.Join(program("chromium")(), program("certutil")())
}

func askCurl(version string) func(*testing.T, string, string, ...string) []fetched {
	return func(t *testing.T, proxy, root string, urls ...string) []fetched {
		t.Helper()
		var all []fetched
		for _, u := range urls {
			out, err := runClient("curl", "--disable", "--silent", "--show-error", version, "--proxy", proxy, "--cacert", root,
				"--user-agent", "ExampleBot/1.0", "--write-out", `\n%{http_code}\n%{http_version}\n%header{x-robots-gate}`, u)
			parts := strings.Split(string(out), "\n")
			if n := len(parts); err == nil && n > 3 {
				f := fetched{Body: strings.Join(parts[:n-3], "\n"), Proto: parts[n-2], Gate: parts[n-1]}
				f.Status, _ = strconv.Atoi(parts[n-3])
				all = append(all, f)
			} else {
				all = append(all, fetched{Error: fmt.Sprint(err)})
			}
		}
		return all
	}
}

func askWget(t *testing.T, proxy, root string, urls ...string) []fetched {
	t.Helper()
	var all []fetched
	for _, u := range urls {
		out, err := runClient("wget", "--no-config", "--quiet", "--tries=1", "--execute=use_proxy=yes", "--execute=https_proxy="+proxy,
			"--execute=robots=off", "--ca-certificate="+root, "--ca-directory=/nonexistent", "--content-on-error", "--save-headers",
			"--user-agent=ExampleBot/1.0", "--output-document=-", u)
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 8) {
			all = append(all, fetched{Error: err.Error()})
			continue
		}
		head, body, _ := strings.Cut(string(out), "\r\n\r\n")
		f := fetched{Body: body}
		_, _ = fmt.Sscanf(head, "HTTP/1.1 %d", &f.Status)
		for line := range strings.SplitSeq(head, "\r\n") {
			if value, ok := strings.CutPrefix(line, "X-Robots-Gate: "); ok {
				f.Gate = value
			}
		}
		all = append(all, f)
	}
	return all
}

// runClient runs a client to its end without the environment's own proxies.
func runClient(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%s: %w: %s", name, err, stderr.String())
	}
	return stdout.Bytes(), nil
}

func askPython(library string) func(*testing.T, string, string, ...string) []fetched {
	return func(t *testing.T, proxy, root string, urls ...string) []fetched {
		t.Helper()
		script := append([]string{"testdata/intercept_client.py", library, proxy, root}, urls...)
		return askScript(t, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "SSL_CERT_FILE=" + root}, python, script...)
	}
}

func askUndici(t *testing.T, proxy, root string, urls ...string) []fetched {
	t.Helper()
	return askScript(t, nodeEnv(), "node", append([]string{"testdata/intercept_client.js", proxy, root}, urls...)...)
}

// askScript runs a script that writes a JSON line for each URL.
func askScript(t *testing.T, env []string, name string, args ...string) []fetched {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, args[0], err, stderr.String())
	}
	var all []fetched
	for line := range bytes.Lines(out) {
		var f fetched
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%s %s wrote %q: %v", name, args[0], line, err)
		}
		all = append(all, f)
	}
	return all
}

func askGo(http2 bool) func(*testing.T, string, string, ...string) []fetched {
	return func(t *testing.T, proxy, root string, urls ...string) []fetched {
		t.Helper()
		file, err := os.ReadFile(root)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(file)
		through, err := url.Parse(proxy)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
		defer transport.CloseIdleConnections()
		var all []fetched
		for _, u := range urls {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("User-Agent", "ExampleBot/1.0")
			resp, err := transport.RoundTrip(req)
			if err != nil {
				all = append(all, fetched{Error: err.Error()})
				continue
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			f := fetched{Status: resp.StatusCode, Gate: resp.Header.Get("X-Robots-Gate"), Body: string(body), Proto: resp.Proto}
			if err != nil {
				f.Error = err.Error()
			}
			all = append(all, f)
		}
		return all
	}
}

// askChromium loads pages in a headless browser whose own store has the root.
func askChromium(t *testing.T, proxy, root string, urls ...string) []fetched {
	t.Helper()
	home := t.TempDir()
	trust(t, home, root)
	var all []fetched
	for _, u := range urls {
		all = append(all, loadChromium(t, home, proxy, u))
	}
	return all
}

// trust puts a root into the store of a browser's home.
func trust(t *testing.T, home, root string) {
	t.Helper()
	store := filepath.Join(home, ".pki", "nssdb")
	if err := os.MkdirAll(store, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-N", "-d", "sql:" + store, "--empty-password"},
		{"-A", "-d", "sql:" + store, "-n", "gate", "-t", "C,,", "-i", root},
	} {
		if _, err := runClient("certutil", args...); err != nil {
			t.Fatal(err)
		}
	}
}

// loadChromium loads one page and returns what stands in the window.
func loadChromium(t *testing.T, home, proxy, u string) fetched {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--no-first-run",
		"--user-data-dir="+filepath.Join(home, "profile"), "--proxy-server="+proxy, "--dump-dom", u)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		return fetched{Error: fmt.Sprintf("chromium: %v: %s", err, stderr.String())}
	}
	f := fetched{Status: http.StatusOK, Body: textOf(string(dom))}
	var problem struct {
		Status int    `json:"status"`
		Reason string `json:"reason"`
	}
	switch {
	case f.Body == "" || strings.Contains(f.Body, "ERR_"):
		f.Error = "no page: " + f.Body
	case json.Unmarshal([]byte(f.Body), &problem) == nil:
		f.Status, f.Gate = problem.Status, "deny; reason="+problem.Reason
	}
	return f
}

// textOf takes the page's text out of what a browser makes of plain text or
// JSON.
func textOf(dom string) string {
	if _, rest, found := strings.Cut(dom, "<pre"); found {
		_, rest, _ = strings.Cut(rest, ">")
		dom, _, _ = strings.Cut(rest, "</pre>")
	}
	return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`).Replace(strings.TrimSpace(dom))
}
