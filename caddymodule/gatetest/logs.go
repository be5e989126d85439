package gatetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func init() {
	caddy.RegisterModule(Writer{})
}

// patience bounds every wait for something that is bound to come.
const patience = 20 * time.Second

// Entry is one line of Caddy's log.
type Entry struct {
	Level, Logger, Msg string
	// Robots is the record, where the entry has one.
	Robots map[string]any
	// Fields are all fields of the entry.
	Fields map[string]any
	// Line is the entry as it was written.
	Line string
}

// logs keeps what Caddy writes.
type logs struct {
	id      string
	mu      sync.Mutex
	entries []Entry
	more    chan struct{}
}

var (
	allLogs   sync.Map // by id
	countLogs int
)

func openLogs(t testing.TB) *logs {
	countLogs++
	l := &logs{id: fmt.Sprint(countLogs), more: make(chan struct{})}
	allLogs.Store(l.id, l)
	t.Cleanup(func() { allLogs.Delete(l.id) })
	return l
}

// Write takes one line.
func (l *logs) Write(line []byte) (int, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(line, &e.Fields); err != nil {
		return 0, err
	}
	e.Line = string(line)
	l.mu.Lock()
	l.entries = append(l.entries, e)
	close(l.more)
	l.more = make(chan struct{})
	l.mu.Unlock()
	return len(line), nil
}

func (l *logs) Close() error { return nil }

// Log waits until the log has n entries with that message and returns them.
func (r *Rig) Log(message string, n int) []Entry {
	r.t.Helper()
	late := time.After(patience)
	for {
		found, more := r.logs.find(message)
		if len(found) >= n {
			return found
		}
		select {
		case <-more:
		case <-late:
			r.t.Fatalf("the log has %d entries %q, not %d", len(found), message, n)
		}
	}
}

func (l *logs) find(message string) ([]Entry, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Entry
	for _, e := range l.entries {
		if e.Msg == message {
			found = append(found, e)
		}
	}
	return found, l.more
}

// Access waits for n entries of the access log and returns them in the order in
// which the requests came. An answer may arrive before its entry is written.
func (r *Rig) Access(n int) []Entry {
	r.t.Helper()
	entries := r.Log("handled request", n)
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.seq(), b.seq()) })
	return entries
}

func (e Entry) seq() float64 {
	seq, _ := e.Robots["seq"].(float64)
	return seq
}

// Record waits for n entries of the access log and returns the record of the
// n-th request.
func (r *Rig) Record(n int) map[string]any {
	r.t.Helper()
	entry := r.Access(n)[n-1]
	if entry.Robots == nil {
		r.t.Fatalf("entry %d of the access log has no record: %s", n, entry.Line)
	}
	return entry.Robots
}

// Writer is the log writer that hands lines to the test.
type Writer struct {
	ID string `json:"id,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Writer) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.writers.gatetest", New: func() caddy.Module { return new(Writer) }}
}

// UnmarshalCaddyfile reads the log's id.
func (w *Writer) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if !d.AllArgs(&w.ID) {
		return d.ArgErr()
	}
	return nil
}

func (w Writer) String() string { return "gatetest " + w.ID }

// WriterKey tells one log from another.
func (w Writer) WriterKey() string { return w.String() }

// OpenWriter finds the log.
func (w Writer) OpenWriter() (io.WriteCloser, error) {
	l, ok := allLogs.Load(w.ID)
	if !ok {
		return nil, fmt.Errorf("no test has the log %s", w.ID)
	}
	return l.(*logs), nil
}
