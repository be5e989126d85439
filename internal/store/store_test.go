package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/robotsgate/robotsgate/internal/store"
)

// memory is a backend whose every call the test may spoil.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	times  map[string]time.Time
	before func(op, key string) error
}

func newMemory() *memory {
	return &memory{values: make(map[string][]byte), times: make(map[string]time.Time)}
}

func (m *memory) spoil(before func(op, key string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = before
}

func (m *memory) enter(op, key string) error {
	m.mu.Lock()
	before := m.before
	m.mu.Unlock()
	if before != nil {
		return before(op, key)
	}
	return nil
}

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	if err := m.enter("store", key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key], m.times[key] = bytes.Clone(value), time.Now()
	return nil
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	if err := m.enter("load", key); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return bytes.Clone(value), nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return nil
}

func (m *memory) List(_ context.Context, path string, _ bool) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range m.values {
		if strings.HasPrefix(key, path+"/") {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (m *memory) Stat(_ context.Context, key string) (certmagic.KeyInfo, error) {
	if err := m.enter("stat", key); err != nil {
		return certmagic.KeyInfo{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.values[key]; !ok {
		return certmagic.KeyInfo{}, fs.ErrNotExist
	}
	return certmagic.KeyInfo{Key: key, Modified: m.times[key]}, nil
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range m.values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// failures counts what OnError is told.
type failures struct {
	mu  sync.Mutex
	ops map[string]int
}

func (f *failures) note(op string, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ops == nil {
		f.ops = make(map[string]int)
	}
	f.ops[op]++
}

func (f *failures) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops[op]
}

func sum(body string) string {
	h := sha256.Sum256([]byte(body))
	return hex.EncodeToString(h[:])
}

func record(origin, body string, at time.Time) store.Record {
	return store.Record{Origin: origin, UpdatedAt: at, Current: &store.Answer{
		Content:   store.Content{Status: 200, SHA256: sum(body), Size: len(body)},
		FetchedAt: at, ValidatedAt: at, ExpiresAt: at.Add(time.Hour),
	}}
}

// save stores a record and waits until it is written.
func save(t *testing.T, s *store.Store, r store.Record, body string) error {
	t.Helper()
	done := make(chan error, 1)
	s.Save(r, []byte(body), func(err error) { done <- err })
	return <-done
}

func running(t *testing.T, backend store.Backend, config store.Config) *store.Store {
	t.Helper()
	s := store.New(backend, config)
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

const body = "User-agent: *\nDisallow: /private\n"

func TestRoundTrip(t *testing.T) {
	for name, backend := range map[string]store.Backend{
		"memory": newMemory(),
		"files":  &certmagic.FileStorage{Path: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t, backend, store.Config{})
			at := time.Now()
			if err := save(t, s, record("https://a.test", body, at), body); err != nil {
				t.Fatal(err)
			}
			found, err := s.Recall("https://a.test", "", time.Time{})
			if err != nil || string(found.Body) != body || found.Record.Current.SHA256 != sum(body) ||
				!found.Record.Current.FetchedAt.Equal(at) || len(found.Record.History) != 1 {
				t.Fatalf("%+v %v", found, err)
			}
			if _, err := s.Recall("https://a.test", "", at); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("nothing newer: %v", err)
			}
			if _, err := s.Recall("https://b.test", "", time.Time{}); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("never stored: %v", err)
			}
			if _, err := s.Recall("https://a.test", "token", time.Time{}); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("another token: %v", err)
			}
			if got, err := s.Body(t.Context(), sum(body)); err != nil || string(got) != body {
				t.Errorf("body: %q %v", got, err)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	backend := newMemory()
	s := store.New(backend, store.Config{})
	s.PutPolicy("abc", []byte(`{"mode":"enforce"}`))
	s.Start()
	s.Stop()
	if got, err := s.Policy(t.Context(), "abc"); err != nil || string(got) != `{"mode":"enforce"}` {
		t.Errorf("%s %v", got, err)
	}
	if _, err := s.Policy(t.Context(), "../../abc"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestBodiesAreStoredOnce(t *testing.T) {
	backend := newMemory()
	s := running(t, backend, store.Config{})
	for i := range 10 {
		if err := save(t, s, record(fmt.Sprintf("https://%d.test", i), body, time.Now()), body); err != nil {
			t.Fatal(err)
		}
	}
	bodies := slices.DeleteFunc(backend.keys(), func(key string) bool { return !strings.Contains(key, "/bodies/") })
	if len(bodies) != 1 || len(backend.keys()) != 11 {
		t.Errorf("%q", backend.keys())
	}
}

func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newMemory()
		s := running(t, backend, store.Config{Archive: 100 * 24 * time.Hour})
		began := time.Now()
		days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
		// A for two days, B for two days, then A again, and unavailable.
		for day, text := range []string{"A", "A", "B", "B", "A", ""} {
			r := record("https://a.test", text, time.Now())
			if text == "" {
				r.Current.Content = store.Content{Status: 404, Unavailable: true}
			}
			if err := save(t, s, r, text); err != nil {
				t.Fatal(day, err)
			}
			time.Sleep(days(1))
		}
		r, err := s.Record(t.Context(), "https://a.test", "")
		if err != nil {
			t.Fatal(err)
		}
		type span struct {
			sum      string
			from, to int
		}
		var got []span
		for _, h := range r.History {
			got = append(got, span{h.SHA256, int(h.From.Sub(began) / days(1)), int(h.To.Sub(began) / days(1))})
		}
		want := []span{{sum("A"), 0, 1}, {sum("B"), 2, 3}, {sum("A"), 4, 4}, {"", 5, 5}}
		if !slices.Equal(got, want) || !r.Current.Unavailable {
			t.Errorf("history %v, want %v", got, want)
		}
		// What has been over for longer than the archive time goes.
		time.Sleep(days(98))
		if err := save(t, s, record("https://a.test", "C", time.Now()), "C"); err != nil {
			t.Fatal(err)
		}
		r, _ = s.Record(t.Context(), "https://a.test", "")
		if len(r.History) != 3 || r.History[0].SHA256 != sum("A") || r.History[2].SHA256 != sum("C") {
			t.Errorf("history %+v", r.History)
		}
	})
}

func TestR51_BrokenStorage(t *testing.T) {
	backend := newMemory()
	var failed failures
	s := running(t, backend, store.Config{OnError: failed.note})
	if err := save(t, s, record("https://a.test", "old", time.Now()), "old"); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	backend.spoil(func(op, _ string) error {
		if op == "store" {
			return full
		}
		return nil
	})
	if err := save(t, s, record("https://a.test", "new", time.Now()), "new"); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if found, err := s.Recall("https://a.test", "", time.Time{}); err != nil || string(found.Body) != "old" {
		t.Errorf("the old value: %q %v", found.Body, err)
	}
	if failed.count(store.OpStore) != 1 {
		t.Errorf("failures %v", failed.ops)
	}
	backend.spoil(func(string, string) error { return errors.New("input/output error") })
	if _, err := s.Recall("https://a.test", "", time.Time{}); err == nil || failed.count(store.OpLoad) != 1 {
		t.Errorf("%v, failures %v", err, failed.ops)
	}
}

// The real thing: a file system that has no room, and one that is read-only.
func TestR51_ReadOnlyFiles(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes where it likes")
	}
	dir := t.TempDir()
	s := running(t, &certmagic.FileStorage{Path: dir}, store.Config{})
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := save(t, s, record("https://a.test", body, time.Now()), body); err == nil {
		t.Error("stored in a read-only directory")
	}
}

func TestR52_HangingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newMemory()
		var failed failures
		s := store.New(backend, store.Config{OnError: failed.note})
		s.Start()
		hang := make(chan struct{})
		backend.spoil(func(string, string) error {
			<-hang
			return errors.New("too late")
		})
		// Nobody waits for writes, however many.
		began := time.Now()
		for i := range 20_000 {
			s.Save(record(fmt.Sprintf("https://%d.test", i), body, began), []byte(body), nil)
		}
		if since := time.Since(began); since != 0 {
			t.Errorf("queueing took %v", since)
		}
		if n := failed.count(store.OpDropped); n < 10_000 || n > 12_000 {
			t.Errorf("%d dropped of 20,000 with room for 8192", n)
		}
		// A read costs a quarter of a second, and after five nothing.
		for i := range 20 {
			began := time.Now()
			_, err := s.Recall("https://a.test", "", time.Time{})
			want := 250 * time.Millisecond
			if i >= 5 {
				want = 0
			}
			if took := time.Since(began); err == nil || took != want {
				t.Errorf("read %d took %v, want %v (%v)", i, took, want, err)
			}
		}
		began = time.Now()
		s.Stop()
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("stopping took %v", took)
		}
		close(hang)
		backend.spoil(nil)
		time.Sleep(time.Minute)
		if _, err := s.Recall("https://a.test", "", time.Time{}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("after the pause: %v", err)
		}
	})
}

