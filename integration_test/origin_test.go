package integration_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/robotsgate/robotsgate/integration_test/oracle"
)

// site is one origin host as the test wants it to be. Host has no port.
type site struct {
	Host   string
	Robots []byte
	Status int // of /robots.txt; 0 means 200

	rules oracle.Robots // what the oracle reads there
}

// maxBody is how much of a robots.txt the gate reads by default.
const maxBody = 500 << 10

// exchange is one request as it came out of the origin's socket.
type exchange struct {
	Head   string // every octet up to and with the empty line
	Method string
	Target string // as on the request line
	Host   string
	Agent  string
	Header http.Header
	Body   [sha256.Size]byte
}

// origin is every site in one process, told apart by the Host header. It keeps
// what it read from its sockets: nothing that arrives can go unseen.
type origin struct {
	Port  string
	sites map[string]site

	mu   sync.Mutex
	log  []exchange
	junk []string // octets that were no request
}

func newOrigin(t *testing.T, sites []site) *origin {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	o := &origin{Port: port, sites: map[string]site{}}
	for _, s := range sites {
		o.sites[s.Host+":"+port] = s
	}
	var conns sync.WaitGroup
	var open sync.Map
	t.Cleanup(func() {
		listener.Close()
		open.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
		conns.Wait()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(conn, nil)
			conns.Go(func() {
				defer open.Delete(conn)
				defer conn.Close()
				o.serve(conn)
			})
		}
	}()
	return o
}

// tee keeps the octets that were read through it.
type tee struct {
	io.Reader
	kept bytes.Buffer
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.kept.Write(p[:n])
	return n, err
}

func (o *origin) serve(conn net.Conn) {
	in := &tee{Reader: conn}
	reader := bufio.NewReader(in)
	for {
		req, err := http.ReadRequest(reader)
		if err != nil {
			if in.kept.Len() > 0 && !errors.Is(err, net.ErrClosed) {
				o.mu.Lock()
				o.junk = append(o.junk, in.kept.String())
				o.mu.Unlock()
			}
			return
		}
		if req.Header.Get("Expect") != "" {
			if _, err := io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
				return
			}
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		head, _, _ := strings.Cut(in.kept.String(), "\r\n\r\n")
		in.kept.Next(in.kept.Len() - reader.Buffered())
		o.mu.Lock()
		o.log = append(o.log, exchange{
			Head: head + "\r\n\r\n", Method: req.Method, Target: req.RequestURI, Host: req.Host,
			Agent: req.UserAgent(), Header: req.Header, Body: sha256.Sum256(body),
		})
		o.mu.Unlock()
		if o.answer(conn, req) != nil {
			return
		}
	}
}

func (o *origin) answer(conn io.Writer, req *http.Request) error {
	status, body := page(req.Host, req.RequestURI)
	if req.RequestURI == "/robots.txt" {
		s := o.sites[req.Host]
		status, body = http.StatusOK, s.Robots
		if s.Status != 0 {
			status = s.Status
		}
	}
	var out bytes.Buffer
	// An origin may say what it likes about the gate: clients must not see it.
	fmt.Fprintf(&out, "HTTP/1.1 %d Status\r\nContent-Type: application/octet-stream\r\nX-Robots-Gate: forged\r\nContent-Length: %d\r\n\r\n", status, len(body))
	if req.Method != http.MethodHead {
		out.Write(body)
	}
	_, err := conn.Write(out.Bytes())
	return err
}

// page is what every site has under a target: octets that depend on nothing
// but host and target, so that both ends can know them.
func page(host, target string) (status int, body []byte) {
	r := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(host + " " + target))))
	status = []int{200, 200, 200, 200, 200, 200, 200, 201, 404, 410, 500}[r.IntN(11)]
	size := r.IntN(4 << 10)
	if r.IntN(20) == 0 {
		size = r.IntN(256 << 10)
	}
	return status, octets(r, size)
}

// exchanges returns what has arrived so far, robots.txt fetches apart.
func (o *origin) exchanges() (pages, robots []exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.log {
		if e.Target == "/robots.txt" {
			robots = append(robots, e)
		} else {
			pages = append(pages, e)
		}
	}
	return pages, robots
}
