package integration_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// python is Debian's own, whose packages carry the client libraries.
const python = "/usr/bin/python3"

// answer is what a client got for one request.
type answer struct {
	Status  int
	Gate    string // X-Robots-Gate
	Proxy   string // Proxy-Status
	Type    string // Content-Type
	Body    [sha256.Size]byte
	Problem string // the body, where Type says that it is a problem
	Error   string
}

// setBody takes the body of an answer whose header is known.
func (a *answer) setBody(body []byte) {
	a.Body = sha256.Sum256(body)
	if a.Type == problemType {
		a.Problem = string(body)
	}
}

// problemType is the media type of a denial (RFC 9457).
const problemType = "application/problem+json"

// client sends requests through a proxy, one after the other or not, and says
// what it got for each.
type client struct {
	name string
	// needs says what is missing on this machine, if anything.
	needs func() error
	send  func(t *testing.T, proxy string, requests []request) []answer
	// one User-Agent per run, so that requests are told apart by their order
	single bool
	// exact clients send every octet of a URL as they were told to, and so are
	// told to send some that other clients escape
	exact bool
}

func clients() []client {
	return []client{
		{name: "curl", needs: program("curl"), send: sendCurl},
		{name: "wget", needs: program("wget"), send: sendWget, single: true},
		{name: "requests", needs: pythonModule("requests"), send: sendPython("requests_client.py")},
		{name: "scrapy", needs: pythonModule("scrapy"), send: sendPython("scrapy_client.py")},
		{name: "go", needs: func() error { return nil }, send: sendGo},
		{name: "socket", needs: func() error { return nil }, send: sendSocket, exact: true},
	}
}

// available skips the test for a client that is not installed, or fails it
// where all of them are required.
func (c client) available(t *testing.T) {
	t.Helper()
	err := c.needs()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" || os.Getenv("ROBOTSGATE_CLIENTS") == "required" {
		t.Fatalf("client %s is required here: %v", c.name, err)
	}
	t.Skipf("client %s is not installed: %v", c.name, err)
}

func program(name string) func() error {
	return func() error {
		_, err := exec.LookPath(name)
		return err
	}
}

func pythonModule(name string) func() error {
	return func() error {
		out, err := exec.Command(python, "-c", "import "+name).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s has no module %s: %w: %s", python, name, err, bytes.TrimSpace(out))
		}
		return nil
	}
}

// command runs a client to its end without the environment's own proxies.
func command(t *testing.T, stdin io.Reader, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	home := t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8"}
	cmd.Dir = home
	cmd.Stdin = stdin
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && name == "wget" && exit.ExitCode() == 8 {
		err = nil // "server issued an error response": denials are some
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return stdout.Bytes()
}

// sendCurl gives one curl process a configuration file with every request.
func sendCurl(t *testing.T, proxy string, requests []request) []answer {
	t.Helper()
	dir := t.TempDir()
	var config strings.Builder
	set := func(option, value string) {
		fmt.Fprintf(&config, "%s = \"%s\"\n", option, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value))
	}
	for i, r := range requests {
		if i > 0 {
			config.WriteString("next\n")
		}
		config.WriteString("silent\ngloboff\npath-as-is\n")
		set("proxy", "http://"+proxy)
		set("url", r.url())
		set("user-agent", r.Agent)
		set("output", filepath.Join(dir, strconv.Itoa(i)))
		set("write-out", `%{http_code}\t%header{x-robots-gate}\t%header{proxy-status}\t%{content_type}\t%{errormsg}\n`)
		switch r.Method {
		case http.MethodHead:
			config.WriteString("head\n")
		case http.MethodPost:
			body := filepath.Join(dir, fmt.Sprintf("%d.body", i))
			if err := os.WriteFile(body, r.Body, 0o600); err != nil {
				t.Fatal(err)
			}
			set("data-binary", "@"+body)
		}
	}
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := command(t, nil, "curl", "--disable", "--config", file)
	var answers []answer
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			t.Fatalf("curl wrote %q", line)
		}
		a := answer{Gate: fields[1], Proxy: fields[2], Type: fields[3], Error: fields[4]}
		a.Status, _ = strconv.Atoi(fields[0])
		body, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if i < len(requests) && requests[i].Method == http.MethodHead {
			body = nil // curl writes the header there
		}
		a.setBody(body)
		answers = append(answers, a)
	}
	return answers
}

