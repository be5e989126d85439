package cache

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"weak"
)

const (
	// muchHeld is the cache size from which garbage is collected earlier.
	muchHeld = 64 << 20
	// earlierPercent is GOGC from then on. With Go's 100 a process takes more
	// than twice the bytes that the cache holds for good.
	earlierPercent = 40
	defaultPercent = 100
)

// garbageWatch has a pointer so that it is not allocated together with others.
type garbageWatch struct{ _ *int }

// watchGarbage looks at the size of the cache after each collection, and makes
// the next one come earlier while the cache is large. Whoever set GOGC or
// GOMEMLIMIT is left in charge.
func (s *Shared) watchGarbage() {
	if os.Getenv("GOGC") != "" || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	runtime.AddCleanup(&garbageWatch{}, afterCollection, weak.Make(s))
}

// afterCollection runs once after a collection, and has itself run after the
// next one for as long as the Shared is in use.
func afterCollection(w weak.Pointer[Shared]) {
	s := w.Value()
	if s == nil || s.destructed.Load() {
		return
	}
	percent := defaultPercent
	if s.entries.WeightedSize() >= muchHeld {
		percent = earlierPercent
	}
	if int(s.gcPercent.Swap(int32(percent))) != percent {
		debug.SetGCPercent(percent)
	}
	s.watchGarbage()
}
