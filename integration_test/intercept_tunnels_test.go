package integration_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// tunnelsHost is a gate that opens tunnels without looking inside.
var tunnelsHost = proxySite("tunnels host")

// TestR82_Tunnels: a CONNECT that is not intercepted is refused, or opened where
// the agent's group disallows nothing on that very host and port.
func TestR82_Tunnels(t *testing.T) {
	for name, test := range map[string]struct {
		site   string
		agent  string
		status int
		mark   string
		reason string
	}{
		"refused by default":                {proxySite(), "User-Agent: OpenBot/1.0\r\n", 403, "deny; reason=tunnel_opaque", "tunnel_opaque"},
		"refused whoever asks":              {"robots_gate\n\tegress_proxy", "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\r\n", 403, "deny; reason=tunnel_opaque", "tunnel_opaque"},
		"a group that disallows nothing":    {tunnelsHost, "User-Agent: OpenBot/1.0\r\n", 200, "", "no_rule"},
		"a group that disallows something":  {tunnelsHost, "User-Agent: ExampleBot/1.0\r\n", 403, "deny; reason=tunnel_opaque", "tunnel_opaque"},
		"no User-Agent is the group of all": {tunnelsHost, "", 403, "deny; reason=tunnel_opaque", "tunnel_opaque"},
		"a configured token":                {proxySite("tunnels host", "token openbot"), "", 200, "", "no_rule"},
		"report mode":                       {proxySite("mode report"), "User-Agent: ExampleBot/1.0\r\n", 200, "would-deny; reason=tunnel_opaque", "tunnel_opaque"},
		"skipped by the interception":       {"tls_intercept {\n\t\tskip *.other.test h1.test\n\t}\n\t" + tunnelsHost, "User-Agent: OpenBot/1.0\r\n", 200, "", "no_rule"},
		"skipped and refused":               {"tls_intercept {\n\t\tskip h1.test\n\t}\n\t" + proxySite(), "User-Agent: OpenBot/1.0\r\n", 403, "deny; reason=tunnel_opaque", "tunnel_opaque"},
		"no gate before the forwarder":      {"egress_proxy", "", 403, "deny; reason=tunnel_opaque", "tunnel_opaque"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := startInterceptor(t, test.site)
			authority := "h1.test:" + i.origin.Port
			conn, reader, resp := connect(t, i.Addr, authority, test.agent)
			if resp.StatusCode != test.status || resp.Header.Get("X-Robots-Gate") != test.mark {
				t.Fatalf("got %s %v", resp.Status, resp.Header)
			}
			if test.status == 200 {
				i.throughTunnel(t, conn, reader)
			}
			conn.Close()
			i.stop()
			records := readLog(t, i.log)
			if len(records) != 1 || records[0].Robots.Reason != test.reason || records[0].Robots.URL != "https://"+authority+"/" || records[0].Status != test.status {
				t.Errorf("the log has %+v", records)
			}
		})
	}
}

// throughTunnel speaks with the origin itself: its certificate, its pages.
func (i *interceptor) throughTunnel(t *testing.T, conn net.Conn, reader *bufio.Reader) {
	t.Helper()
	if reader.Buffered() > 0 {
		t.Fatal("the origin spoke before the client")
	}
	inner := tls.Client(conn, &tls.Config{ServerName: "h1.test", InsecureSkipVerify: true})
	fmt.Fprintf(inner, "GET /private/x HTTP/1.1\r\nHost: h1.test:%s\r\nConnection: close\r\n\r\n", i.origin.Port)
	answer, err := io.ReadAll(inner)
	if err != nil || !bytes.HasSuffix(answer, []byte(securePage("h1.test:"+i.origin.Port, "/private/x"))) {
		t.Errorf("got %q, %v", answer, err)
	}
	if issuer := inner.ConnectionState().PeerCertificates[0].Issuer.CommonName; issuer != "origins of a test" {
		t.Errorf("the certificate is of %q: the tunnel was looked into", issuer)
	}
}

// TestR82_Port: rules of one port say nothing about another.
func TestR82_Port(t *testing.T) {
	i := startInterceptor(t, tunnelsHost)
	_, _, resp := connect(t, i.Addr, "h1.test:8443", "User-Agent: OpenBot/1.0\r\n")
	if resp.StatusCode != 403 || resp.Header.Get("X-Robots-Gate") != "deny; reason=port_denied" {
		t.Errorf("got %s %v", resp.Status, resp.Header)
	}
	// 127.0.0.2 has no listener on that port: its robots.txt is unreachable.
	_, _, resp = connect(t, i.Addr, "127.0.0.2:"+i.origin.Port, "User-Agent: OpenBot/1.0\r\n")
	if resp.StatusCode != 503 || resp.Header.Get("X-Robots-Gate") != "deny; reason=unreachable" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("got %s %v", resp.Status, resp.Header)
	}
	i.stop()
}

// TestTunnelHalfClose: what one side has said last arrives although the other
// still speaks, and both ends are told of the end.
func TestTunnelHalfClose(t *testing.T) {
	i := startInterceptor(t, tunnelsHost)
	conn, _, resp := connect(t, i.Addr, "h1.test:"+i.origin.Port, "User-Agent: OpenBot/1.0\r\n")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s", resp.Status)
	}
	// No TLS: the origin answers in clear and closes.
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(conn); err != nil || !bytes.Contains(rest, []byte("400")) {
		t.Errorf("got %q, %v, want the origin's 400 and the end", rest, err)
	}
	i.stop()
}
