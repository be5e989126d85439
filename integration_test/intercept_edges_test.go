package integration_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestR83_AuthorityMismatch: CONNECT, SNI and inner request name one host, or
// nothing is reached.
func TestR83_AuthorityMismatch(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	port := i.origin.Port
	for name, head := range map[string]string{
		"another Host":          "GET /open HTTP/1.1\r\nHost: h2.test:" + port + "\r\n\r\n",
		"another port":          "GET /open HTTP/1.1\r\nHost: h1.test\r\n\r\n",
		"absolute form":         "GET https://h2.test:" + port + "/open HTTP/1.1\r\nHost: h1.test:" + port + "\r\n\r\n",
		"absolute form in http": "GET http://h1.test:" + port + "/open HTTP/1.1\r\nHost: h1.test:" + port + "\r\n\r\n",
		"CONNECT inside":        "CONNECT h1.test:" + port + " HTTP/1.1\r\nHost: h1.test:" + port + "\r\n\r\n",
		"CONNECT to another":    "CONNECT h2.test:" + port + " HTTP/1.1\r\nHost: h2.test:" + port + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := i.handshake(t, "h1.test", nil)
			if err != nil {
				t.Fatal(err)
			}
			// The second request must not be served on this connection.
			if _, err := io.WriteString(conn, head+"GET /second HTTP/1.1\r\nHost: h1.test:"+port+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			answers, err := io.ReadAll(conn)
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Error(err)
			}
			if n := bytes.Count(answers, []byte("HTTP/1.1 ")); n != 1 || !bytes.HasPrefix(answers, []byte("HTTP/1.1 421 ")) ||
				!bytes.Contains(answers, []byte("\r\nX-Robots-Gate: deny; reason=authority_mismatch\r\n")) {
				t.Errorf("got %q, want one 421 and the end", answers)
			}
		})
	}
	t.Run("another SNI", func(t *testing.T) {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			_, err := i.handshake(t, "h1.test", &tls.Config{ServerName: "h2.test", MaxVersion: version})
			if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
				t.Errorf("%s: %v, want the alert unrecognized_name", tls.VersionName(version), err)
			}
		}
	})
	t.Run("another SNI, resumed", func(t *testing.T) {
		cache := tls.NewLRUClientSessionCache(0)
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			conn, err := i.handshake(t, "h2.test", &tls.Config{ClientSessionCache: cache, MaxVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			// Reading takes the ticket of TLS 1.3.
			fmt.Fprintf(conn, "GET /open HTTP/1.1\r\nHost: h2.test:%s\r\nConnection: close\r\n\r\n", port)
			_, _ = io.ReadAll(conn)
			_, err = i.handshake(t, "h1.test", &tls.Config{ServerName: "h2.test", ClientSessionCache: cache, MaxVersion: version})
			if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
				t.Errorf("%s: %v, want the alert unrecognized_name", tls.VersionName(version), err)
			}
		}
	})
	t.Run("the same in other words", func(t *testing.T) {
		conn, err := i.handshake(t, "H1.Test.", &tls.Config{ServerName: "h1.test"})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /same HTTP/1.1\r\nHost: H1.TEST:%s\r\nUser-Agent: ExampleBot\r\nConnection: close\r\n\r\n", port)
		if answer, _ := io.ReadAll(conn); !bytes.HasPrefix(answer, []byte("HTTP/1.1 200 ")) {
			t.Errorf("got %q", answer)
		}
	})
	for _, page := range i.origin.pages() {
		if page.URI != "/same" && page.Host != "h2.test:"+port {
			t.Errorf("the origin got %+v", page)
		}
	}
	i.stop()
	reasons := map[string]int{}
	for _, r := range readLog(t, i.log) {
		reasons[r.Robots.Reason]++
		if r.Robots.Reason == "authority_mismatch" && (r.Robots.Error == "" || r.Robots.URL == "" || r.Status != 421) {
			t.Errorf("record without evidence: %+v", r)
		}
	}
	if reasons["authority_mismatch"] != 6 || reasons["no_rule"] != 3 || len(reasons) != 2 {
		t.Errorf("the log has the reasons %v", reasons)
	}
}

// TestR84_NotTLS: octets that are no TLS reach nothing.
func TestR84_NotTLS(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	before := i.origin.accepted.Load()
	for name, octets := range map[string]string{
		"HTTP": "GET / HTTP/1.1\r\nHost: h1.test:" + i.origin.Port + "\r\n\r\n",
		"SSH":  "SSH-2.0-OpenSSH_9.2\r\n",
		"NUL":  strings.Repeat("\x00", 64),
	} {
		conn, reader, resp := connect(t, i.Addr, "h1.test:"+i.origin.Port, "")
		if resp.StatusCode != 200 {
			t.Fatalf("%s: got %s", name, resp.Status)
		}
		if _, err := io.WriteString(conn, octets); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(reader)
		if bytes.Contains(rest, []byte("page ")) {
			t.Errorf("%s: got %q", name, rest)
		}
	}
	if n := i.origin.accepted.Load() - before; n != 0 {
		t.Errorf("the origin accepted %d connections", n)
	}
	i.stop()
}

