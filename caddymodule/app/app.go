// Package app is the robots_gate app: the engine that every gate of a server
// shares. It holds the cache of robots.txt files, the fetcher, the address
// guard and the metrics, and works without any configuration.
package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/dialguard"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/store"
)

func init() {
	caddy.RegisterModule(&App{})
}

// App is the engine that the robots_gate handlers of all servers share. All
// fields are optional.
type App struct {
	// How robots.txt files are kept.
	Cache *Cache `json:"cache,omitempty"`

	// How robots.txt files are fetched.
	Fetch *Fetch `json:"fetch,omitempty"`

	// Destinations that are allowed although they lie in a special-purpose
	// address range, as CIDR ranges or single addresses. Default: none.
	AllowRanges []string `json:"allow_ranges,omitempty"`

	// Destinations that are denied, as CIDR ranges or single addresses; they
	// win over allow_ranges. Default: none beyond the special-purpose
	// ranges of the IANA registries and cloud metadata services.
	DenyRanges []string `json:"deny_ranges,omitempty"`

	// Ports of targets, as numbers or ranges such as `8000-8100`.
	// Default: `80` and `443`.
	Ports []string `json:"ports,omitempty"`

	// DNS servers instead of the system's, as `ip` or `ip:port`.
	// Default: the system's servers.
	Resolvers []string `json:"resolvers,omitempty"`

	// A parent proxy that pages and robots.txt files are fetched through, as
	// an http, https or socks5 URL, for example
	// `http://{env.PROXY_USER}:{env.PROXY_PASSWORD}@proxy.example:3128`.
	// Then only the parent is dialled, which is exempt from the address
	// policy. Default: none; the environment is never read.
	Upstream string `json:"upstream,omitempty"`

	// How long robots.txt bodies, their histories and the gates' policies stay
	// in storage for `robots verify`. Default: `8760h` (1 year).
	Archive caddy.Duration `json:"archive,omitempty"`

	ctx     caddy.Context
	logger  *zap.Logger
	engine  *engine
	events  *caddyevents.App
	guard   *dialguard.Guard
	fetcher *fetch.Fetcher
	store   *store.Store
	cache   *cache.Cache
	judge   *judge.Judge
	// policies of the gates of this configuration.
	policies []*judge.Compiled
	// authorities that intercept in this configuration, by their ids.
	authorities map[string]*Authority
	tls         *tls.Config
	parent      parent
	version     string
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "robots_gate",
		New: func() caddy.Module { return new(App) },
	}
}

// Provision builds the view of the shared engine that this configuration has.
// It changes nothing that is in use: a configuration may still be refused.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.logger, a.version = ctx, ctx.Logger(), Version()
	e, err := acquireEngine()
	if err != nil {
		return fmt.Errorf("opening the shared engine: %w", err)
	}
	a.engine = e
	if err := e.metrics.register(ctx.GetMetricsRegistry()); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := a.provisionEvents(); err != nil {
		return err
	}
	if err := a.provisionGuard(); err != nil {
		return err
	}
	return a.provisionCache()
}

// policy is the address policy as configured; errors name option and word.
func (a *App) policy() (dialguard.Config, error) {
	allow, err := dialguard.ParsePrefixes(a.AllowRanges)
	if err != nil {
		return dialguard.Config{}, fmt.Errorf("allow_ranges: %w", err)
	}
	deny, err := dialguard.ParsePrefixes(a.DenyRanges)
	if err != nil {
		return dialguard.Config{}, fmt.Errorf("deny_ranges: %w", err)
	}
	ports, err := dialguard.ParsePorts(a.Ports)
	if err != nil {
		return dialguard.Config{}, fmt.Errorf("ports: %w", err)
	}
	resolvers, err := dialguard.ParseResolvers(a.Resolvers)
	if err != nil {
		return dialguard.Config{}, fmt.Errorf("resolvers: %w", err)
	}
	return dialguard.Config{Allow: allow, Deny: deny, Ports: ports, Resolvers: resolvers}, nil
}

func (a *App) provisionGuard() error {
	policy, err := a.policy()
	if err != nil {
		return err
	}
	if a.parent, err = newParent(a.Upstream, policy.Resolvers); err != nil {
		return err
	}
	policy.IsOwn = a.isOwnListener
	policy.OnDenied = a.engine.metrics.dialDenied
	a.guard = dialguard.New(policy)
	return nil
}

