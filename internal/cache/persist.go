package cache

import (
	"errors"
	"time"
	"unique"

	"github.com/robotsgate/robotsgate/internal/store"
	"github.com/robotsgate/robotsgate/parser"
)

// recall looks for a first answer in storage and, if there is none that is
// fresh, has it fetched.
func (s *Shared) recall(f *flight) {
	c := s.view(f.cache)
	_, known := s.peek(f.key)
	st, renewal := s.stored(c, f.key, known)
	if st != nil && (st.varies || st.fresh(s.now())) {
		s.adopt(f, st, renewal)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.known = st
	s.admit(f)
}

// adopt ends a flight with what storage has.
func (s *Shared) adopt(f *flight, st *state, renewal time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.state, f.stored = st, true
	if !f.purged {
		s.put(f.key, st, renewal)
	}
	s.finish(f)
}

// newer is the state of memory with the copy of storage, where that is newer.
func newer(memory, stored *state) *state {
	switch {
	case stored == nil:
		return memory
	case memory == nil:
		return stored
	}
	next := *memory
	next.copy, next.freshUntil, next.staleUntil = stored.copy, stored.freshUntil, stored.staleUntil
	return &next
}

// stored returns what storage has of a key, if it is newer than what is known
// and of any use, and when to renew it.
func (s *Shared) stored(c *Cache, k key, known *state) (*state, time.Duration) {
	if c.config.Store == nil {
		return nil, 0
	}
	s.mu.Lock()
	after := s.purged[k]
	s.mu.Unlock()
	if known != nil && known.copy != nil && known.copy.ValidatedAt.After(after) {
		after = known.copy.ValidatedAt
	}
	found, err := c.config.Store.Recall(k.origin.String(), k.token, after)
	if err != nil {
		return nil, 0
	}
	if found.Record.Varies && k.token == "" {
		return &state{varies: true}, never
	}
	if found.Record.Current == nil {
		return nil, 0
	}
	return c.config.revive(k, found, time.Now(), s.now())
}

// revive turns a stored answer into a state, if it may still be used. What is
// dated ahead of our clock is not: nobody can tell how old it is.
func (c *Config) revive(k key, found store.Found, wall time.Time, now time.Duration) (*state, time.Duration) {
	a := found.Record.Current
	ahead := wall.Add(store.MaxSkew)
	if a.FetchedAt.After(ahead) || a.ValidatedAt.After(ahead) {
		return nil, 0
	}
	stale := c.Stale
	if a.Unavailable {
		stale = min(stale, maxUnavailable)
	}
	lifetime := min(a.ExpiresAt.Sub(a.ValidatedAt), c.TTL)
	fresh := min(a.ValidatedAt.Add(lifetime).Sub(wall), lifetime)
	usable := min(a.ValidatedAt.Add(max(stale, lifetime)).Sub(wall), max(stale, lifetime))
	if usable <= 0 {
		return nil, 0
	}
	st := &state{copy: revived(k, a, found.Body), freshUntil: now + fresh, staleUntil: now + usable}
	st.copy.ExpiresAt = a.ValidatedAt.Add(lifetime)
	return st, now + fresh - lifetime + renewAfter(lifetime)
}

// revived makes a copy of a stored answer.
func revived(k key, a *store.Answer, body []byte) *Copy {
	good := &Copy{
		content: noContent, State: StateUnavailable, Status: a.Status,
		RobotsURL: k.origin.RobotsURL(), FinalURL: a.FinalURL,
		FetchedAt: a.FetchedAt, ValidatedAt: a.ValidatedAt,
		FetchUserAgent: unique.Make(a.UserAgent).Value(),
		token:          a.Token, etag: a.ETag, lastModified: a.LastModified, varies: a.Varies,
	}
	if !a.Unavailable {
		good.State = StateRules
		good.content = &content{
			Robots: parser.Parse(body), SHA256: a.SHA256, Size: a.Size,
			Truncated: a.Truncated, EOFDelimited: a.EOFDelimited, HTML: a.HTML,
		}
		good.archived.Store(true)
	}
	return good
}

// save hands a good answer to storage, which writes it in its own time.
func (c *Cache) save(f *flight, good *Copy, body []byte) {
	st := c.config.Store
	if st == nil {
		return
	}
	home, name := f.home(), f.key.origin.String()
	if f.varies {
		st.Save(store.Record{Origin: name, UpdatedAt: good.ValidatedAt, Varies: true}, nil, nil)
	}
	record := store.Record{Origin: name, Token: home.token, UpdatedAt: good.ValidatedAt, Current: good.answer()}
	if good.State != StateRules {
		st.Save(record, nil, nil)
		return
	}
	if packed := good.packed.Load(); body == nil && packed != nil {
		// Confirmed, but not yet in storage: an earlier write failed.
		body, _ = unpack(*packed)
	}
	st.Save(record, body, func(err error) { good.content.stored(err) })
}

// stored notes the end of a write. A body that is safe need not be kept here;
// one that storage has lost must be sent again.
func (c *content) stored(err error) {
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			c.archived.Store(false)
		}
		return
	}
	c.archived.Store(true)
	c.packed.Store(nil)
	if e := c.holder.Load(); e != nil {
		e.shared.reweigh(e)
	}
}

// answer is the copy as storage keeps it.
func (c *Copy) answer() *store.Answer {
	return &store.Answer{
		Content: store.Content{
			Unavailable: c.State == StateUnavailable, Status: c.Status, FinalURL: c.FinalURL,
			SHA256: c.SHA256, Size: c.Size, Truncated: c.Truncated,
		},
		EOFDelimited: c.EOFDelimited, HTML: c.HTML, ETag: c.etag, LastModified: c.lastModified,
		UserAgent: c.FetchUserAgent, Token: c.token, Varies: c.varies,
		FetchedAt: c.FetchedAt, ValidatedAt: c.ValidatedAt, ExpiresAt: c.ExpiresAt,
	}
}
