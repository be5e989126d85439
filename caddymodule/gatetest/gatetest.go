// Package gatetest runs whole gates inside tests: a real Caddy from a
// Caddyfile, real origins on 127.0.0.1 that misbehave on request, names that
// resolve to them, and a log that can be read. Caddy is global to a process, so
// tests that use it do not run in parallel.
package gatetest

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	// The standard modules, as any build has them.
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/robotsgate/robotsgate/internal/faultorigin"
)

// Forward is the body of a site that is a forward proxy for everybody.
const Forward = `
	robots_gate {
		agents all
	}
	egress_proxy
`

// Rig is one gate with its origins.
type Rig struct {
	// Origin serves every name below .test, by the name's mode.
	Origin *faultorigin.Origin
	// Addr is where the gate's first server listens.
	Addr string
	// Port is the origin's for http, the only one with SecurePort that the
	// gate may reach.
	Port, SecurePort string

	t       testing.TB
	dns     string
	storage string
	logs    *logs
}

// New starts the origins; Load starts the gate. All ends with the test.
func New(t testing.TB) *Rig {
	t.Helper()
	r := &Rig{t: t, Origin: faultorigin.Start(t), storage: t.TempDir(), logs: openLogs(t), dns: startDNS(t)}
	_, r.Port, _ = net.SplitHostPort(r.Origin.PlainAddr())
	_, r.SecurePort, _ = net.SplitHostPort(r.Origin.SecureAddr())
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Errorf("stopping Caddy: %v", err)
		}
	})
	return r
}

// Start is New and Serve.
func Start(t testing.TB, site string) *Rig {
	t.Helper()
	r := New(t)
	r.Serve(site)
	return r
}

// Serve loads a configuration of one site, logged and open to every host.
func (r *Rig) Serve(site string) {
	r.t.Helper()
	r.Load("", ":0 {\n\tbind 127.0.0.1\n\tlog\n"+site+"\n}\n")
}

// Load loads a configuration: options of the global robots_gate block, and
// sites. It may be called again, for a reload.
func (r *Rig) Load(options, sites string) {
	r.t.Helper()
	if err := r.TryLoad(options, sites); err != nil {
		r.t.Fatalf("loading the configuration: %v", err)
	}
}

// TryLoad is Load for a configuration that may be refused.
func (r *Rig) TryLoad(options, sites string) error {
	r.t.Helper()
	if !strings.Contains(options, "allow_ranges") {
		options += "\n\t\tallow_ranges 127.0.0.0/8"
	}
	file := fmt.Sprintf(`{
	admin off
	persist_config off
	grace_period 2s
	storage file_system %q
	log default {
		output gatetest %s
		format json
		level DEBUG
	}
	robots_gate {
		ports %s %s
		resolvers %s
		%s
	}
}
%s`, r.storage, r.logs.id, r.Port, r.SecurePort, r.dns, options, sites)
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(file), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return fmt.Errorf("%w in:\n%s", err, file)
	}
	if err := caddy.Load(config, true); err != nil {
		return err
	}
	r.Addr = listener(r.t)
	return nil
}

// listener is the address of the running configuration's first server.
func listener(t testing.TB) string {
	t.Helper()
	instance, err := caddy.ActiveContext().AppIfConfigured("http")
	if err != nil {
		t.Fatalf("finding the gate's listener: %v", err)
	}
	for _, ln := range instance.(*caddyhttp.App).Servers["srv0"].Listeners() {
		return ln.Addr().String()
	}
	t.Fatal("the gate has no listener")
	return ""
}

// URL is an http URL of a host of the origin.
func (r *Rig) URL(host, target string) string {
	return "http://" + host + ":" + r.Port + target
}

// Storage is the folder of Caddy's storage.
func (r *Rig) Storage() string { return r.storage }

// Seen returns the targets that a host of the origin was asked for, without
// its robots.txt.
func (r *Rig) Seen(host string) []string {
	var targets []string
	for _, e := range r.Origin.Log(host) {
		if e.Target != "/robots.txt" {
			targets = append(targets, e.Target)
		}
	}
	return targets
}

// Pages gives a host a robots.txt, and other answers for everything else.
func (r *Rig) Pages(host, robots string, page faultorigin.Mode) {
	rules := faultorigin.Answer(200, "", robots)
	r.Origin.Set(host, func(c *faultorigin.Conn) bool {
		if c.Target == "/robots.txt" {
			return rules(c)
		}
		return page(c)
	})
}
