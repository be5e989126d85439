package cache

import (
	"container/heap"
	"sync"
	"time"
)

// plan knows when each entry wants renewal. Its lock is the innermost: otter
// calls remove with locks of its own held.
type plan struct {
	mu    sync.Mutex
	queue renewals
}

const notPlanned = -1

// set plans the renewal of an entry and reports whether it is now the first.
func (p *plan) set(e *entry, at time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.planned = at
	if e.index == notPlanned {
		heap.Push(&p.queue, e)
	} else {
		heap.Fix(&p.queue, e.index)
	}
	return e.index == 0
}

// revive plans an entry that came due while nobody asked. It reports whether
// it did.
func (p *plan) revive(e *entry, now time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.index != notPlanned || now < e.planned {
		return false
	}
	heap.Push(&p.queue, e)
	return true
}

// remove drops the renewal of an entry.
func (p *plan) remove(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.index != notPlanned {
		heap.Remove(&p.queue, e.index)
	}
}

// pending reports whether the renewal of an entry is still to come.
func (p *plan) pending(e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.index != notPlanned
}

// next returns an entry that is due and was asked for since its last fetch, or
// nil and how long to wait for one; a negative wait means that none is planned.
// Entries that nobody asked for leave the plan: they cost nothing from then on.
func (p *plan) next(now time.Duration) (*entry, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		first := p.queue[0]
		if first.planned > now {
			return nil, first.planned - now
		}
		heap.Pop(&p.queue)
		if first.asked.Load() {
			return first, 0
		}
	}
	return nil, -1
}

// renewals is a heap of entries by time.
type renewals []*entry

func (r renewals) Len() int           { return len(r) }
func (r renewals) Less(i, j int) bool { return r[i].planned < r[j].planned }

func (r renewals) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push is for container/heap.
func (r *renewals) Push(x any) {
	e := x.(*entry)
	e.index = len(*r)
	*r = append(*r, e)
}

// Pop is for container/heap.
func (r *renewals) Pop() any {
	last := len(*r) - 1
	e := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	e.index = notPlanned
	return e
}
