package faultorigin_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// send writes bytes to the origin and reads all that it answers.
func send(t *testing.T, o *faultorigin.Origin, raw string) string {
	t.Helper()
	conn, err := net.Dial("tcp", o.PlainAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestLogHoldsWhatWasSent(t *testing.T) {
	o := faultorigin.Start(t)
	const first = "GET /a/../%70?x=%zz&;y HTTP/1.1\r\nhost: OK.test:8080\r\nX-Odd:  two  spaces \r\n\r\n"
	const second = "POST /b HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
	answer := send(t, o, first+second)
	if n := strings.Count(answer, "HTTP/1.1 200"); n != 2 {
		t.Errorf("%d answers: %q", n, answer)
	}
	log := o.Log("")
	if len(log) != 2 || string(log[0].Raw) != first || string(log[1].Raw) != second || log[0].Target != "/a/../%70?x=%zz&;y" {
		t.Errorf("log: %+v", log)
	}
	if len(o.Log("ok.test")) != 1 || o.Accepts() != 1 {
		t.Errorf("%d of the host, %d connections", len(o.Log("ok.test")), o.Accepts())
	}
}

func TestModes(t *testing.T) {
	o := faultorigin.Start(t)
	ask := func(host string) string {
		return send(t, o, "GET /robots.txt HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
	}
	for host, begins := range map[string]string{
		"ok.test": "HTTP/1.1 200", "st-451.test": "HTTP/1.1 451", "hops-2.1.test": "HTTP/1.1 301",
		"http09.test": "User-agent", "unknown.test": "HTTP/1.1 200",
	} {
		if got := ask(host); !strings.HasPrefix(got, begins) {
			t.Errorf("%s: %q", host, got)
		}
	}
	o.Set("ok.test", faultorigin.Status(503))
	if got := ask("ok.test"); !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("set: %q", got)
	}
	o.Set("ok.test", nil)
	if got := ask("ok.test"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("unset: %q", got)
	}
}
