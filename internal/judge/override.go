package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// Override replaces the robots.txt of the origins that it names.
type Override struct {
	// Origin is scheme://host[:port], a host, or *.suffix for every host
	// below the suffix. The most specific override counts, then the first.
	Origin string `json:"origin"`
	// Action is allow or deny, or rules where Robots is followed instead.
	Action string `json:"action"`
	// RobotsSHA256 is the hex SHA-256 of the file that is followed.
	RobotsSHA256 string `json:"robots_sha256,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Owner        string `json:"owner,omitempty"`
	// Until is the last day on which the override applies, in UTC, as
	// 2006-01-02; empty for no end.
	Until string `json:"until,omitempty"`
	// Robots is the file that is followed.
	Robots []byte `json:"-"`
}

// WordRules is the action of an override that names a file.
const WordRules = "rules"

// override is one as compiled.
type override struct {
	record *decision.Override
	action string
	copy   *cache.Copy
	// end is the first moment at which it no longer applies; zero for none.
	end time.Time
}

func (o *override) applies(now time.Time) bool {
	return o.end.IsZero() || now.Before(o.end)
}

// overrides finds the most specific one of an origin.
type overrides struct {
	origins map[origin.Origin][]*override
	hosts   map[string][]*override
	// suffixes are sorted, the longest first, each with its leading dot.
	suffixes []suffixOverride
	files    []overrideFile
}

type overrideFile struct {
	copy *cache.Copy
	body []byte
}

type suffixOverride struct {
	suffix string
	*override
}

func compileOverrides(list []Override) (*overrides, error) {
	if len(list) == 0 {
		return nil, nil
	}
	all := &overrides{origins: map[origin.Origin][]*override{}, hosts: map[string][]*override{}}
	for i := range list {
		if err := all.add(&list[i]); err != nil {
			return nil, fmt.Errorf("override %s: %w", list[i].Origin, err)
		}
	}
	slices.SortStableFunc(all.suffixes, func(a, b suffixOverride) int { return len(b.suffix) - len(a.suffix) })
	return all, nil
}

func (all *overrides) add(o *Override) error {
	compiled, err := o.compile()
	if err != nil {
		return err
	}
	if compiled.copy != nil {
		all.files = append(all.files, overrideFile{compiled.copy, o.Robots})
	}
	switch {
	case strings.Contains(o.Origin, "://"):
		key, err := origin.Parse(o.Origin)
		if err != nil {
			return err
		}
		all.origins[key] = append(all.origins[key], compiled)
	case strings.HasPrefix(o.Origin, "*."):
		host, err := normalHost(o.Origin[2:])
		if err != nil {
			return err
		}
		all.suffixes = append(all.suffixes, suffixOverride{"." + host, compiled})
	default:
		host, err := normalHost(o.Origin)
		if err != nil {
			return err
		}
		all.hosts[host] = append(all.hosts[host], compiled)
	}
	return nil
}

// normalHost is the normal form of a host that stands alone.
func normalHost(host string) (string, error) {
	if strings.ContainsAny(host, "*/") || strings.Count(host, ":") == 1 {
		return "", fmt.Errorf("%q is no scheme://host[:port], no host and no *.suffix", host)
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	o, err := origin.New("http", host)
	return o.Host, err
}

func (o *Override) compile() (*override, error) {
	c := &override{
		record: &decision.Override{Origin: o.Origin, Owner: o.Owner, Reason: o.Reason, Until: o.Until},
		action: o.Action,
	}
	if o.Until != "" {
		day, err := time.Parse(time.DateOnly, o.Until)
		if err != nil {
			return nil, fmt.Errorf("until: %q is no date such as 2027-01-31", o.Until)
		}
		c.end = day.AddDate(0, 0, 1)
	}
	switch o.Action {
	case WordAllow, WordDeny:
	case WordRules:
		sum := sha256.Sum256(o.Robots)
		if got := hex.EncodeToString(sum[:]); got != o.RobotsSHA256 {
			return nil, fmt.Errorf("its robots file has the hash %s, not %s", got, o.RobotsSHA256)
		}
		c.copy = cache.NewCopy(cache.StateRules, 0, o.Robots)
	default:
		return nil, fmt.Errorf("%q is not allow, deny or a robots file", o.Action)
	}
	return c, nil
}

// find returns the override that holds for o at that time, or nil.
func (all *overrides) find(o origin.Origin, now time.Time) *override {
	if all == nil {
		return nil
	}
	for _, list := range [...][]*override{all.origins[o], all.hosts[o.Host]} {
		for _, c := range list {
			if c.applies(now) {
				return c
			}
		}
	}
	for _, s := range all.suffixes {
		if strings.HasSuffix(o.Host, s.suffix) && s.applies(now) {
			return s.override
		}
	}
	return nil
}

// EachFile calls archive with every file that overrides follow, by its hash,
// and with what notes that the file is safely archived.
func (p *Compiled) EachFile(archive func(sum string, body []byte, done func(error))) {
	if p.overrides == nil {
		return
	}
	for _, file := range p.overrides.files {
		archive(file.copy.SHA256, file.body, func(err error) {
			if err == nil {
				file.copy.MarkArchived()
			}
		})
	}
}

// Expired returns the origins of overrides that no longer apply at that time.
func (p *Compiled) Expired(now time.Time) []Override {
	var past []Override
	for _, o := range p.Overrides {
		// Compile has parsed the date.
		if day, err := time.Parse(time.DateOnly, o.Until); err == nil && !now.Before(day.AddDate(0, 0, 1)) {
			past = append(past, o)
		}
	}
	return past
}

// decideByOverride decides as the configuration says instead of the origin.
func decideByOverride(p *Compiled, c *override, rec *decision.Record) {
	rec.Source = decision.SourceOverride
	rec.Override = c.record
	switch c.action {
	case WordAllow:
		rec.Allowed(decision.Overridden)
	case WordDeny:
		rec.Denied(decision.Overridden)
	default:
		rec.RobotsSHA256, rec.RobotsSize = c.copy.SHA256, c.copy.Size
		rec.Archived = c.copy.Archived()
		decideByRules(p, c.copy, rec)
	}
}