// TestR85_ConnectTargets: a CONNECT names a host and a port, and nothing else.
func TestR85_ConnectTargets(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	port := i.origin.Port
	for target, want := range map[string]string{
		"/path":                         "bad_target",
		"http://h1.test:" + port + "/x": "bad_target",
		"h1.test":                       "bad_target",
		"user@h1.test:" + port:          "bad_target",
		"h1.test:0":                     "bad_target",
		"h1.test:99999":                 "bad_target",
		"[h1.test]:" + port:             "bad_target",
		"h1.test:22":                    "port_denied",
		"h1.test:25":                    "port_denied",
		"10.0.0.1:" + port:              "address_denied",
		"169.254.169.254:" + port:       "address_denied",
		"[::ffff:10.0.0.1]:" + port:     "address_denied",
	} {
		conn, err := net.Dial("tcp", i.Addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", target)
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		if err != nil {
			t.Errorf("%s: %v", target, err)
		} else if got := resp.Header.Get("X-Robots-Gate"); got != "deny; reason="+want {
			// net/http itself answers some of them with 400.
			if resp.StatusCode != 400 || want != "bad_target" {
				t.Errorf("%s: got %s, %q, want %s", target, resp.Status, got, want)
			}
		}
		conn.Close()
	}
	conn, _, resp := connect(t, i.Addr, "h1.test:"+port, "Content-Length: 5\r\n")
	if resp.StatusCode != 400 {
		t.Errorf("CONNECT with content: got %s", resp.Status)
	}
	conn.Close() // or the server waits for the content
	i.stop()
}

// TestCleartextHTTP2Connect: CONNECT over HTTP/2 is refused with an answer
// that says so.
func TestCleartextHTTP2Connect(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	reader, writer := io.Pipe()
	defer writer.Close()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodConnect, "http://"+i.Addr, reader)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "h1.test:" + i.origin.Port
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 400 || resp.Header.Get("X-Robots-Gate") != "deny; reason=bad_target" {
		t.Errorf("got %s %v", resp.Status, resp.Header)
	}
	body, _ := io.ReadAll(resp.Body)
	if !bytes.Contains(body, []byte("HTTP/1.1")) {
		t.Errorf("the answer does not say what to do: %s", body)
	}
}

