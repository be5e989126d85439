package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
	"github.com/robotsgate/robotsgate/internal/fetch"
)

const (
	hosts       = 100
	directories = 10
	workers     = 32
)

// said is one answer to a robots.txt request, noted where it was written.
type said struct {
	began, ended time.Time
	// good: complete rules or 404. Then disallowed has a bit for each
	// directory; 404 has none.
	good       bool
	disallowed uint16
}

// witness is one host's own account of what it said. Decisions are judged by
// it and by nothing that the gate says.
type witness struct {
	mu      sync.Mutex
	answers []said

	// behaviour is how the host answers until it changes.
	behaviour said
	mode      faultorigin.Mode
	until     time.Time
}

// reading is how long an answer may take from the origin's socket to where
// decisions are taken, on top of how long the machine makes anybody wait.
const reading = 100 * time.Millisecond

// late is how much too late timers of this process came at worst in the last
// two to four seconds, worst in all of the run; both in nanoseconds.
var late, worst atomic.Int64

// watchTimers keeps late until stop is closed.
func watchTimers(stop <-chan struct{}) {
	const nap, span = 2 * time.Millisecond, 2 * time.Second
	var before, present int64
	turn := time.Now()
	for {
		began := time.Now()
		select {
		case <-stop:
			return
		case <-time.After(nap):
		}
		if time.Since(turn) > span {
			before, present, turn = present, 0, time.Now()
		}
		present = max(present, int64(time.Since(began)-nap))
		late.Store(max(before, present))
		worst.Store(max(worst.Load(), present))
	}
}

func (w *witness) note(s said) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = append(w.answers, s)
	if len(w.answers) > 200 {
		w.answers = w.answers[100:]
	}
}

// justifies reports whether a decision taken between two times follows from
// what the host had said: from the last good answer before, or from one that
// was being read. Without any good answer, denial is right.
func (w *witness) justifies(allowed bool, directory int, from, to time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := false
	for i := len(w.answers) - 1; i >= 0; i-- {
		s := w.answers[i]
		if !s.good || s.began.After(to) {
			continue
		}
		if allowed == (s.disallowed>>directory&1 == 0) {
			return true
		}
		if from.Sub(s.ended) > reading+2*time.Duration(late.Load()) {
			before = true
			break // what was said before that is replaced by now
		}
	}
	return !allowed && !before
}

// faulty answers robots.txt at random, and pages with what the witness says.
func (w *witness) faulty(wrong *atomic.Int64) faultorigin.Mode {
	return func(c *faultorigin.Conn) bool {
		if c.Path() != "/robots.txt" {
			var directory int
			var asked int64
			_, _ = fmt.Sscanf(c.Path(), "/d%d/", &directory)
			_, _ = fmt.Sscanf(c.Header.Get("X-Asked"), "%d", &asked)
			if !w.justifies(true, directory, time.Unix(0, asked), time.Now()) {
				wrong.Add(1)
			}
			return faultorigin.Answer(200, "", "page")(c)
		}
		s, mode := w.choose()
		// Noted before it is sent as well: who reads it may decide before the
		// write returns.
		s.ended = s.began.Add(time.Hour)
		w.note(s)
		at := s.began
		keep := mode(c)
		w.end(at)
		return keep
	}
}

// choose returns how the host answers now, which changes every second or so.
func (w *witness) choose() (said, faultorigin.Mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.After(w.until) {
		w.until = now.Add(time.Duration(rand.ExpFloat64() * float64(time.Second)))
		w.behaviour, w.mode = said{}, faultorigin.ByName(faultNames[rand.IntN(len(faultNames))])
		switch n := rand.IntN(10); {
		case n < 6:
			w.behaviour = said{good: true, disallowed: uint16(rand.IntN(1 << directories))}
			w.mode = faultorigin.Answer(200, "", robots(w.behaviour.disallowed))
		case n == 6:
			w.behaviour = said{good: true}
			w.mode = faultorigin.Status(404)
		}
	}
	s := w.behaviour
	s.began = now
	return s, w.mode
}

// end notes when an answer was out.
func (w *witness) end(began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.answers {
		if w.answers[i].began.Equal(began) {
			w.answers[i].ended = time.Now()
		}
	}
}