// check refuses what Provision would refuse, for the Caddyfile's line numbers.
func (a *App) check() error {
	policy, err := a.policy()
	if err != nil {
		return err
	}
	// Placeholders are of the gate's environment, not of the adapter's.
	if !strings.Contains(a.Upstream, "{") {
		if _, err := newParent(a.Upstream, policy.Resolvers); err != nil {
			return err
		}
	}
	if a.Fetch == nil {
		return nil
	}
	_, err = loadRoots(a.Fetch.RootCA)
	return err
}

func (a *App) provisionCache() error {
	if err := a.defaults(); err != nil {
		return err
	}
	roots, err := loadRoots(a.Fetch.RootCA)
	if err != nil {
		return err
	}
	a.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	a.fetcher = fetch.New(fetch.Config{
		Dial: a.dial(), Upstream: a.parent.url, CheckOrigin: a.guard.CheckOrigin, RootCAs: roots,
		Timeout: time.Duration(a.Fetch.Timeout), MaxBody: a.Fetch.MaxBody,
		MaxRedirects: a.Fetch.MaxRedirects, Version: a.version,
	})
	if *a.Cache.Persist {
		a.store = store.New(a.ctx.Storage(), store.Config{
			Archive: time.Duration(a.Archive), Stale: time.Duration(a.Cache.Stale),
			OnError: a.storageFailed,
		})
	}
	a.cache = cache.New(a.engine.shared, cache.Config{
		MaxSize: uint64(a.Cache.MaxSize),
		TTL:     time.Duration(a.Cache.TTL), MinTTL: time.Duration(a.Cache.MinTTL),
		Stale:    time.Duration(a.Cache.Stale),
		RetryMin: time.Duration(a.Cache.RetryMin), RetryMax: time.Duration(a.Cache.RetryMax),
		MaxInFlight: a.Fetch.MaxInFlight, Timeout: time.Duration(a.Fetch.Timeout),
		UserAgent: a.Fetch.UserAgent,
		Store:     a.store,
		Fetch:     a.fetcher.Fetch,
		OnFetch: func(request fetch.Request, result fetch.Result, took time.Duration) {
			a.engine.metrics.fetched(result.Cause, took)
			a.emitFetched(&request, &result)
		},
	})
	a.judge = &judge.Judge{Lookup: countedLookup{a.cache, a.engine.metrics}, Guard: a.guard}
	return nil
}

// Start lets this configuration's limits and background work take over.
func (a *App) Start() error {
	if a.store != nil {
		a.store.Start()
		a.archivePolicies()
	}
	a.cache.Start()
	return nil
}

// Stop ends this configuration's background work; the cached copies stay for
// the next one.
func (a *App) Stop() error {
	a.cache.Stop()
	if a.store != nil {
		a.store.Stop()
	}
	return nil
}

// Cleanup releases what Provision took.
func (a *App) Cleanup() error {
	if a.engine == nil {
		return nil
	}
	return releaseEngine()
}

// Copies is the cache as this configuration sees it, for inspection.
func (a *App) Copies() *cache.Cache { return a.cache }

// Judge decides requests with this configuration's cache and address policy.
func (a *App) Judge() *judge.Judge { return a.judge }

// FetchRobots fetches the robots.txt of an origin past the cache, for those who
// want to see the file itself.
func (a *App) FetchRobots(ctx context.Context, o origin.Origin, userAgent string) fetch.Result {
	if err := a.guard.CheckOrigin(o); err != nil {
		return fetch.Result{Outcome: fetch.Unreachable, Cause: fetch.CauseDialDenied, Err: err}
	}
	return a.fetcher.Fetch(ctx, fetch.Request{Origin: o, UserAgent: userAgent})
}

// Guard is the address policy, for everything that dials.
func (a *App) Guard() *dialguard.Guard { return a.guard }

// TLSConfig is how origins are verified: a fresh copy for each caller.
func (a *App) TLSConfig() *tls.Config { return a.tls.Clone() }

// Pseudonym names this instance in Via headers: no other proxy has the same,
// so a request that bears it has been here before.
func (a *App) Pseudonym() string { return "robotsgate-" + a.engine.id }

// NewRecord begins the record of one request: which gate, which number.
func (a *App) NewRecord(rec *decision.Record) {
	rec.Enforced = true
	rec.Engine, rec.Gate, rec.Seq = a.version, a.engine.id, a.engine.seq.Add(1)
}

// Decided counts a finished record and how long its decision took.
func (a *App) Decided(rec *decision.Record, took time.Duration) {
	a.engine.metrics.decided(rec, took)
}

// loadRoots adds the PEM files to the system's roots; nil stands for the
// system's roots alone.
func loadRoots(files []string) (*x509.CertPool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("fetch root_ca: reading %s: %w", file, err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("fetch root_ca: %s holds no PEM certificate", file)
		}
	}
	return pool, nil
}

// Interface guards.
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
