package cache

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
)

// State says what a usable answer of an origin was.
type State uint8

const (
	// StateRules: the origin gave a robots.txt; its rules count.
	StateRules State = iota + 1
	// StateUnavailable: the origin said that it has none (RFC 9309 §2.3.1.3);
	// everything is allowed.
	StateUnavailable
)

// String returns "rules" or "unavailable".
func (s State) String() string {
	if s == StateUnavailable {
		return "unavailable"
	}
	return "rules"
}

// A Copy is one usable answer of an origin. Its fields never change; it is
// safe for concurrent use.
type Copy struct {
	*content

	State State

	// Status is the status code of the answer, 0 where a loop of redirects
	// stood for it.
	Status int

	// RobotsURL was asked; FinalURL answered, and is empty unless it differs.
	RobotsURL string
	FinalURL  string

	// FetchedAt is when these bytes came, ValidatedAt when the origin last
	// confirmed them, ExpiresAt when they stop being fresh.
	FetchedAt   time.Time
	ValidatedAt time.Time
	ExpiresAt   time.Time

	// FetchUserAgent is the User-Agent that fetched them.
	FetchUserAgent string

	token        string // whose request led to the fetch
	etag         string
	lastModified string
	varies       bool
}

// content is what stays the same when an origin confirms a copy.
type content struct {
	// Robots is the parsed file; of StateUnavailable an empty one.
	Robots *parser.Robots

	// SHA256 is the hash of the body as parsed, in lower-case hex, and Size
	// its length in bytes. Both are zero for StateUnavailable.
	SHA256 string
	Size   int

	// Truncated: the file was longer than we read. EOFDelimited: only the end
	// of the connection ended it. HTML: it is a web page.
	Truncated    bool
	EOFDelimited bool
	HTML         bool

	// packed is the body, compressed: a later answer may prove to be a part of
	// it.
	packed   atomic.Pointer[[]byte]
	archived atomic.Bool
	matched  atomic.Bool
	matchers atomic.Pointer[[]cachedMatcher]
	holder   atomic.Pointer[entry]
}

// noContent is the content of an origin without robots.txt.
var noContent = &content{Robots: parser.Parse(nil)}

// Archived reports whether the body is safely in storage.
func (c *content) Archived() bool { return c.archived.Load() }

// cachedMatcher is a matcher and the tokens it was made for.
type cachedMatcher struct {
	tokens  []string
	matcher *matcher.Matcher
}

const (
	// maxMatchers bounds the token lists that one copy remembers.
	maxMatchers = 16
	// maxTokenBytes bounds a token list worth remembering.
	maxTokenBytes = 512
)

// Matcher returns the matcher of these rules for the product tokens in order
// of preference. Once it is remembered it costs no allocation.
func (c *content) Matcher(tokens ...string) *matcher.Matcher {
	if list := c.matchers.Load(); list != nil {
		for i := range *list {
			if slices.Equal((*list)[i].tokens, tokens) {
				return (*list)[i].matcher
			}
		}
	}
	return c.newMatcher(slices.Clone(tokens))
}

// newMatcher makes a matcher and remembers it, from the second on: a matcher
// takes more room than the rules it is made of, and a broad crawl asks most
// origins once. Lists that lead to the same group share one matcher.
func (c *content) newMatcher(tokens []string) *matcher.Matcher {
	m := matcher.New(c.Robots, tokens...)
	if !c.matched.Swap(true) || tokenBytes(tokens) > maxTokenBytes {
		return m
	}
	for i := range tokens {
		tokens[i] = strings.Clone(tokens[i])
	}
	for {
		old := c.matchers.Load()
		var list []cachedMatcher
		if old != nil {
			list = slices.Clone(*old)
		}
		for _, have := range list {
			if have.matcher.Token() == m.Token() {
				m = have.matcher
				break
			}
		}
		if len(list) == maxMatchers {
			list = slices.Delete(list, 0, 1)
		}
		list = append(list, cachedMatcher{tokens, m})
		if c.matchers.CompareAndSwap(old, &list) {
			break
		}
	}
	if e := c.holder.Load(); e != nil {
		e.shared.reweigh(e)
	}
	return m
}

func tokenBytes(tokens []string) int {
	n := 0
	for _, token := range tokens {
		n += len(token)
	}
	return n
}

// The bytes that the fixed parts of things take, as the allocator rounds them.
// TestCountedBytes holds the sum against the heap.
const (
	copyBytes    = 208
	contentBytes = 80
	matcherBytes = 48
	packedBytes  = 40
)

// size returns the bytes that the copy holds in memory.
func (c *Copy) size() int {
	if c == nil {
		return 0
	}
	n := copyBytes + rounded(c.RobotsURL, c.FinalURL, c.token, c.etag, c.lastModified)
	if c.content != noContent {
		n += c.content.size()
	}
	return n
}

func (c *content) size() int {
	n := contentBytes + rounded(c.SHA256) + c.Robots.Size()
	if packed := c.packed.Load(); packed != nil {
		n += packedBytes + len(*packed)
	}
	list := c.matchers.Load()
	if list == nil {
		return n
	}
	for i, have := range *list {
		n += matcherBytes + 16*len(have.tokens) + rounded(have.tokens...)
		shared := slices.ContainsFunc((*list)[:i], func(m cachedMatcher) bool { return m.matcher == have.matcher })
		if !shared {
			n += have.matcher.Size()
		}
	}
	return n
}

// rounded returns the bytes of strings as the allocator rounds them.
func rounded(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += (len(text) + 15) &^ 15
	}
	return n
}