// faultNames are the modes of failure; each must leave the last good copy.
var faultNames = []string{
	"st-500", "st-503", "st-429", "st-206", "st-304", "st-999", "hang", "short", "badchunk", "rst", "rst-body",
	"br", "gzip-bogus", "gzip-cut", "gzip-bare", "noloc", "two-cl", "badheader", "nul", "http09", "bigheaders", "utf16-nobom",
}

func robots(disallowed uint16) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for d := range directories {
		if disallowed>>d&1 != 0 {
			fmt.Fprintf(&b, "Disallow: /d%d/\n", d)
		}
	}
	return b.String()
}

// faults decides randomised requests while the origins fail at random, sends
// those that are allowed, and has them judged where they arrive.
func faults(o options) []figure {
	r := newRig(func(c *cache.Config, f *fetch.Config) {
		f.Timeout = 2 * time.Second
		c.TTL, c.MinTTL, c.RetryMin, c.RetryMax = 200*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond, 100*time.Millisecond
	})
	r.origin.OnRequest(func(faultorigin.Exchange) {})
	var wrong, allowed, denied, unreachable, failed atomic.Int64
	var witnesses [hosts]witness
	for i := range witnesses {
		r.origin.Set(fmt.Sprintf("h%d.test", i), witnesses[i].faulty(&wrong))
	}
	base := runtime.NumGoroutine()
	files := openFiles()
	pages := &http.Transport{DialContext: r.origin.Dial, MaxIdleConnsPerHost: workers}
	var all sync.WaitGroup
	stop := make(chan struct{})
	go watchTimers(stop)
	for range workers {
		all.Go(func() {
			for range o.requests / workers {
				host, directory := rand.IntN(hosts), rand.IntN(directories)
				name := fmt.Sprintf("h%d.test", host)
				began := time.Now()
				a := r.Lookup(context.Background(), plain(name), "ExampleBot/1.0", "examplebot")
				if a.Copy == nil || !a.Copy.Matcher("examplebot").Match(fmt.Sprintf("/d%d/x", directory)).Allowed {
					if a.Copy == nil {
						unreachable.Add(1)
					} else {
						denied.Add(1)
					}
					if !witnesses[host].justifies(false, directory, began, time.Now()) {
						wrong.Add(1)
					}
					continue
				}
				allowed.Add(1)
				if visit(pages, name, directory, began) != nil {
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	total := allowed.Load() + denied.Load() + unreachable.Load()
	share := func(n int64) float64 { return 100 * float64(n) / float64(total) }
	pages.CloseIdleConnections()
	r.close()
	leaked, open := settle(base, files)
	return []figure{
		{fmt.Sprintf("wrong decisions in %d requests, faults at random", total), fmt.Sprint(wrong.Load()), "0", wrong.Load() == 0 && failed.Load() == 0},
		{"the same: allowed", fmt.Sprintf("%.0f %%", share(allowed.Load())), "40 %", share(allowed.Load()) >= 40},
		{"the same: denied by rules", fmt.Sprintf("%.0f %%", share(denied.Load())), "20 %", share(denied.Load()) >= 20},
		{"the same: denied as unreachable", fmt.Sprintf("%.1f %%", share(unreachable.Load())), "printed", true},
		{"the same: worst timer of a busy machine", time.Duration(worst.Load()).Round(time.Millisecond).String(), "printed", true},
		{"the same: allowed requests that did not arrive", fmt.Sprint(failed.Load()), "0", failed.Load() == 0},
		{"afterwards: goroutines over base, descriptors over base", fmt.Sprintf("%d, %d", leaked, open), "0, 0", leaked <= 0 && open <= 0},
	}
}

// visit sends an allowed request to its origin.
func visit(pages *http.Transport, host string, directory int, asked time.Time) error {
	request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://%s/d%d/x", host, directory), nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-Asked", fmt.Sprint(asked.UnixNano()))
	response, err := pages.RoundTrip(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return err
}

// settle waits for what is still closing and returns what stays.
func settle(goroutines, files int) (int, int) {
	for range 100 {
		if runtime.NumGoroutine() <= goroutines && openFiles() <= files {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return runtime.NumGoroutine() - goroutines, openFiles() - files
}

func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
