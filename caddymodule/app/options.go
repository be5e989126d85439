package app

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Cache says how robots.txt files are kept.
type Cache struct {
	// Bytes of memory that robots.txt files may take, everything counted.
	// Default: 256 MiB (`268435456`).
	MaxSize int64 `json:"max_size,omitempty"`

	// Longest use of a fresh copy. Above 24 h it is refused (RFC 9309
	// section 2.4). Default: `24h`.
	TTL caddy.Duration `json:"ttl,omitempty"`

	// Shortest use of a fresh copy, a floor under the origin's
	// Cache-Control. Default: `1m`.
	MinTTL caddy.Duration `json:"min_ttl,omitempty"`

	// How long the last good copy serves while the origin's robots.txt is
	// unreachable. Default: `720h` (30 days).
	Stale caddy.Duration `json:"stale,omitempty"`

	// First pause between retries of an unreachable robots.txt; it doubles
	// up to retry_max. Default: `30s`.
	RetryMin caddy.Duration `json:"retry_min,omitempty"`

	// Longest pause between retries. Default: `15m`.
	RetryMax caddy.Duration `json:"retry_max,omitempty"`

	// Whether copies are kept in Caddy's storage, shared by every gate on
	// that storage, with what `robots verify` needs. Default: `true`.
	Persist *bool `json:"persist,omitempty"`
}

// Fetch says how robots.txt files are fetched.
type Fetch struct {
	// One deadline over DNS, dial, TLS, headers, body and redirects.
	// Default: `10s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// Decoded bytes that are parsed; the rest of a longer file is ignored.
	// Default and minimum: 500 KiB (`512000`; RFC 9309 section 2.5).
	MaxBody int64 `json:"max_body,omitempty"`

	// Redirects that are followed. Default and minimum: `5` (RFC 9309
	// section 2.3.1.2).
	MaxRedirects int `json:"max_redirects,omitempty"`

	// Fetches under way at once. Default: `256`.
	MaxInFlight int `json:"max_in_flight,omitempty"`

	// The User-Agent of fetches. Default: that of the request which needs
	// the file, or `robotsgate/<version>` where it has none.
	UserAgent string `json:"user_agent,omitempty"`

	// PEM files with roots that origins may chain to besides the system's,
	// for robots.txt and pages alike. Default: none.
	RootCA []string `json:"root_ca,omitempty"`
}

// Limits and defaults of the options; RFC 9309 sets the bounds.
const (
	defaultMaxSize  = 256 << 20
	maxTTL          = 24 * time.Hour
	defaultMinTTL   = time.Minute
	defaultStale    = 30 * 24 * time.Hour
	defaultRetryMin = 30 * time.Second
	defaultRetryMax = 15 * time.Minute
	defaultTimeout  = 10 * time.Second
	minMaxBody      = 500 << 10
	minRedirects    = 5
	defaultInFlight = 256
	defaultArchive  = 365 * 24 * time.Hour
)

// defaults fills in what is not configured and refuses what cannot be.
func (a *App) defaults() error {
	if a.Cache == nil {
		a.Cache = new(Cache)
	}
	if a.Fetch == nil {
		a.Fetch = new(Fetch)
	}
	if a.Archive < 0 {
		return fmt.Errorf("archive: %s is negative", time.Duration(a.Archive))
	}
	orDuration(&a.Archive, defaultArchive)
	if err := a.Cache.defaults(); err != nil {
		return fmt.Errorf("cache %w", err)
	}
	if err := a.Fetch.defaults(); err != nil {
		return fmt.Errorf("fetch %w", err)
	}
	return nil
}

func (c *Cache) defaults() error {
	if c.Persist == nil {
		c.Persist = new(bool)
		*c.Persist = true
	}
	orSize(&c.MaxSize, defaultMaxSize)
	orDuration(&c.TTL, maxTTL)
	orDuration(&c.MinTTL, min(defaultMinTTL, time.Duration(c.TTL)))
	orDuration(&c.Stale, defaultStale)
	orDuration(&c.RetryMin, defaultRetryMin)
	orDuration(&c.RetryMax, max(defaultRetryMax, time.Duration(c.RetryMin)))
	switch {
	case c.MaxSize < 1<<20:
		return fmt.Errorf("max_size: %d bytes is less than 1MiB", c.MaxSize)
	case c.TTL < 0 || time.Duration(c.TTL) > maxTTL:
		return fmt.Errorf("ttl: %s is above 24h, the longest that RFC 9309 section 2.4 allows", time.Duration(c.TTL))
	case c.MinTTL < 0 || c.MinTTL > c.TTL:
		return fmt.Errorf("min_ttl: %s is above ttl %s", time.Duration(c.MinTTL), time.Duration(c.TTL))
	case c.Stale < 0:
		return fmt.Errorf("stale: %s is negative", time.Duration(c.Stale))
	case c.RetryMin < 0 || c.RetryMax < c.RetryMin:
		return fmt.Errorf("retry: the first pause %s is above the longest %s", time.Duration(c.RetryMin), time.Duration(c.RetryMax))
	}
	return nil
}

func (f *Fetch) defaults() error {
	orDuration(&f.Timeout, defaultTimeout)
	orSize(&f.MaxBody, minMaxBody)
	if f.MaxRedirects == 0 {
		f.MaxRedirects = minRedirects
	}
	if f.MaxInFlight == 0 {
		f.MaxInFlight = defaultInFlight
	}
	switch {
	case f.Timeout < 0:
		return fmt.Errorf("timeout: %s is negative", time.Duration(f.Timeout))
	case f.MaxBody < minMaxBody:
		return fmt.Errorf("max_body: %d bytes is below 500KiB, the least that RFC 9309 section 2.5 allows", f.MaxBody)
	case f.MaxRedirects < minRedirects:
		return fmt.Errorf("max_redirects: %d is below 5, the least that RFC 9309 section 2.3.1.2 allows", f.MaxRedirects)
	case f.MaxInFlight < 1:
		return fmt.Errorf("max_in_flight: %d is below 1", f.MaxInFlight)
	}
	return nil
}

func orDuration(d *caddy.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = caddy.Duration(otherwise)
	}
}

func orSize(size *int64, otherwise int64) {
	if *size == 0 {
		*size = otherwise
	}
}
