package cache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	redis "github.com/pberkel/caddy-storage-redis"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/store"
)

// gate is a cache with a storage, as one running process has it.
type gate struct {
	*cache.Cache
	*script
	shared *cache.Shared
	store  *store.Store
}

func newGate(backend store.Backend, answer func(fetch.Request) fetch.Result, change func(*cache.Config)) *gate {
	g := &gate{script: &script{answer: answer}, shared: cache.NewShared(), store: store.New(backend, store.Config{})}
	config := cache.Config{Fetch: g.fetch, Store: g.store}
	if change != nil {
		change(&config)
	}
	g.Cache = cache.New(g.shared, config)
	g.store.Start()
	g.Cache.Start()
	return g
}

func (g *gate) stop(t *testing.T) {
	t.Helper()
	g.Cache.Stop()
	g.store.Stop()
	if err := g.shared.Destruct(); err != nil {
		t.Error(err)
	}
}

func TestPersist_Restart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &certmagic.FileStorage{Path: t.TempDir()}
		answer := func(r fetch.Request) fetch.Result {
			if r.Origin.Host == "none.test" {
				return missing(r)
			}
			result := good(rules)(r)
			result.ETag, result.FinalURL = `"v1"`, "https://www.a.test/robots.txt"
			return result
		}
		one := newGate(files, answer, nil)
		first := ask(t, one.Cache, "a.test").Copy
		ask(t, one.Cache, "none.test")
		synctest.Wait()
		if !first.Archived() {
			t.Error("the body is in storage and the copy does not know")
		}
		one.stop(t)

		time.Sleep(time.Hour)
		two := newGate(files, func(r fetch.Request) fetch.Result {
			if r.ETag != `"v1"` || r.ValidatorURL != "https://www.a.test/robots.txt" || r.UserAgent != "ExampleBot/1.0" {
				t.Errorf("asked with %+v", r)
			}
			return fetch.Result{Outcome: fetch.NotModified, Status: 304, Lifetime: time.Hour, HasLifetime: true}
		}, nil)
		defer two.stop(t)
		a := ask(t, two.Cache, "a.test")
		expect(t, a, cache.SourceStorage, false, 200)
		expect(t, ask(t, two.Cache, "a.test"), cache.SourceMemory, false, 200)
		if c := a.Copy; !c.FetchedAt.Equal(first.FetchedAt) || !c.ExpiresAt.Equal(first.ExpiresAt) || c.SHA256 != first.SHA256 ||
			c.FinalURL != first.FinalURL || c.Size != len(rules) || !c.Archived() || c.Matcher("x").Match("/private").Allowed {
			t.Errorf("revived: %+v", c)
		}
		n := ask(t, two.Cache, "none.test")
		expect(t, n, cache.SourceStorage, false, 404)
		if n.Copy.State != cache.StateUnavailable {
			t.Errorf("%+v", n.Copy)
		}
		// It expires when it would have, and is then confirmed, not fetched.
		time.Sleep(24 * time.Hour)
		a = ask(t, two.Cache, "a.test")
		expect(t, a, cache.SourceFetched, false, 200)
		if !a.Copy.FetchedAt.Equal(first.FetchedAt) || a.Copy.ValidatedAt.Equal(first.ValidatedAt) {
			t.Errorf("confirmed: %+v", a.Copy)
		}
	})
}

func TestPersist_LastGoodCopyOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &certmagic.FileStorage{Path: t.TempDir()}
		one := newGate(files, good(rules), nil)
		ask(t, one.Cache, "a.test")
		one.stop(t)
		time.Sleep(29 * 24 * time.Hour)
		two := newGate(files, broken, nil)
		expect(t, ask(t, two.Cache, "a.test"), cache.SourceStale, false, 503)
		two.stop(t)
		time.Sleep(2 * 24 * time.Hour)
		three := newGate(files, broken, nil)
		expect(t, ask(t, three.Cache, "a.test"), cache.SourceFetched, true, 503)
		three.stop(t)
	})
}