// Each byte of each stored value is flipped, and each length tried: nothing
// but the original is ever returned.
func TestR54_Damage(t *testing.T) {
	backend := newMemory()
	s := running(t, backend, store.Config{})
	if err := save(t, s, record("https://a.test", body, time.Now()), body); err != nil {
		t.Fatal(err)
	}
	whole := make(map[string][]byte)
	for _, key := range backend.keys() {
		whole[key] = backend.values[key]
	}
	try := func(key, what string, value []byte) {
		t.Helper()
		for k, v := range whole {
			_ = backend.Store(t.Context(), k, v)
		}
		_ = backend.Store(t.Context(), key, value)
		if found, err := s.Recall("https://a.test", "", time.Time{}); err == nil {
			t.Fatalf("%s of %s: got %q", what, key, found.Body)
		}
		if slices.Contains(backend.keys(), key) {
			t.Fatalf("%s of %s: it is still there", what, key)
		}
	}
	for key, value := range whole {
		for i := range value {
			for bit := range 8 {
				flipped := bytes.Clone(value)
				flipped[i] ^= 1 << bit
				try(key, fmt.Sprintf("bit %d of byte %d", bit, i), flipped)
			}
			try(key, fmt.Sprintf("the first %d bytes", i), value[:i])
		}
		try(key, "a longer form", append(bytes.Clone(value), '\n'))
		try(key, "another version", bytes.Replace(value, []byte("robotsgate 1"), []byte("robotsgate 2"), 1))
	}
	// A record under another's key, and a body under another's hash.
	if err := save(t, s, record("https://b.test", "other", time.Now()), "other"); err != nil {
		t.Fatal(err)
	}
	for key := range whole {
		for other := range backend.values {
			if _, ours := whole[other]; !ours && strings.Split(other, "/")[1] == strings.Split(key, "/")[1] {
				try(key, "the value of another key", bytes.Clone(backend.values[other]))
			}
		}
	}
}