// sendWget gives one wget process the list of URLs; all answers, headers
// included, come back in one file.
func sendWget(t *testing.T, proxy string, requests []request) []answer {
	t.Helper()
	dir := t.TempDir()
	list, out := filepath.Join(dir, "urls"), filepath.Join(dir, "answers")
	var urls strings.Builder
	for _, r := range requests {
		urls.WriteString(r.url() + "\n")
	}
	if err := os.WriteFile(list, []byte(urls.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, nil, "wget", "--no-config", "--quiet", "--tries=1", "--no-iri", "--max-redirect=0",
		"--execute=use_proxy=yes", "--execute=http_proxy=http://"+proxy, "--execute=robots=off",
		"--content-on-error", "--save-headers", "--user-agent="+requests[0].Agent,
		"--output-document="+out, "--input-file="+list)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	reader := bufio.NewReader(bytes.NewReader(data))
	for {
		if _, err := reader.Peek(1); err != nil {
			return answers
		}
		answers = append(answers, readAnswer(reader, &http.Request{Method: http.MethodGet}))
	}
}

// readAnswer reads one HTTP/1.1 answer.
func readAnswer(reader *bufio.Reader, to *http.Request) answer {
	resp, err := http.ReadResponse(reader, to)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return toAnswer(resp)
}

func toAnswer(resp *http.Response) answer {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	a := answer{
		Status: resp.StatusCode, Gate: resp.Header.Get("X-Robots-Gate"),
		Proxy: resp.Header.Get("Proxy-Status"), Type: resp.Header.Get("Content-Type"),
	}
	a.setBody(body)
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// sendPython runs a script of testdata that reads and writes JSON lines.
func sendPython(script string) func(*testing.T, string, []request) []answer {
	return func(t *testing.T, proxy string, requests []request) []answer {
		t.Helper()
		path, err := filepath.Abs(filepath.Join("testdata", script))
		if err != nil {
			t.Fatal(err)
		}
		var in bytes.Buffer
		for i, r := range requests {
			line, _ := json.Marshal(map[string]any{
				"id": i, "url": r.url(), "agent": r.Agent, "method": r.Method,
				"body": base64.StdEncoding.EncodeToString(r.Body),
			})
			in.Write(append(line, '\n'))
		}
		out := command(t, &in, python, path, "http://"+proxy)
		answers := make([]answer, len(requests))
		for i := range answers {
			answers[i].Error = "the script said nothing of this request"
		}
		for line := range bytes.Lines(out) {
			var said struct {
				ID     int    `json:"id"`
				Status int    `json:"status"`
				Gate   string `json:"gate"`
				Proxy  string `json:"proxy"`
				Type   string `json:"type"`
				Body   []byte `json:"body"`
				Error  string `json:"error"`
			}
			if err := json.Unmarshal(line, &said); err != nil {
				t.Fatalf("%s wrote %q: %v", script, line, err)
			}
			a := answer{Status: said.Status, Gate: said.Gate, Proxy: said.Proxy, Type: said.Type, Error: said.Error}
			a.setBody(said.Body)
			answers[said.ID] = a
		}
		return answers
	}
}

// sendGo uses Go's own client, which writes targets in its own way.
func sendGo(t *testing.T, proxy string, requests []request) []answer {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})}
	defer transport.CloseIdleConnections()
	var answers []answer
	for _, r := range requests {
		req, err := http.NewRequestWithContext(t.Context(), r.Method, r.url(), bytes.NewReader(r.Body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", r.Agent)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			answers = append(answers, answer{Error: err.Error()})
			continue
		}
		answers = append(answers, toAnswer(resp))
	}
	return answers
}

// sendSocket writes requests octet by octet on one connection.
func sendSocket(t *testing.T, proxy string, requests []request) []answer {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	var answers []answer
	for _, r := range requests {
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nContent-Length: %d\r\n\r\n%s",
			r.Method, r.url(), r.Host, r.Agent, len(r.Body), r.Body)
		answers = append(answers, readAnswer(reader, &http.Request{Method: r.Method}))
	}
	return answers
}
