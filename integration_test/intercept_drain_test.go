package integration_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hold begins requests that the origin does not finish yet, over both
// protocols, and returns when it has them all.
func (i *interceptor) hold(t *testing.T) (finished func() []string) {
	t.Helper()
	var requests sync.WaitGroup
	got := make([]string, 2)
	for n, http2 := range []bool{false, true} {
		client := i.client(t, http2)
		requests.Go(func() {
			resp, err := client.Get(i.origin.url(fmt.Sprintf("hold%d.test", n), "/hold"))
			if err != nil {
				got[n] = err.Error()
				return
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			got[n] = string(body)
			if err != nil {
				got[n] += err.Error()
			}
		})
	}
	for range got {
		select {
		case <-i.origin.arrived:
		case <-time.After(startLimit):
			t.Fatal("the requests do not arrive at the origin")
		}
	}
	return func() []string {
		requests.Wait()
		return got
	}
}

// idle opens an intercepted connection whose only request is done.
func (i *interceptor) idle(t *testing.T) *tls.Conn {
	t.Helper()
	conn, err := i.handshake(t, "idle.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /open HTTP/1.1\r\nHost: idle.test:%s\r\n\r\n", i.origin.Port)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return conn
}

// reload changes a gate's configuration and returns when the new one serves.
func (g *gate) reload(old, changed string) {
	g.t.Helper()
	file := filepath.Join(filepath.Dir(g.log), "Caddyfile")
	text, err := os.ReadFile(file)
	if err != nil {
		g.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		g.t.Fatalf("the configuration has no %q", old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, changed, 1)), 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := g.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		g.t.Fatal(err)
	}
	for limit := time.Now().Add(startLimit); !strings.Contains(g.output(), "successfully reloaded config"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			g.t.Fatalf("the gate did not reload:\n%s", g.output())
		}
	}
}

// TestR57_ReloadFinishesRequests: a reload cuts no request inside a tunnel, ends
// idle connections, and the new configuration serves new ones.
func TestR57_ReloadFinishesRequests(t *testing.T) {
	i := startInterceptor(t, interceptSite)
	idle := i.idle(t)
	finished := i.hold(t)
	i.reload("tls_intercept", "tls_intercept {\n\t\tmax_leaves 7\n\t}")
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection after the reload: %v, want its end", err)
	}
	if status, _, _, _ := get(t, i.client(t, true), i.origin.url("new.test", "/open")); status != 200 {
		t.Errorf("a new request got %d", status)
	}
	close(i.origin.release)
	for n, got := range finished() {
		if got != "begun and done" {
			t.Errorf("request %d got %q", n, got)
		}
	}
	i.stop()
	if records := readLog(t, i.log); len(records) != 4 {
		t.Errorf("%d records, want one for each request: %+v", len(records), records)
	}
}

// TestR58_TerminationFinishesRequests: SIGTERM waits for requests inside
// tunnels, for those of an earlier configuration too.
func TestR58_TerminationFinishesRequests(t *testing.T) {
	for _, reloaded := range []bool{false, true} {
		t.Run(fmt.Sprintf("reloaded=%v", reloaded), func(t *testing.T) {
			i := startInterceptor(t, interceptSite)
			idle := i.idle(t)
			finished := i.hold(t)
			if reloaded {
				i.reload("tls_intercept", "tls_intercept {\n\t\tmax_leaves 7\n\t}")
			}
			if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			// Once the idle connection is closed, the shutdown has begun.
			if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("an idle connection after SIGTERM: %v, want its end", err)
			}
			close(i.origin.release)
			for n, got := range finished() {
				if got != "begun and done" {
					t.Errorf("request %d got %q", n, got)
				}
			}
			i.awaitEnd()
			if records := readLog(t, i.log); len(records) != 3 {
				t.Errorf("%d records, want one for each request: %+v", len(records), records)
			}
		})
	}
}

// awaitEnd demands a clean exit of a gate that was told to end.
func (g *gate) awaitEnd() {
	g.t.Helper()
	select {
	case <-g.exited:
		if g.waitErr != nil {
			g.t.Errorf("the gate ended with %v:\n%s", g.waitErr, g.output())
		}
	case <-time.After(stopLimit):
		g.t.Fatalf("the gate still runs %v after SIGTERM:\n%s", stopLimit, g.output())
	}
}

// TestTunnelsDrain: a tunnel that nobody looks into is closed at a quiet
// moment, not while something passes.
func TestTunnelsDrain(t *testing.T) {
	i := startInterceptor(t, tunnelsHost)
	conn, _, resp := connect(t, i.Addr, "h1.test:"+i.origin.Port, "User-Agent: OpenBot/1.0\r\n")
	if resp.StatusCode != 200 {
		t.Fatalf("got %s", resp.Status)
	}
	inner := tls.Client(conn, &tls.Config{ServerName: "h1.test", InsecureSkipVerify: true})
	fmt.Fprintf(inner, "GET /stream?bytes=%d HTTP/1.1\r\nHost: h1.test:%s\r\n\r\n", 64<<20, i.origin.Port)
	reader := bufio.NewReader(inner)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, answer.Body); n != 64<<20 || err != nil {
		t.Errorf("%d octets arrived, %v", n, err)
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the tunnel goes on after SIGTERM")
	}
	i.awaitEnd()
}
