// Package store keeps robots.txt copies, their history, their bodies and the
// gates' policies in Caddy's storage, where several gates may share them.
//
// Nothing that it does holds up a decision: writes are queued and dropped when
// the queue is full, reads end after 250 ms, and a storage that keeps failing
// is left alone for a while.
//
// Below the prefix, keys are made of hashes only:
//
//	origins/ab/ab…   one Record for each origin (and token, where answers vary)
//	bodies/ab/ab…    each body once, by its SHA-256
//	policies/ab…     effective configurations of gates, by their hash
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
)

// Prefix is where all keys begin.
const Prefix = "robots_gate"

const (
	// readTimeout bounds a read that a request waits for.
	readTimeout = 250 * time.Millisecond
	// maxReads bounds the reads at one time, those included that nobody waits
	// for any more: storage takes no deadline.
	maxReads = 64
	// writers is how many writes go on at one time.
	writers = 4
	// maxQueue and maxQueueBytes bound what waits to be written.
	maxQueue      = 8192
	maxQueueBytes = 32 << 20
	// flushTimeout bounds the wait for the queue when the store stops.
	flushTimeout = 2 * time.Second
	// tripAfter failures in a row make reads pause for tripPause.
	tripAfter = 5
	tripPause = 30 * time.Second
)

// Backend is the part of Caddy's storage that is used: certmagic.Storage
// without its locks.
type Backend interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, path string, recursive bool) ([]string, error)
	Stat(ctx context.Context, key string) (certmagic.KeyInfo, error)
}

// The operations whose failures are counted.
const (
	OpLoad    = "load"
	OpStore   = "store"
	OpPrune   = "prune"
	OpDamaged = "damaged" // a value failed its length, hash or version
	OpDropped = "dropped" // the queue was full
)

// Config says what a Store keeps.
type Config struct {
	// Archive is how long bodies, histories and policies stay after their last
	// use. Default: 8760h.
	Archive time.Duration

	// Stale is how long a copy may serve without being confirmed, and so be
	// used without being written again. Default: 720h.
	Stale time.Duration

	// OnError, where set, is told of every failure.
	OnError func(op string, err error)
}

// Store keeps things in a Backend. Make one with New; reads work at once,
// writes and pruning from Start to Stop.
type Store struct {
	backend Backend
	config  Config

	reads    chan struct{}
	failures atomic.Int32
	pausedTo atomic.Int64 // since began, in nanoseconds
	began    time.Time

	queue       chan job
	queuedBytes atomic.Int64
	stop        chan struct{}
	work        sync.WaitGroup

	mu       sync.Mutex
	policies map[string][]byte // put by this store: in use as long as it runs
}

// New makes a store on a backend. It does not touch it.
func New(backend Backend, config Config) *Store {
	if config.Archive <= 0 {
		config.Archive = 8760 * time.Hour
	}
	if config.Stale <= 0 {
		config.Stale = 720 * time.Hour
	}
	if config.OnError == nil {
		config.OnError = func(string, error) {}
	}
	return &Store{
		backend: backend, config: config, began: time.Now(),
		policies: make(map[string][]byte),
		reads:    make(chan struct{}, maxReads), queue: make(chan job, maxQueue), stop: make(chan struct{}),
	}
}

// ErrNotFound says that the storage has no such thing.
var ErrNotFound = fs.ErrNotExist

// hash is the lower-case hex SHA-256 of a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func recordKey(origin, token string) string {
	h := hash(origin + "\n" + token)
	return Prefix + "/origins/" + h[:2] + "/" + h
}

func bodyKey(sum string) string { return Prefix + "/bodies/" + sum[:2] + "/" + sum }

// policyKey hashes what it is given once more: it may come from anywhere.
func policyKey(name string) string { return Prefix + "/policies/" + hash(name) }

// isSum reports whether a text is a lower-case hex SHA-256.
func isSum(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// failed counts a failure of the backend; a missing key is none.
func (s *Store) failed(op string, err error) {
	if err != nil && !errors.Is(err, ErrNotFound) {
		s.config.OnError(op, err)
	}
}

// Body returns a stored body by its SHA-256 in lower-case hex. What it returns
// has that hash.
func (s *Store) Body(ctx context.Context, sum string) ([]byte, error) {
	if !isSum(sum) {
		return nil, fmt.Errorf("%q is no SHA-256 in lower-case hex", sum)
	}
	body, err := s.load(ctx, bodyKey(sum))
	if err != nil {
		return nil, fmt.Errorf("loading robots.txt body %s: %w", sum, err)
	}
	if hash(string(body)) != sum {
		s.discard(ctx, bodyKey(sum), errDamaged)
		return nil, fmt.Errorf("loading robots.txt body %s: %w", sum, errDamaged)
	}
	return body, nil
}

// Policy returns an archived policy by the name it was put under.
func (s *Store) Policy(ctx context.Context, name string) ([]byte, error) {
	policy, err := s.load(ctx, policyKey(name))
	if err != nil {
		return nil, fmt.Errorf("loading policy %s: %w", name, err)
	}
	return policy, nil
}

// PutPolicy archives a policy, in its own time, under a name that tells it
// from all others: its hash.
func (s *Store) PutPolicy(name string, policy []byte) {
	s.mu.Lock()
	s.policies[name] = policy
	s.mu.Unlock()
	s.enqueue(job{size: len(policy), run: func(ctx context.Context) error {
		return s.backend.Store(ctx, policyKey(name), seal(policy))
	}})
}

// Record returns what is stored of an origin, its history included.
func (s *Store) Record(ctx context.Context, origin, token string) (Record, error) {
	key := recordKey(origin, token)
	data, err := s.load(ctx, key)
	if err != nil {
		return Record{}, fmt.Errorf("loading the record of %s: %w", origin, err)
	}
	r, err := decodeRecord(data, origin, token)
	if err != nil {
		s.discard(ctx, key, err)
	}
	return r, err
}

// load reads and opens a value.
func (s *Store) load(ctx context.Context, key string) ([]byte, error) {
	data, err := s.backend.Load(ctx, key)
	if err != nil {
		s.failed(OpLoad, err)
		return nil, err
	}
	payload, err := unseal(data)
	if err != nil {
		s.discard(ctx, key, err)
		return nil, err
	}
	return payload, nil
}

// discard deletes a damaged value, so that the next write takes its place.
func (s *Store) discard(ctx context.Context, key string, err error) {
	s.config.OnError(OpDamaged, fmt.Errorf("reading %s: %w", key, err))
	s.failed(OpDamaged, s.backend.Delete(ctx, key))
}
