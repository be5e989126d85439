package cache_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/fetch"
)

// heap is what is in use when collections no longer change it: what earlier
// tests left goes in its own time.
func heap() int64 {
	var m runtime.MemStats
	for last := int64(-1); ; {
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		now := int64(m.HeapAlloc)
		if max(now-last, last-now) < 32<<10 {
			return now
		}
		last = now
	}
}

// What the cache says that it holds must be what the process holds: the bound
// is worth nothing otherwise.
func TestCountedBytes(t *testing.T) {
	for name, test := range map[string]struct {
		n      int
		answer func(fetch.Request) fetch.Result
		tokens int
	}{
		"missing": {20_000, missing, 0},
		"dead":    {20_000, broken, 0},
		"small":   {10_000, good(rules), 1},
		"matched": {3_000, good(rules), 8},
		"large":   {500, good("User-agent: *\n" + strings.Repeat("Disallow: /some/directory/*.html$\n", 2000)), 1},
		"etag": {10_000, func(r fetch.Request) fetch.Result {
			result := good(rules)(r)
			result.ETag, result.LastModified = strings.Clone(`"0123456789abcdef"`), strings.Clone("Fri, 01 May 2026 12:00:00 GMT")
			result.FinalURL = "https://www.example.com/somewhere/else/robots.txt" + r.Origin.Host
			return result
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			shared := cache.NewShared()
			s := &script{answer: test.answer}
			c := cache.New(shared, cache.Config{Fetch: func(ctx context.Context, r fetch.Request) fetch.Result {
				result := s.fetch(ctx, r)
				s.log, s.at = s.log[:0], s.at[:0]
				return result
			}})
			before := heap()
			for i := range test.n {
				a := c.Lookup(t.Context(), site(fmt.Sprintf("host%07d.example.com", i)), "ExampleBot/1.0", "examplebot")
				for k := range test.tokens {
					a.Copy.Matcher(fmt.Sprintf("token%d", k), "other")
				}
			}
			held := heap() - before
			counted := int64(c.Stats().Bytes)
			ratio := float64(held) / float64(counted)
			t.Logf("%d entries: %d bytes each counted, %d held, ratio %.2f", c.Stats().Entries, counted/int64(test.n), held/int64(test.n), ratio)
			if ratio > 1.05 || ratio < 0.5 {
				t.Errorf("counted %d, held %d", counted, held)
			}
			runtime.KeepAlive(c)
		})
	}
}
