package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
	"unique"

	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/parser"
)

const (
	// maxRetryAfter bounds how long an origin may put us off.
	maxRetryAfter = time.Hour
	// maxEOFLifetime bounds the trust in a body that may have been cut.
	maxEOFLifetime = time.Hour
	// maxUnavailable bounds how long "there is no robots.txt" may stand in for
	// an origin that has since become unreachable.
	maxUnavailable = 24 * time.Hour
)

// state is what is known of an origin at one time. It never changes. Times are
// durations since Shared's base, which no change of the wall clock moves.
type state struct {
	// copy is the last good answer, nil where there is none.
	copy       *Copy
	freshUntil time.Duration
	staleUntil time.Duration

	// failure is the last access where that was unreachable, else nil.
	failure *failure

	// varies: answers differ by User-Agent, and each token has its own entry.
	// Such a state holds nothing else.
	varies bool
}

// failure is an unreachable access and when to try again.
type failure struct {
	status  int
	err     error
	cause   fetch.Cause
	count   int // in a row
	retryAt time.Duration
}

// stateBytes and failureBytes count the structs.
const (
	stateBytes   = 48
	failureBytes = 96
)

func (s *state) size() int {
	n := stateBytes + s.copy.size()
	if s.failure != nil {
		n += failureBytes + len(s.failure.err.Error())
	}
	return n
}

// fresh reports whether the copy may be used without a word from the origin.
func (s *state) fresh(now time.Duration) bool { return s.copy != nil && now < s.freshUntil }

// advance returns what is known after a fetch. refresh is when to renew it.
func advance(prev *state, result *fetch.Result, request *fetch.Request, token string, c *Config, now time.Duration) (next *state, refresh time.Duration) {
	if prev == nil || prev.varies {
		prev = &state{}
	}
	if result.Outcome == fetch.NotModified && (prev.copy == nil || prev.copy.State != StateRules) {
		// A validator we do not have was confirmed: that means nothing.
		result.Outcome, result.Cause = fetch.Unreachable, fetch.CauseBadStatus
		result.Err = errors.New("the origin confirmed a copy that is gone")
	}
	if result.EOFDelimited && prev.copy != nil && prev.copy.cutBy(result.Body, c.Store) {
		result.Outcome, result.Cause = fetch.Unreachable, fetch.CauseTruncated
		result.Err = errors.New("the connection ended after the first part of the last good copy")
	}
	switch result.Outcome {
	case fetch.Rules, fetch.Unavailable:
		return succeed(newCopy(result, request, token), result, c, now)
	case fetch.NotModified:
		return succeed(confirm(prev.copy, result), result, c, now)
	default:
		next = fail(prev, result, c, now)
		return next, next.failure.retryAt
	}
}

// succeed gives a good copy its times.
func succeed(good *Copy, result *fetch.Result, c *Config, now time.Duration) (*state, time.Duration) {
	lifetime := c.TTL
	if result.HasLifetime {
		lifetime = min(max(result.Lifetime, c.MinTTL), c.TTL)
	}
	if good.EOFDelimited {
		lifetime = min(lifetime, max(maxEOFLifetime, c.MinTTL))
	}
	stale := c.Stale
	if good.State == StateUnavailable {
		stale = min(stale, maxUnavailable)
	}
	good.ExpiresAt = good.ValidatedAt.Add(lifetime)
	next := &state{copy: good, freshUntil: now + lifetime, staleUntil: now + max(stale, lifetime)}
	return next, now + renewAfter(lifetime)
}

// renewAfter is when to renew a copy: between 80 and 95 % of its lifetime, so
// that what was fetched together is not renewed together, and the renewal is
// over before the copy is.
func renewAfter(lifetime time.Duration) time.Duration {
	return time.Duration(float64(lifetime) * (0.8 + 0.15*rand.Float64()))
}

// fail keeps the last good copy and plans the retry.
func fail(prev *state, result *fetch.Result, c *Config, now time.Duration) *state {
	next := *prev
	count := 1
	if prev.failure != nil {
		count += prev.failure.count
	}
	wait := backoff(c.RetryMin, c.RetryMax, count)
	wait = max(wait, min(result.RetryAfter, maxRetryAfter))
	next.failure = &failure{
		status: result.Status, err: flatten(result.Err), cause: result.Cause,
		count: count, retryAt: now + wait,
	}
	if next.copy != nil && now >= next.staleUntil {
		next.copy = nil
	}
	return &next
}

// denied is what the address policy's errors have in common.
type denied interface {
	error
	Reason() string
}

// maxErrorText bounds the error text that a failed origin keeps in memory.
const maxErrorText = 300

// flatten keeps the text of an error and not the connections, addresses and
// URLs behind it. A denial stays what it is, for whoever must tell it apart.
func flatten(err error) error {
	if err == nil {
		return errUnknown
	}
	if denial, ok := errors.AsType[denied](err); ok {
		return denial
	}
	text := err.Error()
	return errors.New(strings.ToValidUTF8(text[:min(len(text), maxErrorText)], ""))
}

var errUnknown = errors.New("the fetch failed for no stated cause")

// backoff doubles from shortest to longest, give or take a tenth, so that
// origins that failed together do not come back together.
func backoff(shortest, longest time.Duration, count int) time.Duration {
	wait := shortest
	for i := 1; i < count && wait < longest; i++ {
		wait *= 2
	}
	wait = min(wait, longest)
	return time.Duration(float64(wait) * (0.9 + 0.2*rand.Float64()))
}

// newCopy makes a copy of a fetched answer.
func newCopy(result *fetch.Result, request *fetch.Request, token string) *Copy {
	at := time.Now()
	good := &Copy{
		content: noContent, State: StateUnavailable, Status: result.Status,
		RobotsURL: request.Origin.RobotsURL(), FetchedAt: at, ValidatedAt: at,
		// Few User-Agents fetch for many origins: one string serves them all.
		FetchUserAgent: unique.Make(result.UserAgent).Value(),
		token:          strings.Clone(token), varies: result.VaryUserAgent,
	}
	if result.FinalURL != good.RobotsURL {
		good.FinalURL = result.FinalURL
	}
	if result.Outcome == fetch.Rules {
		sum := sha256.Sum256(result.Body)
		good.State, good.etag, good.lastModified = StateRules, result.ETag, result.LastModified
		good.content = &content{
			Robots: parser.Parse(result.Body), SHA256: hex.EncodeToString(sum[:]), Size: len(result.Body),
			Truncated: result.Truncated, EOFDelimited: result.EOFDelimited, HTML: result.HTML,
		}
		good.packed.Store(pack(result.Body))
	}
	return good
}

// confirm is the copy after a 304: same content, new times.
func confirm(old *Copy, result *fetch.Result) *Copy {
	good := *old
	good.ValidatedAt = time.Now()
	good.varies = old.varies || result.VaryUserAgent
	if result.ETag != "" {
		good.etag = result.ETag
	}
	if result.LastModified != "" {
		good.lastModified = result.LastModified
	}
	return &good
}
