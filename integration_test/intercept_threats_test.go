package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// rawHTTP sends octets to a gate in clear and returns the answers.
func rawHTTP(t *testing.T, addr, request string) []*http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return responses(t, conn)
}

// responses reads answers with their bodies until the connection ends.
func responses(t *testing.T, conn net.Conn) []*http.Response {
	t.Helper()
	var all []*http.Response
	reader := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			return all
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Errorf("reading a body: %v", err)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		all = append(all, resp)
		if resp.Close {
			return all
		}
	}
}

// TestR35_Rebinding: a name that leads to an allowed address when robots.txt is
// fetched, and to a refused one when the page is, gets nowhere.
func TestR35_Rebinding(t *testing.T) {
	o := newTLSOrigin(t)
	var mu sync.Mutex
	asked := map[string]int{}
	server := serveDNS(t, func(name string) net.IP {
		mu.Lock()
		defer mu.Unlock()
		asked[name]++
		if asked[name] > 1 {
			return net.IPv4(10, 0, 0, 1)
		}
		return net.IPv4(127, 0, 0, 1)
	})
	options := fmt.Sprintf("resolvers %s\n\t\tallow_ranges 127.0.0.0/8\n\t\tports %s\n\t\tfetch {\n\t\t\troot_ca %s\n\t\t}", server, o.Port, o.CAFile)
	g := startGate(t, gateBinary, options, interceptSite)
	i := &interceptor{gate: g, origin: o, CAFile: rootFile(storageOf(g))}
	status, header, body, _ := get(t, i.client(t, false), o.url("rebind.test", "/open"), "User-Agent: ExampleBot/1.0")
	if status != 403 || header.Get("X-Robots-Gate") != "deny; reason=address_denied" || !strings.Contains(header.Get("Proxy-Status"), "destination_ip_prohibited") {
		t.Errorf("got %d %v %s", status, header, body)
	}
	if pages := o.pages(); len(pages) != 0 {
		t.Errorf("the origin got %+v", pages)
	}
	i.stop()
	records := readLog(t, i.log)
	if len(records) != 1 || records[0].Robots.Decision != "deny" || records[0].Robots.Reason != "address_denied" {
		t.Errorf("the log has %+v", records)
	}
}

// serveDNS starts a name server that answers queries for addresses.
func serveDNS(t *testing.T, answer func(name string) net.IP) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: conn, NotifyStartedFunc: func() { close(started) }}
	server.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		reply := new(dns.Msg).SetReply(query)
		for _, q := range query.Question {
			if q.Qtype == dns.TypeA {
				reply.Answer = append(reply.Answer, &dns.A{
					Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 0}, A: answer(q.Name),
				})
			}
		}
		_ = w.WriteMsg(reply)
	})
	go func() { _ = server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	return conn.LocalAddr().String()
}

// TestR39_OwnListeners: nobody reaches the gate through the gate, whatever is
// allowed, neither by address nor by name, in clear nor through a tunnel.
func TestR39_OwnListeners(t *testing.T) {
	options := fmt.Sprintf("resolvers %s\n\t\tallow_ranges 127.0.0.0/8 ::1\n\t\tports 1-65535", newDNS(t))
	g := startGate(t, gateBinary, options, interceptSite)
	_, port, _ := net.SplitHostPort(g.Addr)
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "any.test", "[::1]"} {
		target := host + ":" + port
		answers := rawHTTP(t, g.Addr, "GET http://"+target+"/ HTTP/1.1\r\nHost: x\r\nUser-Agent: ExampleBot\r\nConnection: close\r\n\r\n")
		if len(answers) != 1 || answers[0].Header.Get("X-Robots-Gate") != "deny; reason=address_denied" {
			t.Errorf("GET %s: got %+v", target, answers)
		}
	}
	_, _, resp := connect(t, g.Addr, "127.0.0.1:"+port, "")
	if resp.Header.Get("X-Robots-Gate") != "deny; reason=address_denied" {
		t.Errorf("CONNECT: got %s %v", resp.Status, resp.Header)
	}
	g.stop()
}

