package gate_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
)

// TestReload loads configurations over running ones, a refused one among them:
// copies, counters, the gate's id and the numbering go on.
func TestReload(t *testing.T) {
	r := gatetest.New(t)
	serveHosts(r)
	r.Serve(gatetest.Forward)
	ask := func() { r.Get(r.URL("grouped.test", "/private")) }
	ask()
	r.Serve(all("paths rfc"))
	ask()
	// One refused while it is read, one only when it starts: its second
	// site's port is taken.
	for _, sites := range []string{
		":0 {\nbind 127.0.0.1\nlog\n" + all("target ftp://x") + "}\n",
		":0 {\nbind 127.0.0.1\nlog\n" + gatetest.Forward + "}\nhttp://:" + r.Port + " {\nbind 127.0.0.1\n}\n",
	} {
		if err := r.TryLoad("", sites); err == nil {
			t.Fatalf("%s is accepted", sites)
		}
		ask()
	}
	r.Load("fetch {\n\tuser_agent other/1.0\n}", ":0 {\nbind 127.0.0.1\nlog\n"+gatetest.Forward+"}\n")
	ask()
	first := r.Access(5)[0].Robots
	for i := range 5 {
		source := "memory"
		if i == 0 {
			source = "fetched"
		}
		wantFields(t, r.Record(i+1), map[string]any{"seq": float64(i + 1), "gate": first["gate"], "source": source, "reason": "disallowed", "fetched_at": first["fetched_at"]})
	}
	if got := len(r.Origin.Log("grouped.test")); got != 1 {
		t.Errorf("robots.txt was fetched %d times", got)
	}
	if got := metrics(t)[`caddy_robots_gate_decisions_total{decision="deny",enforced="true",reason="disallowed"}`]; got != 5 {
		t.Errorf("5 denials are counted as %v", got)
	}
}

// TestMetrics wants every collector of this engine, none with a label that a
// client could fill.
func TestMetrics(t *testing.T) {
	r := gatetest.New(t)
	serveHosts(r)
	r.Serve(gatetest.Forward)
	for _, url := range []string{
		r.URL("grouped.test", "/private"), r.URL("grouped.test", "/open"), r.URL("down.test", "/"),
		r.URL("metadata.special.test", "/"), "http://grouped.test:1/", r.URL("missing.test", "/"),
	} {
		r.Get(url)
	}
	r.Access(6)
	all := metrics(t)
	for series, want := range map[string]float64{
		`decisions_total{decision="deny",enforced="true",reason="disallowed"}`:     1,
		`decisions_total{decision="allow",enforced="true",reason="no_rule"}`:       1,
		`decisions_total{decision="deny",enforced="true",reason="unreachable"}`:    1,
		`decisions_total{decision="deny",enforced="true",reason="address_denied"}`: 1,
		`decisions_total{decision="deny",enforced="true",reason="port_denied"}`:    1,
		`decisions_total{decision="allow",enforced="true",reason="unavailable"}`:   1,
		`cache_lookups_total{source="memory"}`:                                     1,
		`cache_lookups_total{source="fetched"}`:                                    4,
		`decision_duration_seconds`:                                                6,
		`fetch_duration_seconds`:                                                   4,
		`fetches_in_flight`:                                                        0,
	} {
		if got, there := all["caddy_robots_gate_"+series]; !there || got != want {
			t.Errorf("%s is %v, not %v", series, got, want)
		}
	}
	for _, name := range []string{"fetches_total{", "cache_entries", "cache_bytes", "dial_denied_total{"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(series string) bool {
			return strings.HasPrefix(series, "caddy_robots_gate_"+name)
		}) {
			t.Errorf("there is no %s", name)
		}
	}
	for series := range all {
		for _, told := range []string{".test", "169.254", "examplebot", "private", "host=", "path=", "agent="} {
			if strings.HasPrefix(series, "caddy_robots_gate_") && strings.Contains(series, told) {
				t.Errorf("the series %s tells %s", series, told)
			}
		}
	}
}