// FuzzR54 opens anything: it never panics, and what it accepts is what was
// written.
func FuzzR54_Unseal(f *testing.F) {
	backend := newMemory()
	s := store.New(backend, store.Config{})
	s.Start()
	done := make(chan error, 1)
	s.Save(record("https://a.test", body, time.Unix(1e9, 0)), []byte(body), func(err error) { done <- err })
	if err := <-done; err != nil {
		f.Fatal(err)
	}
	s.Stop()
	for _, key := range backend.keys() {
		f.Add(backend.values[key])
	}
	f.Add([]byte("robotsgate 1 0 \n"))
	key := ""
	for _, k := range backend.keys() {
		if strings.Contains(k, "/bodies/") {
			key = k
		}
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		_ = backend.Store(t.Context(), key, value)
		if got, err := s.Body(t.Context(), sum(body)); err == nil && string(got) != body {
			t.Errorf("accepted %q", got)
		}
	})
}

func TestR55_HostileKeys(t *testing.T) {
	dir := t.TempDir()
	s := running(t, &certmagic.FileStorage{Path: filepath.Join(dir, "storage")}, store.Config{})
	for _, name := range []string{
		"../../../etc/passwd", "https://a/../../b", strings.Repeat("long", 1000), "ü", "ÿ", "\x00", "a\nb", "", ".", "CON",
	} {
		if err := save(t, s, record(name, name, time.Now()), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if found, err := s.Recall(name, "", time.Time{}); err != nil || string(found.Body) != name {
			t.Errorf("%q: %q %v", name, found.Body, err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(path, filepath.Join(dir, "storage", store.Prefix)) {
			t.Errorf("file outside the prefix: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Body takes a hash and nothing else.
	for _, name := range []string{"", "../x", strings.Repeat("A", 64), strings.Repeat("a", 63)} {
		if _, err := s.Body(t.Context(), name); err == nil {
			t.Errorf("body %q", name)
		}
	}
}

func TestR56_NewestWins(t *testing.T) {
	backend := newMemory()
	one, two := running(t, backend, store.Config{}), running(t, backend, store.Config{})
	now := time.Now()
	for _, write := range []struct {
		by   *store.Store
		text string
		at   time.Duration
	}{{one, "first", -time.Hour}, {two, "third", 0}, {one, "second", -time.Minute}} {
		if err := save(t, write.by, record("https://a.test", write.text, now.Add(write.at)), write.text); err != nil {
			t.Fatal(err)
		}
	}
	found, err := one.Recall("https://a.test", "", time.Time{})
	if err != nil || string(found.Body) != "third" || len(found.Record.History) != 3 {
		t.Errorf("%q %+v %v", found.Body, found.Record, err)
	}
	// A record dated a year ahead does not last until then.
	if err := save(t, one, record("https://a.test", "ahead", now.Add(8760*time.Hour)), "ahead"); err != nil {
		t.Fatal(err)
	}
	if err := save(t, two, record("https://a.test", "fourth", now.Add(time.Second)), "fourth"); err != nil {
		t.Fatal(err)
	}
	if found, err := one.Recall("https://a.test", "", time.Time{}); err != nil || string(found.Body) != "fourth" {
		t.Errorf("%q %v", found.Body, err)
	}
}

func TestForget(t *testing.T) {
	backend := newMemory()
	s := running(t, backend, store.Config{})
	if err := save(t, s, record("https://a.test", body, time.Now()), body); err != nil {
		t.Fatal(err)
	}
	s.Forget("https://a.test", "")
	s.Forget("https://never.test", "")
	// Writes of one origin may overtake each other; this one tells nothing new.
	for {
		found, err := s.Recall("https://a.test", "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Record.Current == nil {
			if len(found.Record.History) != 1 {
				t.Errorf("history: %+v", found.Record.History)
			}
			break
		}
	}
	if len(backend.keys()) != 2 {
		t.Errorf("%q", backend.keys())
	}
}

func TestPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newMemory()
		var failed failures
		s := running(t, backend, store.Config{Archive: 1000 * time.Hour, Stale: 100 * time.Hour, OnError: failed.note})
		s.PutPolicy("in force", []byte("{}"))
		if err := save(t, s, record("https://old.test", "old", time.Now()), "old"); err != nil {
			t.Fatal(err)
		}
		// One that is confirmed now and then stays, its body with it.
		for range 100 {
			time.Sleep(24 * time.Hour)
			r := record("https://used.test", body, time.Now())
			done := make(chan error, 1)
			var text []byte
			if len(backend.keys()) < 5 {
				text = []byte(body)
			}
			s.Save(r, text, func(err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		if _, err := s.Recall("https://used.test", "", time.Time{}); err != nil {
			t.Errorf("in use: %v", err)
		}
		if _, err := s.Policy(t.Context(), "in force"); err != nil {
			t.Errorf("policy in force: %v", err)
		}
		if keys := backend.keys(); len(keys) != 3 {
			t.Errorf("%q", keys)
		}
		if failed.ops != nil {
			t.Errorf("failures %v", failed.ops)
		}
	})
}