// TestR41_PolicyChange: a connection that was pooled under one policy is not
// used under the next.
func TestR41_PolicyChange(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	client := i.client(t, true)
	if status, _, _, _ := get(t, client, i.origin.url("shop.test", "/open")); status != 200 {
		t.Fatalf("got %d", status)
	}
	i.reload("allow_ranges 127.0.0.0/8", "deny_ranges 127.0.0.0/8")
	status, header, _, _ := get(t, client, i.origin.url("shop.test", "/open"))
	if status != 403 || header.Get("X-Robots-Gate") != "deny; reason=address_denied" {
		t.Errorf("after the change: got %d %v", status, header)
	}
	i.stop()
}

// TestR87_OriginCertificates: an origin whose certificate is not valid is an
// origin error, for its robots.txt and for its pages.
func TestR87_OriginCertificates(t *testing.T) {
	i := startInterceptor(t, "tls_intercept\n\t"+proxySite("unreachable allow"))
	for _, host := range []string{"expired.test", "wrong.test", "unknown.test"} {
		status, header, body, _ := get(t, i.client(t, false), i.origin.url(host, "/open"), "User-Agent: ExampleBot/1.0")
		if status != 502 || !strings.Contains(header.Get("Proxy-Status"), "error=tls_certificate_error") || !strings.Contains(body, "x509: ") {
			t.Errorf("%s: got %d %v %s", host, status, header, body)
		}
	}
	if pages := i.origin.pages(); len(pages) != 0 {
		t.Errorf("the origin got %+v", pages)
	}
	i.stop()
	for _, r := range readLog(t, i.log) {
		if r.Robots.Decision != "allow" || r.Robots.Reason != "unreachable_allowed" || r.Robots.Error == "" || r.Status != 502 {
			t.Errorf("record: %+v", r)
		}
	}
}

// TestR88_ManyNames: certificates for many names are bounded in number, are
// never stored, and still work when they are made again.
func TestR88_ManyNames(t *testing.T) {
	i := startInterceptor(t, "tls_intercept {\n\t\tmax_leaves 10\n\t}\n\t"+proxySite())
	before := storedFiles(t, storageOf(i.gate))
	for n := range 50 {
		conn, err := i.handshake(t, fmt.Sprintf("n%d.test", n%25), nil)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if after := storedFiles(t, storageOf(i.gate)); after != before {
		t.Errorf("storage had %q, has %q", before, after)
	}
	i.stop()
}

func storedFiles(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir + "/pki/authorities/robotsgate")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestR96_HopByHop: nothing that concerns one hop alone passes the gate,
// whatever Connection line names it; nothing of ours is added.
func TestR96_HopByHop(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	conn, err := i.handshake(t, "hop.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /headers HTTP/1.1\r\nHost: hop.test:%s\r\nUser-Agent: ExampleBot/1.0\r\nConnection: close, X-One\r\nConnection: X-Two\r\n"+
		"X-One: 1\r\nX-Two: 2\r\nX-Three: 3\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic c2VjcmV0\r\nTE: trailers, deflate\r\n\r\n", i.origin.Port)
	answers := responses(t, conn)
	if len(answers) != 1 {
		t.Fatalf("got %d answers", len(answers))
	}
	var header http.Header
	if err := json.NewDecoder(answers[0].Body).Decode(&header); err != nil {
		t.Fatal(err)
	}
	via := header.Get("Via")
	if !strings.HasPrefix(via, "1.1 robotsgate-") {
		t.Errorf("Via: %q", via)
	}
	header.Del("Via")
	if te := header.Get("Te"); te != "" && te != "trailers" {
		t.Errorf("TE: %q", te)
	}
	header.Del("Te")
	if len(header) != 2 || header.Get("User-Agent") != "ExampleBot/1.0" || header.Get("X-Three") != "3" {
		t.Errorf("the origin got %v", header)
	}
	// The origin's own Via is what a second pass would bring.
	conn, err = i.handshake(t, "hop.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /headers HTTP/1.1\r\nHost: hop.test:%s\r\nVia: 1.1 other, %s\r\nConnection: close\r\n\r\n", i.origin.Port, via)
	if answers = responses(t, conn); len(answers) != 1 || answers[0].StatusCode != 508 || answers[0].Header.Get("X-Robots-Gate") != "deny; reason=loop" {
		t.Errorf("a loop: got %+v", answers)
	}
	i.stop()
}

// TestR97_Smuggling: what could be read as two requests is refused or judged
// as two.
func TestR97_Smuggling(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	host := "Host: h1.test:" + i.origin.Port + "\r\nUser-Agent: ExampleBot/1.0\r\n"
	hidden := "GET /private/hidden HTTP/1.1\r\n" + host + "\r\n"
	for name, octets := range map[string]string{
		"CL and TE":       "POST /upload HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"two CL":          "POST /upload HTTP/1.1\r\n" + host + "Content-Length: 0\r\nContent-Length: " + strconv.Itoa(len(hidden)) + "\r\n\r\n" + hidden,
		"bad TE":          "POST /upload HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n" + hidden,
		"space before TE": "POST /upload HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
		"pipelined":       "GET /first HTTP/1.1\r\n" + host + "\r\n" + hidden,
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := i.handshake(t, "h1.test", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, octets+"GET /last HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			for n, resp := range responses(t, conn) {
				if n == 1 && resp.StatusCode != 403 {
					t.Errorf("the hidden request got %s", resp.Status)
				}
			}
		})
	}
	for _, page := range i.origin.pages() {
		if strings.HasPrefix(page.URI, "/private") {
			t.Errorf("the origin got %+v", page)
		}
	}
	i.stop()
}