func TestPersist_Vary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &certmagic.FileStorage{Path: t.TempDir()}
		answer := func(r fetch.Request) fetch.Result {
			result := good("User-agent: *\nDisallow: /" + r.UserAgent + "\n")(r)
			result.VaryUserAgent = true
			return result
		}
		one := newGate(files, answer, nil)
		for _, name := range []string{"a", "b"} {
			one.Lookup(t.Context(), site("v.test"), name, name)
		}
		one.stop(t)
		two := newGate(files, answer, nil)
		defer two.stop(t)
		for _, name := range []string{"a", "b"} {
			got := two.Lookup(t.Context(), site("v.test"), "other", name)
			if got.Source != cache.SourceStorage || got.Copy.Matcher("x").Match("/"+name).Allowed {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if two.count() != 0 {
			t.Errorf("%d fetches", two.count())
		}
	})
}

// What one gate refreshes, the other need not.
func TestPersist_RefreshesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &certmagic.FileStorage{Path: t.TempDir()}
		one := newGate(files, goodFor(time.Hour), nil)
		defer one.stop(t)
		two := newGate(files, goodFor(time.Hour), nil)
		defer two.stop(t)
		for range 10 * 360 {
			time.Sleep(10 * time.Second)
			for _, g := range []*gate{one, two} {
				if a := ask(t, g.Cache, "a.test"); a.Copy == nil {
					t.Fatalf("%+v", a)
				}
			}
		}
		// One gate alone needs 11 to 13 of them.
		if n := one.count() + two.count(); n > 16 {
			t.Errorf("%d fetches by two gates in 10 hours", n)
		}
	})
}

func TestPersist_Purge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &certmagic.FileStorage{Path: t.TempDir()}
		one := newGate(files, good("old"), nil)
		ask(t, one.Cache, "a.test")
		synctest.Wait()
		one.say(good("new"))
		one.Purge(site("a.test"))
		if a := ask(t, one.Cache, "a.test"); a.Source != cache.SourceFetched || a.Copy.Size != 3 {
			t.Errorf("%+v", a)
		}
		synctest.Wait()
		one.Purge(site("a.test"))
		one.stop(t)
		two := newGate(files, good("newest"), nil)
		defer two.stop(t)
		if a := ask(t, two.Cache, "a.test"); a.Source != cache.SourceFetched || a.Copy.Size != 6 {
			t.Errorf("%+v", a)
		}
	})
}

// A body in storage is no longer in memory; a cut answer is recognised all the
// same, and where the body cannot be had, a shorter one counts as cut.
func TestR18_CutBodyOfAnArchivedCopy(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			g := newGate(&certmagic.FileStorage{Path: dir}, good(rules), nil)
			defer g.stop(t)
			ask(t, g.Cache, "a.test")
			synctest.Wait()
			if lost {
				if err := os.RemoveAll(filepath.Join(dir, store.Prefix, "bodies")); err != nil {
					t.Fatal(err)
				}
			}
			for body, cut := range map[string]bool{rules[:20]: true, "User-agent: x\n": lost} {
				g.say(func(fetch.Request) fetch.Result {
					return fetch.Result{Outcome: fetch.Rules, Status: 200, Body: []byte(body), EOFDelimited: true}
				})
				g.Purge(site("b.test"))
				time.Sleep(25 * time.Hour)
				if a := ask(t, g.Cache, "a.test"); (a.Source == cache.SourceStale) != cut {
					t.Errorf("lost %v, %q: %+v", lost, body, a)
				}
				g.say(good(rules))
				time.Sleep(25 * time.Hour)
				ask(t, g.Cache, "a.test")
				synctest.Wait()
				if lost {
					_ = os.RemoveAll(filepath.Join(dir, store.Prefix, "bodies"))
				}
			}
		})
	}
}

func TestR49_EveryAnswerIsACompleteOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		c, _ := start(t, func(r fetch.Request) fetch.Result {
			result := goodFor(time.Minute)(r)
			if n.Add(1)%2 == 0 {
				result.Body = []byte("User-agent: *\nDisallow: /\n")
			}
			return result
		}, nil)
		for range 1000 {
			time.Sleep(7 * time.Second)
			a := ask(t, c, "a.test")
			if a.Copy == nil || time.Since(a.Copy.ValidatedAt) > time.Minute || a.Copy.Matcher("x").Match("/private").Allowed {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// The wall clock of another gate, or of this one last year, proves nothing.
func TestR50_Clock(t *testing.T) {
	for name, test := range map[string]struct {
		shift  time.Duration // of the clock that wrote the record
		source cache.Source
	}{
		"same":              {0, cache.SourceStorage},
		"4 minutes ahead":   {4 * time.Minute, cache.SourceStorage},
		"6 minutes ahead":   {6 * time.Minute, cache.SourceFetched},
		"a year ahead":      {8760 * time.Hour, cache.SourceFetched},
		"25 hours behind":   {-25 * time.Hour, cache.SourceFetched},
		"a year behind":     {-8760 * time.Hour, cache.SourceFetched},
		"23 hours behind":   {-23 * time.Hour, cache.SourceStorage},
		"a minute too late": {-24*time.Hour - time.Minute, cache.SourceFetched},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				files := &certmagic.FileStorage{Path: t.TempDir()}
				g := newGate(files, good("new"), nil)
				defer g.stop(t)
				at := time.Now().Add(test.shift)
				done := make(chan error, 1)
				g.store.Save(store.Record{Origin: "https://a.test", UpdatedAt: at, Current: &store.Answer{
					Content:   store.Content{Status: 200, SHA256: sumOf(rules), Size: len(rules)},
					FetchedAt: at, ValidatedAt: at, ExpiresAt: at.Add(9999 * time.Hour),
				}}, []byte(rules), func(err error) { done <- err })
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				a := ask(t, g.Cache, "a.test")
				expect(t, a, test.source, false, 200)
				// Never longer than the bound, whatever the record says.
				if left := time.Until(a.Copy.ExpiresAt); left > 24*time.Hour+store.MaxSkew {
					t.Errorf("lasts %v more", left)
				}
			})
		})
	}
}

// hanging is a storage whose calls never return.
type hanging struct{ release chan struct{} }

func (h hanging) Store(context.Context, string, []byte) error          { return h.hang() }
func (h hanging) Load(context.Context, string) ([]byte, error)         { return nil, h.hang() }
func (h hanging) Delete(context.Context, string) error                 { return h.hang() }
func (h hanging) List(context.Context, string, bool) ([]string, error) { return nil, h.hang() }
func (h hanging) Stat(context.Context, string) (certmagic.KeyInfo, error) {
	return certmagic.KeyInfo{}, h.hang()
}

func (h hanging) hang() error {
	<-h.release
	return errors.New("too late")
}

func TestR52_StorageHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hanging{make(chan struct{})}
		g := newGate(h, good(rules), nil)
		for i := range 1000 {
			began := time.Now()
			a := ask(t, g.Cache, fmt.Sprintf("%d.test", i))
			if a.Copy == nil || a.Copy.Archived() || time.Since(began) > 250*time.Millisecond || i > 10 && time.Since(began) > 0 {
				t.Fatalf("%d took %v: %+v", i, time.Since(began), a)
			}
		}
		close(h.release)
		g.stop(t)
	})
}

// flaky is a storage that fails on request.
type flaky struct {
	certmagic.Storage
	broken atomic.Bool
}

func (f *flaky) Store(ctx context.Context, key string, value []byte) error {
	if f.broken.Load() {
		return errors.New("no space left on device")
	}
	return f.Storage.Store(ctx, key, value)
}

// A copy that could not be stored is stored when the storage works again.
func TestR51_ArchivedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{Storage: &certmagic.FileStorage{Path: t.TempDir()}}
		f.broken.Store(true)
		g := newGate(f, goodFor(time.Hour), nil)
		defer g.stop(t)
		a := ask(t, g.Cache, "a.test")
		synctest.Wait()
		if a.Copy.Archived() {
			t.Error("archived in a storage that is full")
		}
		f.broken.Store(false)
		g.say(func(fetch.Request) fetch.Result {
			return fetch.Result{Outcome: fetch.NotModified, Status: 304}
		})
		time.Sleep(2 * time.Hour)
		a = ask(t, g.Cache, "a.test")
		synctest.Wait()
		if !a.Copy.Archived() {
			t.Error("not archived although the storage works again")
		}
		if body, err := g.store.Body(t.Context(), a.Copy.SHA256); err != nil || string(body) != rules {
			t.Errorf("%q %v", body, err)
		}
	})
}

