package cache

import (
	"hash/maphash"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// Shared is the state that outlives configurations: what is known of each
// origin and the fetches in flight. It holds no configuration, context, logger
// or storage of its own; it only knows which Cache was started last.
type Shared struct {
	// entries is bounded by bytes. otter's W-TinyLFU keeps the origins that
	// are asked for often when a broad crawl walks past them once each, which
	// a plain LRU does not.
	entries *otter.Cache[slot, *entry]
	base    time.Time

	// current is the Cache whose configuration counts for work that no
	// request does.
	current atomic.Pointer[Cache]

	// mu guards what follows. It may be held while calling otter, but no
	// callback of otter takes it.
	mu      sync.Mutex
	started []*Cache
	flights map[key]*flight
	purged  map[key]time.Time // what storage has of these is no longer wanted
	slots   slots

	plan plan

	gcPercent  atomic.Int32
	destructed atomic.Bool
}

// key names an entry. token is empty but for answers that vary by User-Agent.
type key struct {
	origin origin.Origin
	token  string
}

// slot is a key as the table holds it: a number, which costs a third of what
// the strings cost to hash and compare. An entry that is found is asked for its
// key, so that two keys of one number are never taken for one another.
type slot uint64

var hostSeed, tokenSeed = maphash.MakeSeed(), maphash.MakeSeed()

func slotOf(o origin.Origin) slot {
	// An origin in normal form has one of two schemes, of different lengths.
	where := uint64(o.Port)<<1 | uint64(len(o.Scheme)-len("http"))&1
	return slot(maphash.String(hostSeed, o.Host) ^ where*0x9e3779b97f4a7c15)
}

func (k key) slot() slot {
	if k.token == "" {
		return slotOf(k.origin)
	}
	return slotOf(k.origin) ^ slot(maphash.String(tokenSeed, k.token))
}

// entry is the place of one key.
type entry struct {
	shared *Shared
	key    key
	state  atomic.Pointer[state]

	// asked: somebody asked since the last fetch.
	asked atomic.Bool

	// planned is when the entry wants renewal, index its place in the plan or
	// notPlanned. Both are guarded by plan.mu.
	planned time.Duration
	index   int
}

// entryBytes counts an entry with its node and slots in the tables.
const entryBytes = 176

func (e *entry) size() int {
	return entryBytes + rounded(e.key.origin.Host, e.key.token) + e.state.Load().size()
}

// NewShared makes an empty Shared with the default bounds.
func NewShared() *Shared {
	s := &Shared{base: time.Now(), flights: make(map[key]*flight), purged: make(map[key]time.Time)}
	s.slots.max = DefaultMaxInFlight
	s.entries = otter.Must(&otter.Options[slot, *entry]{
		MaximumWeight: DefaultMaxSize,
		Weigher:       func(_ slot, e *entry) uint32 { return uint32(e.size()) },
		OnDeletion:    s.deleted,
	})
	s.gcPercent.Store(defaultPercent)
	s.watchGarbage()
	return s
}

// Destruct ends all fetches. It is called when the last configuration that uses
// the Shared is gone.
func (s *Shared) Destruct() error {
	s.destructed.Store(true)
	if s.gcPercent.Swap(defaultPercent) != defaultPercent {
		debug.SetGCPercent(defaultPercent)
	}
	s.mu.Lock()
	for _, f := range s.flights {
		f.cancel(errShutdown)
	}
	s.mu.Unlock()
	return nil
}

// now is the time since base, by the monotonic clock.
func (s *Shared) now() time.Duration { return time.Since(s.base) }

// view returns the Cache whose configuration counts, or the one given where
// none is running.
func (s *Shared) view(other *Cache) *Cache {
	if c := s.current.Load(); c != nil {
		return c
	}
	return other
}

// deleted takes an evicted entry out of the plan.
func (s *Shared) deleted(event otter.DeletionEvent[slot, *entry]) {
	if event.Cause != otter.CauseReplacement {
		s.plan.remove(event.Value)
	}
}

// reweigh has the changed size of an entry counted.
func (s *Shared) reweigh(e *entry) {
	s.entries.ComputeIfPresent(e.key.slot(), func(have *entry) (*entry, otter.ComputeOp) {
		if have != e {
			return have, otter.CancelOp
		}
		return e, otter.WriteOp
	})
}

// peek returns what is known of a key without counting as use.
func (s *Shared) peek(k key) (*entry, *state) {
	found, ok := s.entries.GetEntryQuietly(k.slot())
	if !ok || found.Value.key != k {
		return nil, nil
	}
	return found.Value, found.Value.state.Load()
}

// put stores what is known of a key and plans its renewal. Shared.mu is held.
func (s *Shared) put(k key, st *state, renewal time.Duration) {
	e, _ := s.peek(k)
	if e == nil {
		k.origin = k.origin.Clone()
		e = &entry{shared: s, key: k, index: notPlanned}
	}
	e.state.Store(st)
	e.asked.Store(false)
	if st.copy != nil && st.copy.content != noContent {
		st.copy.holder.Store(e)
	}
	// First the plan: an entry that is evicted at once must find itself there.
	if s.plan.set(e, renewal) {
		s.poke()
	}
	s.entries.Set(e.key.slot(), e)
}

// poke makes the scheduler look at the plan again.
func (s *Shared) poke() {
	c := s.current.Load()
	if c == nil {
		return
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
