package cache

import (
	"container/list"
	"time"

	"github.com/robotsgate/robotsgate/internal/fetch"
)

// slots hands out the right to fetch. First visits come first, in their order;
// then revisits of origins that failed; renewals take only what is left, and
// never more than a quarter, so that dead hosts cannot hold up new ones.
type slots struct {
	max        int
	renewals   int
	flying     list.List // *flight by start
	waiting    [2]list.List
	impatience *time.Timer
}

// place is where a flight stands.
type place struct {
	list    *list.List
	element *list.Element
}

func (p *place) enter(l *list.List, f *flight) { p.list, p.element = l, l.PushBack(f) }

func (p *place) leave() {
	if p.list != nil {
		p.list.Remove(p.element)
		p.list, p.element = nil, nil
	}
}

// maxWaiting bounds the queue; beyond it the answer is overloaded at once.
const maxWaiting = 1 << 16

// patience is the part of the fetch timeout that a silent origin may hold a
// slot for while others wait. Without it 26 dead hosts a second fill 256 slots
// for 10 s each, and no healthy origin gets through any more.
const patience = 4

// admit starts a flight or queues it. Shared.mu is held.
func (s *Shared) admit(f *flight) {
	if s.slots.flying.Len() < s.slots.max {
		s.launch(f)
		return
	}
	queue := &s.slots.waiting[f.class]
	if queue.Len() >= maxWaiting {
		s.turnAway(f)
		return
	}
	f.place.enter(queue, f)
	f.expiry = time.AfterFunc(s.view(f.cache).config.Timeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.place.list == queue {
			s.turnAway(f)
		}
	})
	s.hurry()
}

// turnAway ends a flight that got no slot in time. Shared.mu is held.
func (s *Shared) turnAway(f *flight) {
	f.overloaded = true
	s.finish(f)
}

// launch starts a flight. Shared.mu is held.
func (s *Shared) launch(f *flight) {
	f.place.leave()
	if f.expiry != nil {
		f.expiry.Stop()
	}
	if f.class == renewal {
		s.slots.renewals++
	}
	f.started = s.now()
	f.place.enter(&s.slots.flying, f)
	go s.fly(f)
}

// release frees the slot of a flight for those who wait. Shared.mu is held.
func (s *Shared) release(f *flight) {
	if f.place.list == &s.slots.flying && f.class == renewal {
		s.slots.renewals--
	}
	f.place.leave()
	s.fill()
}

// fill starts waiting flights while there are slots. Shared.mu is held.
func (s *Shared) fill() {
	for s.slots.flying.Len() < s.slots.max {
		next := s.slots.waiting[firstVisit].Front()
		if next == nil {
			next = s.slots.waiting[revisit].Front()
		}
		if next == nil {
			s.poke()
			return
		}
		s.launch(next.Value.(*flight))
	}
	s.hurry()
}

// spare reports whether a renewal may start. Shared.mu is held.
func (s *Shared) spare() bool {
	return s.slots.flying.Len() < s.slots.max && s.slots.renewals < max(s.slots.max/4, 1)
}

// answering notes that an origin gave a sign of life: it keeps its slot.
func (s *Shared) answering(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.answered = true
}

// hurry makes the longest silent fetches give their slots to first visits, and
// comes back when the next one runs out of patience. Shared.mu is held.
func (s *Shared) hurry() {
	want := s.slots.waiting[firstVisit].Len()
	if want == 0 {
		return
	}
	now := s.now()
	for at := s.slots.flying.Front(); at != nil && want > 0; at = at.Next() {
		f := at.Value.(*flight)
		limit := s.view(f.cache).config.Timeout / patience
		switch {
		case f.yielding:
			want--
		case f.answered:
		case now-f.started >= limit:
			f.yielding = true
			f.cancel(fetch.ErrYielded)
			want--
		default:
			s.hurryIn(f.started + limit - now)
			return
		}
	}
}

// hurryIn plans the next hurry. Shared.mu is held.
func (s *Shared) hurryIn(wait time.Duration) {
	if s.slots.impatience != nil {
		s.slots.impatience.Stop()
	}
	s.slots.impatience = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hurry()
	})
}
