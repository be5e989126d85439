package decision

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap/zapcore"
)

// maxField is the most octets that a text field carries; url is not cut, since
// a cut URL could not be decided again.
const maxField = 1024

// field is one row of the record: its name, whether it is left out of the
// client's answer, and how it is written. A field without a value writes
// nothing.
type field struct {
	name     string
	internal bool
	add      func(zapcore.ObjectEncoder, string, *Record)
}

// fields is the one order and the one encoder of every record.
var fields = []field{
	{name: "v", add: func(e zapcore.ObjectEncoder, k string, _ *Record) { e.AddInt(k, Version) }},
	{name: "decision", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, string(r.Decision)) }},
	{name: "enforced", add: func(e zapcore.ObjectEncoder, k string, r *Record) { e.AddBool(k, r.Enforced) }},
	{name: "reason", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, string(r.Reason)) }},
	{name: "job", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Job) }},
	{name: "url", add: addURL},
	{name: "origin", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Origin) }},
	{name: "form", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, string(r.Form)) }},
	{name: "bot", add: func(e zapcore.ObjectEncoder, k string, r *Record) { e.AddBool(k, r.Bot) }},
	{name: "agent", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Agent) }},
	{name: "tokens", add: addTokens},
	{name: "token", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Token) }},
	{name: "token_source", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, string(r.TokenSource)) }},
	{name: "rule", add: addRule},
	{name: "line", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addNumber(e, k, r.Rule.Line) }},
	{name: "robots_url", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.RobotsURL) }},
	{name: "robots_final_url", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.RobotsFinalURL) }},
	{name: "robots_status", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addNumber(e, k, r.RobotsStatus) }},
	{name: "robots_sha256", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.RobotsSHA256) }},
	{name: "robots_size", add: addRobotsSize},
	{name: "truncated", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addTrue(e, k, r.Truncated) }},
	{name: "fetched_at", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addTime(e, k, r.FetchedAt) }},
	{name: "validated_at", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addTime(e, k, r.ValidatedAt) }},
	{name: "expires_at", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addTime(e, k, r.ExpiresAt) }},
	{name: "age", add: addAge},
	{name: "fetch_user_agent", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.FetchUserAgent) }},
	{name: "source", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, string(r.Source)) }},
	{name: "archived", internal: true, add: addArchived},
	{name: "override", add: addOverride},
	{name: "policy", internal: true, add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Policy) }},
	{name: "error", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Error) }},
	{name: "engine", add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Engine) }},
	{name: "gate", internal: true, add: func(e zapcore.ObjectEncoder, k string, r *Record) { addText(e, k, r.Gate) }},
	{name: "seq", internal: true, add: addSeq},
}

// MarshalLogObject writes the whole record, internals included, in its order.
func (r *Record) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for i := range fields {
		fields[i].add(enc, fields[i].name, r)
	}
	return nil
}

// public is the record as a client may see it.
type public struct{ *Record }

func (p public) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for i := range fields {
		if !fields[i].internal {
			fields[i].add(enc, fields[i].name, p.Record)
		}
	}
	return nil
}

// Field returns the value of the named field; ok is false where the record has
// no such field. A field without a value is the empty string.
func (r *Record) Field(name string) (value any, ok bool) {
	for i := range fields {
		if fields[i].name != name {
			continue
		}
		enc := zapcore.NewMapObjectEncoder()
		fields[i].add(enc, name, r)
		if v, set := enc.Fields[name]; set {
			return v, true
		}
		return "", true
	}
	return nil, false
}

// JSON is the whole record as one line of JSON without a line end.
func (r *Record) JSON() []byte {
	return objectJSON(r)
}

