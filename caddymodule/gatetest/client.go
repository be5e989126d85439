package gatetest

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Response is an answer of the gate.
type Response struct {
	Status  int
	Header  http.Header
	Trailer http.Header
	Body    string
	// Closed reports whether the connection ends with this answer.
	Closed bool
}

// Problem reads the body as application/problem+json.
func (r *Rig) Problem(res *Response) map[string]any {
	r.t.Helper()
	if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
		r.t.Fatalf("Content-Type is %q, not application/problem+json; body:\n%s", got, res.Body)
	}
	var problem map[string]any
	if err := json.Unmarshal([]byte(res.Body), &problem); err != nil {
		r.t.Fatalf("reading the problem: %v; body:\n%s", err, res.Body)
	}
	return problem
}

// Get asks the gate, as its proxy, for a URL with the User-Agent examplebot/1.0
// and further header lines.
func (r *Rig) Get(url string, header ...string) *Response {
	r.t.Helper()
	return r.Ask("GET", url, header...)
}

// Ask is Get with another method.
func (r *Rig) Ask(method, url string, header ...string) *Response {
	r.t.Helper()
	_, rest, _ := strings.Cut(url, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	lines := append([]string{method + " " + url + " HTTP/1.1", "Host: " + host, "User-Agent: examplebot/1.0"}, header...)
	return r.Raw(method, strings.Join(lines, "\r\n")+"\r\n\r\n")
}

// Raw sends octets on a connection of their own and reads one answer to a
// request of that method.
func (r *Rig) Raw(method, octets string) *Response {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.Addr)
	if err != nil {
		r.t.Fatalf("connecting to the gate: %v", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, octets); err != nil {
		r.t.Fatalf("sending the request: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		r.t.Fatalf("reading the gate's answer: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatalf("reading the gate's answer: %v", err)
	}
	return &Response{Status: res.StatusCode, Header: res.Header, Trailer: res.Trailer, Body: string(body), Closed: res.Close}
}
