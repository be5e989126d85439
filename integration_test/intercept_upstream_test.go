package integration_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
)

// parentProxy is a forward proxy that leads everything to one address and
// writes down what it is asked.
type parentProxy struct {
	server *httptest.Server
	Addr   string
	target string // address of every origin
	refuse int    // status for whoever asks, 0 for none

	mu    sync.Mutex
	asked []string // METHOD target credentials agent
}

func newParentProxy(t *testing.T, target string) *parentProxy {
	t.Helper()
	p := &parentProxy{target: target}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	p.Addr = p.server.Listener.Addr().String()
	return p
}

func (p *parentProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Proxy-Authorization"), r.UserAgent()}, "|"))
	p.mu.Unlock()
	if p.refuse != 0 {
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(p.refuse)
		return
	}
	if r.Method != http.MethodConnect {
		(&httputil.ReverseProxy{
			Rewrite: func(pr *httputil.ProxyRequest) {},
			Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
				return net.Dial("tcp", p.target)
			}},
		}).ServeHTTP(w, r)
		return
	}
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	fmt.Fprint(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, near) }()
	_, _ = io.Copy(near, far)
}

func (p *parentProxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// throughParent starts a gate behind a parent proxy. Its own name server and
// allowed ranges are those of the internet: only the parent knows the origins.
func throughParent(t *testing.T, o *tlsOrigin, parent, directives string) *interceptor {
	t.Helper()
	if parent != "" {
		parent = "upstream " + parent
	}
	options := fmt.Sprintf("ports 80 %s\n\t\t%s\n\t\tfetch {\n\t\t\troot_ca %s\n\t\t}", o.Port, parent, o.CAFile)
	g := startGate(t, gateBinary, options, directives)
	return &interceptor{gate: g, origin: o, CAFile: rootFile(storageOf(g))}
}

// TestUpstream: pages and robots.txt files go through the parent, with its
// credentials and with the job's User-Agent, and nothing else is dialled.
func TestUpstream(t *testing.T) {
	o := newTLSOrigin(t)
	parent := newParentProxy(t, "127.0.0.1:"+o.Port)
	i := throughParent(t, o, "http://us%40er:s%3Acret@"+parent.Addr, interceptSite)
	client := i.client(t, false)
	status, _, body, _ := get(t, client, o.url("shop.test", "/open"), "User-Agent: ExampleBot/1.0")
	if status != 200 || body != securePage("shop.test:"+o.Port, "/open") {
		t.Errorf("got %d %q", status, body)
	}
	if status, _, _, _ = get(t, client, o.url("shop.test", "/private/x"), "User-Agent: ExampleBot/1.0"); status != 403 {
		t.Errorf("disallowed page: got %d", status)
	}
	const credentials = "Basic dXNAZXI6czpjcmV0" // us@er:s:cret
	// First robots.txt, then the page.
	asked := parent.requests()
	connect := "CONNECT|shop.test:" + o.Port + "|" + credentials + "|"
	if len(asked) != 2 || !strings.HasPrefix(asked[0], connect) || asked[1] != connect+"ExampleBot/1.0" {
		t.Errorf("the parent was asked %q", asked)
	}
	i.stop()
	if strings.Contains(i.output(), "s:cret") || strings.Contains(i.output(), "s%3Acret") || strings.Contains(i.output(), credentials) {
		t.Errorf("the log has the parent's credentials:\n%s", i.output())
	}
}

// TestUpstreamPlain: http pages are asked for in absolute form.
func TestUpstreamPlain(t *testing.T) {
	origin := newOrigin(t, []site{{Host: "plain.test", Robots: []byte("User-agent: *\nDisallow: /private/\n")}})
	parent := newParentProxy(t, "127.0.0.1:"+origin.Port)
	g := startGate(t, gateBinary, "ports "+origin.Port+"\n\t\tupstream http://"+parent.Addr, proxySite())
	url := "http://plain.test:" + origin.Port
	answers := sendGo(t, g.Addr, []request{
		{Host: "plain.test:" + origin.Port, Target: "/page?b=%2F", Agent: "ExampleBot/1.0", Method: http.MethodGet},
		{Host: "plain.test:" + origin.Port, Target: "/private/x", Agent: "ExampleBot/1.0", Method: http.MethodGet},
	})
	if want, _ := page("plain.test:"+origin.Port, "/page?b=%2F"); answers[0].Status != want || answers[1].Status != 403 {
		t.Errorf("got %+v, want %d and 403", answers, want)
	}
	want := []string{"GET|" + url + "/robots.txt||ExampleBot/1.0", "GET|" + url + "/page?b=%2F||ExampleBot/1.0"}
	if got := parent.requests(); !slices.Equal(got, want) {
		t.Errorf("the parent was asked %q, want %q", got, want)
	}
	g.stop()
}

// TestUpstreamPlaceholders: the forwarder's own parent may depend on the
// request; robots.txt files do not take it.
func TestUpstreamPlaceholders(t *testing.T) {
	o := newTLSOrigin(t)
	parent := newParentProxy(t, "127.0.0.1:"+o.Port)
	site := "tls_intercept\n\trobots_gate {\n\t\tagents all\n\t}\n\tegress_proxy {\n\t\tupstream http://{http.request.header.X-Job}:pw@" + parent.Addr + "\n\t}"
	g := startGate(t, gateBinary, o.options(t), site)
	i := &interceptor{gate: g, origin: o, CAFile: rootFile(storageOf(g))}
	client := i.client(t, true)
	if status, _, _, _ := get(t, client, o.url("shop.test", "/open"), "User-Agent: ExampleBot/1.0", "X-Job: a@b"); status != 200 {
		t.Errorf("got %d", status)
	}
	want := []string{"CONNECT|shop.test:" + o.Port + "|Basic YUBiOnB3|ExampleBot/1.0"}
	if got := parent.requests(); !slices.Equal(got, want) {
		t.Errorf("the parent was asked %q, want %q", got, want)
	}
	i.stop()
}

// TestUpstreamTunnels: a tunnel that is not intercepted goes through too, and
// so do literal addresses: those are judged all the same.
func TestUpstreamTunnels(t *testing.T) {
	o := newTLSOrigin(t)
	parent := newParentProxy(t, "127.0.0.1:"+o.Port)
	i := throughParent(t, o, "http://"+parent.Addr, tunnelsHost)
	conn, reader, resp := connect(t, i.Addr, "h1.test:"+o.Port, "User-Agent: OpenBot/1.0\r\n")
	if resp.StatusCode != 200 {
		t.Fatalf("got %s %v", resp.Status, resp.Header)
	}
	i.throughTunnel(t, conn, reader)
	for target, reason := range map[string]string{"10.0.0.1:" + o.Port: "address_denied", "127.0.0.1:" + o.Port: "address_denied", "h1.test:25": "port_denied"} {
		_, _, resp := connect(t, i.Addr, target, "User-Agent: OpenBot/1.0\r\n")
		if resp.Header.Get("X-Robots-Gate") != "deny; reason="+reason {
			t.Errorf("%s: got %s %v, want %s", target, resp.Status, resp.Header, reason)
		}
	}
	if asked := parent.requests(); len(asked) != 2 || asked[1] != "CONNECT|h1.test:"+o.Port+"||OpenBot/1.0" {
		t.Errorf("the parent was asked %q", asked)
	}
	i.stop()
}

// TestUpstreamRefuses: a parent that refuses is an origin error that says so,
// and never a reason for the client to send credentials.
func TestUpstreamRefuses(t *testing.T) {
	o := newTLSOrigin(t)
	parent := newParentProxy(t, "127.0.0.1:"+o.Port)
	parent.refuse = 407
	site := "tls_intercept\n\trobots_gate {\n\t\tagents all\n\t\tunreachable allow\n\t}\n\tegress_proxy"
	i := throughParent(t, o, "http://"+parent.Addr, site)
	status, header, body, _ := get(t, i.client(t, false), o.url("shop.test", "/open"), "User-Agent: ExampleBot/1.0")
	if status != 502 || !strings.Contains(body, "407") || !strings.Contains(header.Get("Proxy-Status"), "upstream proxy answered 407") || header.Get("Proxy-Authenticate") != "" {
		t.Errorf("https: got %d %v %s", status, header, body)
	}
	plain := sendGo(t, i.Addr, []request{{Host: "plain.test", Target: "/", Agent: "ExampleBot/1.0", Method: http.MethodGet}})
	if plain[0].Status != 502 {
		t.Errorf("http: got %+v", plain[0])
	}
	i.stop()
}