// metrics reads the registry of the running configuration: counters and gauges
// by their value, histograms by their count.
func metrics(t *testing.T) map[string]float64 {
	t.Helper()
	ctx := caddy.ActiveContext()
	families, err := ctx.GetMetricsRegistry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			if labels := m.GetLabel(); len(labels) > 0 {
				var pairs []string
				for _, label := range labels {
					pairs = append(pairs, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
				}
				name += "{" + strings.Join(pairs, ",") + "}"
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// TestOneRecordEach sends many requests at once: one record each, numbered
// without gaps, one fetch for all.
func TestOneRecordEach(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	const n = 60
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() { r.Get(r.URL("ok.test", []string{"/open", "/private", "/x#y"}[i%3])) })
	}
	clients.Wait()
	for i := range n {
		wantFields(t, r.Access(n)[i].Robots, map[string]any{"seq": float64(i + 1)})
	}
	if got := len(r.Access(n)); got != n {
		t.Errorf("%d requests have %d records", n, got)
	}
	fetches := 0
	for _, e := range r.Origin.Log("ok.test") {
		if e.Target == "/robots.txt" {
			fetches++
		}
	}
	if fetches != 1 {
		t.Errorf("robots.txt was fetched %d times", fetches)
	}
}

func init() {
	caddy.RegisterModule(Trap{})
	httpcaddyfile.RegisterHandlerDirective("trap", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) { return Trap{}, nil })
	httpcaddyfile.RegisterDirectiveOrder("trap", httpcaddyfile.Before, "request_header")
}

// Trap sets a placeholder that panics when it is replaced.
type Trap struct{}

// CaddyModule returns the Caddy module information.
func (Trap) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.trap", New: func() caddy.Module { return new(Trap) }}
}

// UnmarshalCaddyfile reads nothing.
func (Trap) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

func (Trap) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).Map(func(key string) (any, bool) {
		if key == "trap.now" {
			panic("sprung")
		}
		return nil, false
	})
	return next.ServeHTTP(w, r)
}

// TestPanic lets the decision panic: denied, recorded, logged with its stack,
// and the process lives; report mode does not loosen it.
func TestPanic(t *testing.T) {
	for _, mode := range []string{"enforce", "report"} {
		t.Run(mode, func(t *testing.T) {
			r := gatetest.Start(t, "trap\n"+all("mode "+mode+"\njob {trap.now}"))
			res := r.Get(r.URL("ok.test", "/open"))
			wantDenial(t, r, res, 500, "internal", "proxy_internal_error")
			if logged := r.Log("panic while deciding; the request is denied", 1)[0]; logged.Level != "error" || logged.Fields["stack"] == nil {
				t.Errorf("the panic is logged as %s", logged.Line)
			}
			if strings.Contains(res.Body, "sprung") || len(r.Origin.Log("")) > 0 {
				t.Errorf("the answer is %s, the origin saw %d requests", res.Body, len(r.Origin.Log("")))
			}
		})
	}
}

// TestTwoGates puts one gate behind another: the request still has one record.
func TestTwoGates(t *testing.T) {
	r := gatetest.Start(t, "route {\nrobots_gate {\nagents all\n}\nrobots_gate {\nagents all\npaths rfc\n}\negress_proxy\n}\n")
	r.Get(r.URL("ok.test", "/open"))
	r.Get(r.URL("ok.test", "/open"))
	// The second request's entry may be written before the first one's.
	wantFields(t, r.Record(2), map[string]any{"seq": 2.0})
	wantFields(t, r.Record(1), map[string]any{"seq": 1.0})
	if got := metrics(t)[`caddy_robots_gate_decisions_total{decision="allow",enforced="true",reason="no_rule"}`]; got != 2 {
		t.Errorf("two requests are counted as %v decisions", got)
	}
}