// Whatever is damaged is fetched again and never allows.
func TestR54_DamagedStorage(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		files := &certmagic.FileStorage{Path: dir}
		one := newGate(files, good(rules), nil)
		for i := range 100 {
			ask(t, one.Cache, fmt.Sprintf("%d.test", i))
		}
		one.stop(t)
		damaged := 0
		err := filepath.WalkDir(filepath.Join(dir, store.Prefix, "origins"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			damaged++
			switch damaged % 3 {
			case 0:
				data = data[:len(data)/2]
			case 1:
				data = bytes.Replace(data, []byte(`"status":200`), []byte(`"status":404`), 1)
			default:
				data = nil
			}
			return os.WriteFile(path, data, 0o600)
		})
		if err != nil || damaged != 100 {
			t.Fatal(damaged, err)
		}
		two := newGate(files, good("User-agent: *\nDisallow: /\n"), nil)
		defer two.stop(t)
		for i := range 100 {
			a := ask(t, two.Cache, fmt.Sprintf("%d.test", i))
			if a.Source != cache.SourceFetched || a.Copy.Matcher("x").Match("/public").Allowed {
				t.Fatalf("%d: %+v", i, a)
			}
		}
	})
}

// Two gates share copies: one that asks a second after the other fetched, and
// one that only starts then.
func TestR56_TwoGates(t *testing.T) {
	for name, open := range map[string]func(*testing.T) certmagic.Storage{
		"files": func(t *testing.T) certmagic.Storage { return &certmagic.FileStorage{Path: t.TempDir()} },
		"redis": startRedis,
	} {
		t.Run(name, func(t *testing.T) {
			backend := open(t)
			one, two := newGate(backend, good(rules), nil), newGate(backend, good(rules), nil)
			defer one.stop(t)
			defer two.stop(t)
			const n = 50
			var copies []*cache.Copy
			for i := range n {
				copies = append(copies, ask(t, one.Cache, fmt.Sprintf("%d.test", i)).Copy)
			}
			// The second is the contract's: what takes longer is a failure.
			deadline := time.Now().Add(time.Second)
			for _, c := range copies {
				for !c.Archived() {
					if time.Now().After(deadline) {
						t.Fatal("not in storage within a second")
					}
					time.Sleep(time.Millisecond)
				}
			}
			three := newGate(backend, broken, nil)
			defer three.stop(t)
			for i := range n {
				for _, g := range []*gate{two, three} {
					a := ask(t, g.Cache, fmt.Sprintf("%d.test", i))
					expect(t, a, cache.SourceStorage, false, 200)
					if a.Copy.SHA256 != copies[i].SHA256 || !a.Copy.FetchedAt.Equal(copies[i].FetchedAt) {
						t.Fatalf("another copy: %+v", a.Copy)
					}
				}
			}
			if two.count()+three.count() != 0 {
				t.Errorf("%d and %d fetches", two.count(), three.count())
			}
		})
	}
}

// startRedis runs Debian's server on a port of its own.
func startRedis(t *testing.T) certmagic.Storage {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("needs redis-server, which is required here: %v", err)
		}
		t.Skip("needs redis-server; install Debian's package of that name")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	awaitRedis(t, out)
	storage := redis.New()
	storage.Address = []string{"127.0.0.1:" + port}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	if err := storage.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	return storage
}

func awaitRedis(t *testing.T, out interface{ Read([]byte) (int, error) }) {
	t.Helper()
	var said bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(said.String(), "eady to accept connections") {
		n, err := out.Read(buffer)
		if err != nil {
			t.Fatalf("redis-server: %v\n%s", err, said.String())
		}
		said.Write(buffer[:n])
	}
	go func() {
		for {
			if _, err := out.Read(buffer); err != nil {
				return
			}
		}
	}()
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
