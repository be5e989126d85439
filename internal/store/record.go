package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	// maxHistory bounds the spans of one record.
	maxHistory = 500
	// MaxSkew is how far ahead another gate's clock may be. What is dated
	// further ahead is not trusted.
	MaxSkew = 5 * time.Minute
)

// A Record is what is stored of one origin, or of one origin and token where
// its answers vary by User-Agent.
type Record struct {
	Origin string `json:"origin"`
	Token  string `json:"token,omitempty"`

	// UpdatedAt orders the records of several gates.
	UpdatedAt time.Time `json:"updated_at"`

	// Varies: answers differ by User-Agent, and each token has its own record.
	Varies bool `json:"varies,omitempty"`

	// Current is the last good answer.
	Current *Answer `json:"current,omitempty"`

	// History is what was in force when, oldest first.
	History []Span `json:"history,omitempty"`
}

// An Answer is a good answer of an origin: rules, or that there are none.
type Answer struct {
	Content
	EOFDelimited bool      `json:"eof_delimited,omitempty"`
	HTML         bool      `json:"html,omitempty"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	UserAgent    string    `json:"user_agent,omitempty"`
	Token        string    `json:"token,omitempty"`
	Varies       bool      `json:"varies,omitempty"`
	FetchedAt    time.Time `json:"fetched_at"`
	ValidatedAt  time.Time `json:"validated_at"`
	ExpiresAt    time.Time `json:"expires_at"`
}

// Content is what an answer says, whenever it said it.
type Content struct {
	// Unavailable: the origin has no robots.txt. There is no body then.
	Unavailable bool   `json:"unavailable,omitempty"`
	Status      int    `json:"status,omitempty"`
	FinalURL    string `json:"final_url,omitempty"`
	SHA256      string `json:"sha256,omitempty"`
	Size        int    `json:"size,omitempty"`
	Truncated   bool   `json:"truncated,omitempty"`
}

// A Span is a time during which an origin said the same.
type Span struct {
	Content
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

func decodeRecord(data []byte, origin, token string) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if r.Origin != origin || r.Token != token {
		return Record{}, fmt.Errorf("%w: it is the record of %q", errDamaged, r.Origin)
	}
	if a := r.Current; a != nil && (a.Unavailable != (a.SHA256 == "") || a.SHA256 != "" && !isSum(a.SHA256)) {
		return Record{}, fmt.Errorf("%w: the record of %q names no body", errDamaged, r.Origin)
	}
	return r, nil
}

// merge adds what is stored already, perhaps by another gate, to what is about
// to be stored: the newer answer counts, and history is of both.
func merge(stored, next Record, archive time.Duration, now time.Time) Record {
	history := slices.Clone(stored.History)
	if next.Current != nil {
		history = appendSpan(history, next.Current)
	}
	if stored.UpdatedAt.After(next.UpdatedAt) && !stored.UpdatedAt.After(now.Add(MaxSkew)) {
		next = stored
	}
	slices.SortStableFunc(history, func(a, b Span) int { return a.From.Compare(b.From) })
	oldest := now.Add(-archive)
	history = slices.DeleteFunc(history, func(s Span) bool { return s.To.Before(oldest) })
	next.History = history[max(0, len(history)-maxHistory):]
	return next
}

// appendSpan notes an answer in the history: the last span grows while the
// origin says the same.
func appendSpan(history []Span, a *Answer) []Span {
	if last := len(history) - 1; last >= 0 && history[last].Content == a.Content {
		if a.ValidatedAt.After(history[last].To) {
			history[last].To = a.ValidatedAt
		}
		return history
	}
	return append(history, Span{Content: a.Content, From: a.FetchedAt, To: a.ValidatedAt})
}