// TestPipelinedClientHello: a client may send its first octets of TLS along
// with the CONNECT.
func TestPipelinedClientHello(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	conn, err := net.Dial("tcp", i.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	authority := "h1.test:" + i.origin.Port
	eager := &eagerConn{Conn: conn, head: "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n"}
	inner := tls.Client(eager, &tls.Config{ServerName: "h1.test", RootCAs: i.roots(t)})
	fmt.Fprintf(inner, "GET /open HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", authority)
	answer, err := io.ReadAll(inner)
	if err != nil || !bytes.HasSuffix(answer, []byte(securePage(authority, "/open"))) {
		t.Errorf("got %q, %v", answer, err)
	}
}

// eagerConn sends a CONNECT in one piece with the first octets, and takes its
// answer off before the first that are read.
type eagerConn struct {
	net.Conn
	head   string
	reader *bufio.Reader
}

func (c *eagerConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(append([]byte(c.head), p...))
	n -= len(c.head)
	c.head = ""
	return n, err
}

func (c *eagerConn) Read(p []byte) (int, error) {
	if c.reader == nil {
		c.reader = bufio.NewReader(c.Conn)
		resp, err := http.ReadResponse(c.reader, &http.Request{Method: http.MethodConnect})
		if err != nil || resp.StatusCode != 200 {
			return 0, fmt.Errorf("CONNECT: %v, %w", resp, err)
		}
	}
	return c.reader.Read(p)
}

// TestR86_WebSocket: the handshake is judged, what follows is passed on.
func TestR86_WebSocket(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	handshake := func(path string) (*tls.Conn, *bufio.Reader, *http.Response) {
		conn, err := i.handshake(t, "ws.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: ws.test:%s\r\nUser-Agent: ExampleBot\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path, i.origin.Port)
		reader := bufio.NewReader(conn)
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		return conn, reader, resp
	}
	conn, reader, resp := handshake("/ws")
	if resp.StatusCode != 101 || resp.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || resp.Header.Get("X-Robots-Gate") != "" {
		t.Fatalf("got %s %v", resp.Status, resp.Header)
	}
	for _, message := range []string{"one", "two", strings.Repeat("x", 125)} {
		if err := writeFrame(conn, 1, []byte(message), true); err != nil {
			t.Fatal(err)
		}
		if op, echo, err := readFrame(reader); op != 1 || string(echo) != message || err != nil {
			t.Errorf("sent %q, got %q, %v", message, echo, err)
		}
	}
	if err := writeFrame(conn, 8, []byte{3, 232}, true); err != nil {
		t.Fatal(err)
	}
	if op, _, err := readFrame(reader); op != 8 || err != nil {
		t.Errorf("closing: got op %d, %v", op, err)
	}
	conn.Close()
	if _, _, resp := handshake("/private/ws"); resp.StatusCode != 403 || resp.Header.Get("X-Robots-Gate") != "deny; reason=disallowed" {
		t.Errorf("disallowed handshake: got %s %v", resp.Status, resp.Header)
	}
	i.stop()
	if records := readLog(t, i.log); len(records) != 2 || records[0].Status != 101 {
		t.Errorf("the log has %+v", records)
	}
}

// TestR86_H2CUpgrade: an upgrade to cleartext HTTP/2, or to anything else whose
// requests could not be judged, does not reach the origin.
func TestR86_H2CUpgrade(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	for _, protocol := range []string{"h2c", "connect-udp", "foo"} {
		conn, err := i.handshake(t, "h1.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /headers HTTP/1.1\r\nHost: h1.test:%s\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", i.origin.Port, protocol)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		if resp.StatusCode != 200 {
			t.Fatalf("%s: got %s", protocol, resp.Status)
		}
		if err := json.NewDecoder(resp.Body).Decode(&header); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Upgrade", "Http2-Settings", "Connection"} {
			if header.Get(name) != "" {
				t.Errorf("%s: the origin got %s: %s", protocol, name, header.Get(name))
			}
		}
		conn.Close()
	}
}

// TestUploads: Expect: 100-continue, large bodies and trailers, both protocols.
func TestUploads(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	sum := sha256.Sum256(body)
	want := fmt.Sprintf("%d %s <nil>", len(body), hex.EncodeToString(sum[:]))
	for _, http2 := range []bool{false, true} {
		client := i.client(t, http2)
		for _, expect := range []string{"", "100-continue"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, i.origin.url("up.test", "/upload"), bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if expect != "" {
				req.Header.Set("Expect", expect)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if err != nil || string(got) != want {
				t.Errorf("http2 %v, Expect %q: got %q, %v, want %q", http2, expect, got, err, want)
			}
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, i.origin.url("up.test", "/trailers"), io.MultiReader(strings.NewReader("abc")))
		if err != nil {
			t.Fatal(err)
		}
		req.Trailer = http.Header{"X-Check": {"7"}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != "map[X-Check:[7]]" || resp.Trailer.Get("X-Sum") != "42" {
			t.Errorf("http2 %v: the origin got the trailers %s, the client %v (%v)", http2, got, resp.Trailer, err)
		}
	}
}

// TestStreaming: what the origin sends arrives before the response is over,
// while the request's own body goes on.
func TestStreaming(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	reader, writer := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, i.origin.url("sse.test", "/events"), reader)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := i.client(t, true).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for n := range 3 {
		for lines.Scan() && lines.Text() == "" {
		}
		if lines.Text() != fmt.Sprintf("data: %d", n) {
			t.Fatalf("event %d: got %q", n, lines.Text())
		}
		// The origin waits for this before it sends the next.
		if _, err := writer.Write([]byte("k")); err != nil {
			t.Fatal(err)
		}
	}
	writer.Close()
}

// TestTrustStoreIsUntouched: the authority is made in the gate's own storage,
// keys for its owner alone, and nowhere else.
func TestTrustStoreIsUntouched(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	storage := filepath.Dir(filepath.Dir(filepath.Dir(i.CAFile)))
	out, err := exec.Command("find", storage, "-type", "f", "-printf", "%P %m\n").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		name, mode, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, "authorities/robotsgate/") || mode != "600" {
			t.Errorf("%s has mode %s", name, mode)
		}
	}
	if !strings.Contains(string(out), "root.key") {
		t.Errorf("no key was made: %s", out)
	}
	for _, word := range []string{"installing root", "trust store (you"} {
		if strings.Contains(i.output(), word) {
			t.Errorf("the log speaks of %q:\n%s", word, i.output())
		}
	}
	i.stop()
}
