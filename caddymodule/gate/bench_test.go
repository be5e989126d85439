package gate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/caddymodule/app"
)

// BenchmarkGate measures a whole decision about a warm origin above a handler
// that does nothing, with the request's own preparation left out of both.
func BenchmarkGate(b *testing.B) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /private/\nAllow: /private/open\n"))
	}))
	defer origin.Close()
	port := origin.URL[len("http://127.0.0.1:"):]
	a := runApp(b, &app.App{AllowRanges: []string{"127.0.0.0/8"}, Ports: []string{port}})
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	g := &Gate{Agents: "all", app: a, logger: zap.NewNop()}
	if err := g.Validate(); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name    string
		handler func(http.ResponseWriter, *http.Request) error
	}{
		{"handler=noop", next.ServeHTTP},
		{"handler=gate", func(w http.ResponseWriter, r *http.Request) error { return g.ServeHTTP(w, r, next) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost:"+port+"/catalogue/books?page=2", http.NoBody)
			r.Header.Set("User-Agent", "ExampleBot/1.0 (+https://example.com/bot)")
			w := httptest.NewRecorder()
			vars := map[string]any{}
			reqCtx := context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars)
			r = r.WithContext(reqCtx)
			if err := bench.handler(w, r); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				// Each request has variables of its own.
				clear(vars)
				_ = bench.handler(w, r)
			}
		})
	}
}

// runApp runs the app alone.
func runApp(b *testing.B, a *app.App) *app.App {
	b.Helper()
	err := caddy.Run(&caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true, Config: &caddy.ConfigSettings{Persist: new(bool)}},
		AppsRaw: caddy.ModuleMap{"robots_gate": caddyconfig.JSON(a, nil)},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{Level: "ERROR"}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = caddy.Stop() })
	instance, err := caddy.ActiveContext().App("robots_gate")
	if err != nil {
		b.Fatal(err)
	}
	return instance.(*app.App)
}
