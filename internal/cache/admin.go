package cache

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// A Snapshot is what is known of one origin, or of one origin and token where
// the answers vary by User-Agent.
type Snapshot struct {
	Origin origin.Origin
	// Token is empty unless the answers vary by User-Agent.
	Token string
	// Copy is the last good answer, nil where there is none. Fresh says that
	// it may be used as it is; otherwise it waits for the next request.
	Copy  *Copy
	Fresh bool
	// Cause, Err, Status, Failures and RetryAfter tell of the last access
	// where that failed; Failures counts how many did in a row.
	Cause      fetch.Cause
	Err        error
	Status     int
	Failures   int
	RetryAfter time.Duration
	// Bytes is what the entry counts for.
	Bytes int
}

// Entry returns what memory holds of an origin: one snapshot, or one for each
// token where the answers vary by User-Agent.
func (c *Cache) Entry(o origin.Origin) []Snapshot {
	e, st := c.shared.peek(key{origin: o})
	if e == nil {
		return nil
	}
	if !st.varies {
		return []Snapshot{c.shared.snapshot(e, st)}
	}
	var variants []Snapshot
	for _, e := range c.shared.entries.All() {
		if e.key.origin == o && e.key.token != "" {
			variants = append(variants, c.shared.snapshot(e, e.state.Load()))
		}
	}
	slices.SortFunc(variants, func(a, b Snapshot) int { return strings.Compare(a.Token, b.Token) })
	return variants
}

func (s *Shared) snapshot(e *entry, st *state) Snapshot {
	now := s.now()
	snap := Snapshot{Origin: e.key.origin, Token: e.key.token, Copy: st.copy, Fresh: st.fresh(now), Bytes: e.size()}
	if st.failure != nil {
		snap.Cause, snap.Err, snap.Status = st.failure.cause, st.failure.err, st.failure.status
		snap.Failures, snap.RetryAfter = st.failure.count, max(st.failure.retryAt-now, 0)
	}
	return snap
}

// List returns up to limit snapshots in the order of their origins, beginning
// behind the one given; the zero Origin begins at the start. Variants of an
// origin are listed together, so that a page may be longer than limit.
func (c *Cache) List(after origin.Origin, limit int) []Snapshot {
	// Only the smallest limit keys are kept while walking: a page of a million
	// entries costs a walk, not a sort of all.
	var page []origin.Origin
	for _, e := range c.shared.entries.All() {
		if e.key.token != "" || compare(e.key.origin, after) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(page, e.key.origin, compare)
		if at >= limit {
			continue
		}
		page = slices.Insert(page, at, e.key.origin)
		page = page[:min(len(page), limit)]
	}
	var out []Snapshot
	for _, o := range page {
		out = append(out, c.Entry(o)...)
	}
	return out
}

// compare orders origins by host, scheme and port.
func compare(a, b origin.Origin) int {
	return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Scheme, b.Scheme), cmp.Compare(a.Port, b.Port))
}

// maxPurged bounds the purged origins that nobody has asked for since; storage
// is told of them too.
const maxPurged = 10_000

// Purge forgets an origin, so that the next request fetches it. An answer that
// is on its way goes to those who wait for it and no further. It reports
// whether there was anything to forget.
func (c *Cache) Purge(o origin.Origin) bool {
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := []key{{origin: o}}
	if _, st := s.peek(keys[0]); st != nil && st.varies {
		for _, e := range s.entries.All() {
			if e.key.origin == o && e.key.token != "" {
				keys = append(keys, e.key)
			}
		}
	}
	found := false
	if len(s.purged) >= maxPurged {
		clear(s.purged)
	}
	for k, f := range s.flights {
		if k.origin == o {
			f.purged, found = true, true
			delete(s.flights, k)
		}
	}
	for _, k := range keys {
		s.purged[k] = time.Now()
		if c.config.Store != nil {
			c.config.Store.Forget(k.origin.String(), k.token)
		}
		if _, ok := s.entries.Invalidate(k.slot()); ok {
			found = true
		}
	}
	return found
}

// Stats counts what the cache holds.
type Stats struct {
	Entries  int
	Bytes    uint64
	InFlight int // fetches under way
	Queued   int // fetches that wait for a slot
}

// Stats returns the present counts.
func (s *Shared) Stats() Stats {
	s.entries.CleanUp() // counts what was stored a moment ago
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Entries: s.entries.EstimatedSize(), Bytes: s.entries.WeightedSize(),
		InFlight: s.slots.flying.Len(),
		Queued:   s.slots.waiting[firstVisit].Len() + s.slots.waiting[revisit].Len(),
	}
}

// Stats returns the present counts of the Shared behind the view.
func (c *Cache) Stats() Stats { return c.shared.Stats() }