// objectJSON encodes with the same encoder that writes Caddy's JSON logs, so
// that a record looks alike wherever it stands.
func objectJSON(m zapcore.ObjectMarshaler) []byte {
	enc := zapcore.NewJSONEncoder(zapcore.EncoderConfig{SkipLineEnding: true})
	buf, err := enc.EncodeEntry(zapcore.Entry{}, []zapcore.Field{{Type: zapcore.InlineMarshalerType, Interface: m}})
	if err != nil {
		// Neither the encoder nor a record has a way to fail.
		return []byte("{}")
	}
	defer buf.Free()
	return bytes.Clone(buf.Bytes())
}

func addText(enc zapcore.ObjectEncoder, key, value string) {
	if value != "" {
		enc.AddString(key, cut(value))
	}
}

// cut keeps a text field within its limit without halving a character.
func cut(s string) string {
	if len(s) <= maxField {
		return s
	}
	end := maxField
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func addNumber(enc zapcore.ObjectEncoder, key string, value int) {
	if value != 0 {
		enc.AddInt(key, value)
	}
}

func addTrue(enc zapcore.ObjectEncoder, key string, value bool) {
	if value {
		enc.AddBool(key, value)
	}
}

func addTime(enc zapcore.ObjectEncoder, key string, t time.Time) {
	if t.IsZero() {
		return
	}
	var room [len(time.RFC3339)]byte
	enc.AddByteString(key, t.UTC().AppendFormat(room[:0], time.RFC3339))
}

func addURL(enc zapcore.ObjectEncoder, key string, r *Record) {
	switch {
	case r.URL == "":
	case r.Redact:
		enc.AddString(key, RedactQuery(r.URL))
	default:
		enc.AddString(key, r.URL)
	}
}

func addRule(enc zapcore.ObjectEncoder, key string, r *Record) {
	if r.Rule.Line != 0 {
		addText(enc, key, r.Rule.String())
	}
}

func addTokens(enc zapcore.ObjectEncoder, key string, r *Record) {
	if len(r.Tokens) > 0 {
		_ = enc.AddArray(key, tokenList(r.Tokens))
	}
}

type tokenList []string

func (l tokenList) MarshalLogArray(enc zapcore.ArrayEncoder) error {
	for _, token := range l {
		enc.AppendString(cut(token))
	}
	return nil
}

func addRobotsSize(enc zapcore.ObjectEncoder, key string, r *Record) {
	if r.RobotsSHA256 != "" {
		enc.AddInt(key, r.RobotsSize)
	}
}

func addAge(enc zapcore.ObjectEncoder, key string, r *Record) {
	if !r.ValidatedAt.IsZero() {
		enc.AddInt(key, r.Age)
	}
}

func addArchived(enc zapcore.ObjectEncoder, key string, r *Record) {
	if r.RobotsSHA256 != "" {
		enc.AddBool(key, r.Archived)
	}
}

func addSeq(enc zapcore.ObjectEncoder, key string, r *Record) {
	if r.Seq != 0 {
		enc.AddUint64(key, r.Seq)
	}
}

func addOverride(enc zapcore.ObjectEncoder, key string, r *Record) {
	if r.Override != nil {
		_ = enc.AddObject(key, r.Override)
	}
}

// MarshalLogObject writes the override's fields that have a value.
func (o *Override) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	addText(enc, "origin", o.Origin)
	addText(enc, "owner", o.Owner)
	addText(enc, "reason", o.Reason)
	addText(enc, "until", o.Until)
	return nil
}

// redacted replaces each value of a query.
const redacted = "REDACTED"

// RedactQuery replaces the query values of url with REDACTED and keeps the
// names: the decision stands, the evidence shows what kind of request it was.
func RedactQuery(url string) string {
	base, query, found := strings.Cut(url, "?")
	if !found || query == "" {
		return url
	}
	var b strings.Builder
	b.WriteString(base)
	b.WriteByte('?')
	for i, pair := range strings.Split(query, "&") {
		if i > 0 {
			b.WriteByte('&')
		}
		name, _, valued := strings.Cut(pair, "=")
		if !valued {
			// A bare word may itself be the secret.
			if pair != "" {
				b.WriteString(redacted)
			}
			continue
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(redacted)
	}
	return b.String()
}
