package audit

import "github.com/robotsgate/robotsgate/internal/decision"

// field numbers a field of the record, in the record's own order.
type field uint8

const (
	fieldV field = iota
	fieldDecision
	fieldEnforced
	fieldReason
	fieldJob
	fieldURL
	fieldOrigin
	fieldForm
	fieldBot
	fieldAgent
	fieldTokens
	fieldToken
	fieldTokenSource
	fieldRule
	fieldLine
	fieldRobotsURL
	fieldRobotsFinalURL
	fieldRobotsStatus
	fieldRobotsSHA256
	fieldRobotsSize
	fieldTruncated
	fieldFetchedAt
	fieldValidatedAt
	fieldExpiresAt
	fieldAge
	fieldFetchUserAgent
	fieldSource
	fieldArchived
	fieldOverride
	fieldPolicy
	fieldError
	fieldEngine
	fieldGate
	fieldSeq
	numFields
)

var fieldNames = [numFields]string{
	"v", "decision", "enforced", "reason", "job", "url", "origin", "form", "bot", "agent", "tokens", "token",
	"token_source", "rule", "line", "robots_url", "robots_final_url", "robots_status", "robots_sha256",
	"robots_size", "truncated", "fetched_at", "validated_at", "expires_at", "age", "fetch_user_agent", "source",
	"archived", "override", "policy", "error", "engine", "gate", "seq",
}

func (f field) String() string { return fieldNames[f] }

// record is the field robots of a line, as it is logged.
type record struct {
	present bool
	has     uint64
	// flaw names the first field whose value is not of its kind or that
	// stands there twice, "" without one.
	flaw string
	// unknown is the first field that this version does not know.
	unknown []byte

	// reason is that of text, set once the record has been decided again.
	reason decision.Reason

	text     [numFields][]byte
	number   [numFields]uint64
	flag     [numFields]bool
	tokens   [][]byte
	override override
}

// override is the object under override.
type override struct {
	origin, owner, reason, until []byte
}

func (r *record) had(f field) bool { return r.has&(1<<f) != 0 }

func (r *record) is(f field, value string) bool { return string(r.text[f]) == value }

// recordMember reads one field of the record. A value of the wrong kind is a
// flaw of the record and not of the line.
func (r *lineReader) recordMember(key []byte, rec *record) bool {
	f := fieldOf(key)
	if f == numFields {
		if rec.unknown == nil {
			rec.unknown = key
		}
		return r.s.skip()
	}
	if rec.had(f) && rec.flaw == "" {
		rec.flaw = f.String()
	}
	rec.has |= 1 << f
	start := r.s.i
	if r.value(f, rec) {
		return true
	}
	if rec.flaw == "" {
		rec.flaw = f.String()
	}
	r.s.i = start
	return r.s.skip()
}

// value reads a field by its kind.
func (r *lineReader) value(f field, rec *record) (ok bool) {
	switch f {
	case fieldV, fieldLine, fieldRobotsStatus, fieldRobotsSize, fieldAge, fieldSeq:
		rec.number[f], ok = r.s.integer()
	case fieldEnforced, fieldBot, fieldTruncated, fieldArchived:
		rec.flag[f], ok = r.s.boolean()
	case fieldTokens:
		start := len(r.tokens)
		ok = r.s.array(func() bool {
			token, ok := r.s.text()
			r.tokens = append(r.tokens, token)
			return ok
		})
		rec.tokens = r.tokens[start:len(r.tokens):len(r.tokens)]
	case fieldOverride:
		ok = r.s.object(func(key []byte) bool { return r.overrideMember(key, &rec.override) })
	default:
		rec.text[f], ok = r.s.text()
	}
	return ok
}

func (r *lineReader) overrideMember(key []byte, o *override) (ok bool) {
	switch string(key) {
	case "origin":
		o.origin, ok = r.s.text()
	case "owner":
		o.owner, ok = r.s.text()
	case "reason":
		o.reason, ok = r.s.text()
	case "until":
		o.until, ok = r.s.text()
	}
	return ok
}

// fieldOf returns numFields for an unknown name.
func fieldOf(name []byte) field {
	switch string(name) {
	case "v":
		return fieldV
	case "decision":
		return fieldDecision
	case "enforced":
		return fieldEnforced
	case "reason":
		return fieldReason
	case "job":
		return fieldJob
	case "url":
		return fieldURL
	case "origin":
		return fieldOrigin
	case "form":
		return fieldForm
	case "bot":
		return fieldBot
	case "agent":
		return fieldAgent
	case "tokens":
		return fieldTokens
	case "token":
		return fieldToken
	case "token_source":
		return fieldTokenSource
	case "rule":
		return fieldRule
	case "line":
		return fieldLine
	case "robots_url":
		return fieldRobotsURL
	case "robots_final_url":
		return fieldRobotsFinalURL
	case "robots_status":
		return fieldRobotsStatus
	case "robots_sha256":
		return fieldRobotsSHA256
	case "robots_size":
		return fieldRobotsSize
	case "truncated":
		return fieldTruncated
	case "fetched_at":
		return fieldFetchedAt
	case "validated_at":
		return fieldValidatedAt
	case "expires_at":
		return fieldExpiresAt
	case "age":
		return fieldAge
	case "fetch_user_agent":
		return fieldFetchUserAgent
	case "source":
		return fieldSource
	case "archived":
		return fieldArchived
	case "override":
		return fieldOverride
	case "policy":
		return fieldPolicy
	case "error":
		return fieldError
	case "engine":
		return fieldEngine
	case "gate":
		return fieldGate
	case "seq":
		return fieldSeq
	default:
		return numFields
	}
}
