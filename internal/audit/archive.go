package audit

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/judge"
)

// Archive is where gates keep what they decided by.
type Archive interface {
	// Body returns a robots.txt by its SHA-256 in lower-case hex.
	Body(ctx context.Context, sha256 string) ([]byte, error)
	// Policy returns the canonical JSON of a gate's effective configuration
	// by its hash.
	Policy(ctx context.Context, hash string) ([]byte, error)
}

const (
	// maxBodies bounds the bytes of parsed robots.txt files in memory.
	maxBodies = 128 << 20
	// goneBytes is what an entry without a body counts.
	goneBytes = 512
	// maxPolicies bounds the policies in memory.
	maxPolicies = 1024
)

// library reads the archive once for each thing in it, as long as memory
// lasts. It is safe for concurrent use.
type library struct {
	ctx     context.Context
	archive Archive

	mu       sync.Mutex
	policies map[string]*archivedPolicy
	bodies   map[string]*list.Element
	recent   *list.List // of *archivedBody, the last used first
	bytes    int
}

func newLibrary(ctx context.Context, archive Archive) *library {
	return &library{
		ctx: ctx, archive: archive,
		policies: map[string]*archivedPolicy{}, bodies: map[string]*list.Element{}, recent: list.New(),
	}
}

// archivedBody is a parsed robots.txt, or why there is none.
type archivedBody struct {
	sum  string
	once sync.Once
	copy *cache.Copy
	gone string
	// counted is how many bytes it is counted with.
	counted int
}

// body returns a robots.txt by its hash.
func (lib *library) body(sum []byte) *archivedBody {
	lib.mu.Lock()
	element := lib.bodies[string(sum)]
	if element == nil {
		element = lib.recent.PushFront(&archivedBody{sum: string(sum), counted: goneBytes})
		lib.bodies[string(sum)] = element
		lib.bytes += goneBytes
		lib.forget()
	} else {
		lib.recent.MoveToFront(element)
	}
	lib.mu.Unlock()
	b := element.Value.(*archivedBody)
	b.once.Do(func() { lib.load(b) })
	return b
}

func (lib *library) load(b *archivedBody) {
	body, err := lib.archive.Body(lib.ctx, b.sum)
	switch {
	case err != nil:
		b.gone = "its robots.txt is not in the archive"
		return
	case hashOf(body) != b.sum:
		b.gone = "its robots.txt is damaged in the archive"
		return
	}
	b.copy = cache.NewCopy(cache.StateRules, 0, body)
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if _, still := lib.bodies[b.sum]; still {
		// Twice the file, for the matchers that its rules become.
		n := 2*b.copy.Robots.Size() + goneBytes
		lib.bytes += n
		b.counted += n
		lib.forget()
	}
}

// forget drops the bodies that were not used for longest. lib.mu is held.
func (lib *library) forget() {
	for lib.bytes > maxBodies && lib.recent.Len() > 1 {
		oldest := lib.recent.Remove(lib.recent.Back()).(*archivedBody)
		delete(lib.bodies, oldest.sum)
		lib.bytes -= oldest.counted
	}
}

// archivedPolicy is a compiled policy, or why there is none.
type archivedPolicy struct {
	hash     string
	once     sync.Once
	compiled *judge.Compiled
	gone     string
	// missing are the origins of overrides whose robots file is gone. Such an
	// override cannot be followed.
	missing []string
	// tokens are the configured ones, nil where the User-Agent tells them.
	tokens []string
	// tokensVary and jobVaries: placeholders make them.
	tokensVary, jobVaries bool
	// dated: an override ends at some time.
	dated bool
}

func (lib *library) policy(hash []byte) *archivedPolicy {
	lib.mu.Lock()
	p := lib.policies[string(hash)]
	if p == nil {
		if len(lib.policies) >= maxPolicies {
			clear(lib.policies)
		}
		p = &archivedPolicy{hash: string(hash)}
		lib.policies[p.hash] = p
	}
	lib.mu.Unlock()
	p.once.Do(func() { lib.open(p) })
	return p
}

func (lib *library) open(p *archivedPolicy) {
	data, err := lib.archive.Policy(lib.ctx, p.hash)
	switch {
	case err != nil:
		p.gone = "its policy is not in the archive"
		return
	case hashOf(data) != p.hash:
		p.gone = "its policy is damaged in the archive"
		return
	}
	if err := lib.compile(p, data); err != nil {
		p.gone = "its policy cannot be used by this version: " + err.Error()
	}
}

func (lib *library) compile(p *archivedPolicy, data []byte) error {
	var policy judge.Policy
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&policy); err != nil {
		return err
	}
	for i := range policy.Overrides {
		o := &policy.Overrides[i]
		p.dated = p.dated || o.Until != ""
		if o.Action != judge.WordRules {
			continue
		}
		body, err := lib.archive.Body(lib.ctx, o.RobotsSHA256)
		if err != nil || hashOf(body) != o.RobotsSHA256 {
			p.missing = append(p.missing, o.Origin)
			o.Action = judge.WordDeny
			continue
		}
		o.Robots = body
	}
	compiled, err := policy.Compile()
	if err != nil {
		return fmt.Errorf("compiling it: %w", err)
	}
	p.compiled = compiled
	p.jobVaries = hasPlaceholder(policy.Job)
	p.tokensVary = slices.ContainsFunc(policy.Tokens, hasPlaceholder)
	if len(policy.Tokens) > 0 {
		p.tokens = trimmed(policy.Tokens)
	}
	return nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