// TestR98_Methods: every method is judged.
func TestR98_Methods(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	client := i.client(t, true)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"} {
		for path, want := range map[string]int{"/open": 200, "/private/x": 403} {
			req, err := http.NewRequestWithContext(t.Context(), method, i.origin.url("m.test", path), nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s %s: got %d, want %d", method, path, resp.StatusCode, want)
			}
		}
	}
	for _, page := range i.origin.pages() {
		if page.URI != "/open" {
			t.Errorf("the origin got %+v", page)
		}
	}
	i.stop()
}

// TestR99_NoEmptyAnswers: a catch-all site serves whatever host is asked for;
// there is no host for which Caddy's empty 200 shows.
func TestR99_NoEmptyAnswers(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	client := i.client(t, true)
	for _, host := range []string{"a.test", "localhost", "xn--bcher-kva.test", "a_b.test"} {
		status, _, body, _ := get(t, client, i.origin.url(host, "/open"), "User-Agent: ExampleBot/1.0")
		if status != 200 || body == "" {
			t.Errorf("%s: got %d %q", host, status, body)
		}
	}
	i.stop()
}

// TestLargeDownload: memory stays flat while much passes, through interception
// over both protocols.
func TestLargeDownload(t *testing.T) {
	if testing.Short() {
		t.Skip("1 GiB takes some seconds")
	}
	i := startInterceptor(t, interceptSite)
	const size = 1 << 30
	for _, http2 := range []bool{false, true} {
		client := i.client(t, http2)
		get(t, client, i.origin.url("big.test", "/open"))
		before := peakMemory(t, i.cmd.Process.Pid)
		resp, err := client.Get(i.origin.url("big.test", "/stream?bytes="+strconv.Itoa(size)))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if n != size || err != nil {
			t.Errorf("http2 %v: %d octets arrived, %v", http2, n, err)
		}
		after := peakMemory(t, i.cmd.Process.Pid)
		t.Logf("http2 %v: peak memory %d MiB before, %d MiB after 1 GiB", http2, before>>20, after>>20)
		if after-before > 64<<20 {
			t.Errorf("http2 %v: memory grew from %d to %d bytes", http2, before, after)
		}
	}
	i.stop()
}

// peakMemory is the largest resident set that a process has had, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc to read memory from")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
