package admin

import (
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
)

// entry is what is cached of one origin, under the names of the record.
type entry struct {
	Origin string `json:"origin"`
	// Token is set where the answers vary by User-Agent.
	Token string `json:"token,omitempty"`
	// State is rules, unavailable or unreachable.
	State          string     `json:"state"`
	Fresh          bool       `json:"fresh"`
	RobotsURL      string     `json:"robots_url"`
	RobotsFinalURL string     `json:"robots_final_url,omitempty"`
	RobotsStatus   int        `json:"robots_status,omitempty"`
	RobotsSHA256   string     `json:"robots_sha256,omitempty"`
	RobotsSize     int        `json:"robots_size,omitempty"`
	Truncated      bool       `json:"truncated,omitempty"`
	FetchedAt      *time.Time `json:"fetched_at,omitempty"`
	ValidatedAt    *time.Time `json:"validated_at,omitempty"`
	ExpiresAt      *time.Time `json:"expires_at,omitempty"`
	FetchUserAgent string     `json:"fetch_user_agent,omitempty"`
	Archived       bool       `json:"archived,omitempty"`
	// Failures counts failed accesses in a row; Error and Cause tell of the
	// last, RetryAfter is in seconds.
	Failures   int    `json:"failures,omitempty"`
	Cause      string `json:"cause,omitempty"`
	Error      string `json:"error,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"`
	// Bytes is the memory that the entry takes.
	Bytes int `json:"bytes"`
}

func newEntry(s *cache.Snapshot) entry {
	e := entry{
		Origin: s.Origin.String(), Token: s.Token, State: "unreachable", Fresh: s.Fresh,
		RobotsURL: s.Origin.RobotsURL(), RobotsStatus: s.Status, Bytes: s.Bytes,
		Failures: s.Failures, Cause: string(s.Cause), RetryAfter: int(s.RetryAfter / time.Second),
	}
	if s.Err != nil {
		e.Error = s.Err.Error()
	}
	c := s.Copy
	if c == nil {
		return e
	}
	e.State = c.State.String()
	e.RobotsFinalURL = c.FinalURL
	e.RobotsSHA256, e.RobotsSize, e.Truncated = c.SHA256, c.Size, c.Truncated
	e.FetchedAt, e.ValidatedAt, e.ExpiresAt = moment(c.FetchedAt), moment(c.ValidatedAt), moment(c.ExpiresAt)
	e.FetchUserAgent, e.Archived = c.FetchUserAgent, c.Archived()
	if s.Failures == 0 {
		e.RobotsStatus = c.Status
	}
	return e
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}
