package audit

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// Kind says what a line of a log is.
type Kind uint8

// The kinds of lines.
const (
	// KindRecord is an access log line with a record: one judged request.
	KindRecord Kind = iota
	// KindUnjudged is an access log line without one: no gate saw the request.
	KindUnjudged
	// KindRepeat is the gate's own entry on a denial; the same record stands
	// in the access log.
	KindRepeat
	// KindForeign is any other line: another log's, or no JSON at all.
	KindForeign
	// KindDamaged begins as a line of JSON and does not end as one, or has a
	// record that is not shaped like one.
	KindDamaged
)

// line is what one line of a log says, as far as it matters here. Its slices
// point into the log's buffer.
type line struct {
	number int
	kind   Kind
	// at is when the request ended, zero where the log does not say.
	at time.Time
	// local: at was written without its zone, and may be off by hours.
	local bool
	// took is how long it took, negative where the log does not say.
	took time.Duration

	logger     []byte
	hasRequest bool
	hasHeaders bool
	proto      []byte
	method     []byte
	host       []byte
	uri        []byte
	tls        bool
	userAgents int
	userAgent  []byte

	record record
}

// lineReader turns lines into values; it is reused for one chunk of a log.
type lineReader struct {
	s      scanner
	tokens [][]byte
}

func (r *lineReader) reset() {
	r.s.arena = r.s.arena[:0]
	r.tokens = r.tokens[:0]
}

// read fills l. The text must not have a line end.
func (r *lineReader) read(text []byte, l *line) {
	*l = line{number: l.number, took: -1}
	r.s.b, r.s.i = text, 0
	if r.s.next() != '{' {
		l.kind = KindForeign
		return
	}
	if !r.s.object(func(key []byte) bool { return r.member(key, l) }) || r.s.next() != 0 {
		l.kind = KindDamaged
		return
	}
	l.kind = l.classify()
}

func (l *line) classify() Kind {
	switch {
	case l.record.present && !l.hasRequest && bytes.HasPrefix(l.logger, []byte("http.handlers.")):
		return KindRepeat
	case l.record.present:
		return KindRecord
	case l.hasRequest && (len(l.logger) == 0 || bytes.HasPrefix(l.logger, []byte("http.log.access"))):
		return KindUnjudged
	default:
		return KindForeign
	}
}

func (r *lineReader) member(key []byte, l *line) bool {
	s := &r.s
	switch string(key) {
	case "ts":
		return r.timestamp(l)
	case "duration":
		return r.duration(l)
	case "logger":
		return r.optionalText(&l.logger)
	case "request":
		if s.next() != '{' {
			return s.skip()
		}
		l.hasRequest = true
		return s.object(func(key []byte) bool { return r.requestMember(key, l) })
	case "robots":
		if s.next() != '{' {
			return s.skip()
		}
		l.record = record{present: true}
		return s.object(func(key []byte) bool { return r.recordMember(key, &l.record) })
	default:
		return s.skip()
	}
}

// optionalText reads a string; a value of another kind is left out.
func (r *lineReader) optionalText(to *[]byte) (ok bool) {
	if r.s.next() != '"' {
		*to = nil
		return r.s.skip()
	}
	*to, ok = r.s.text()
	return ok
}

func (r *lineReader) requestMember(key []byte, l *line) bool {
	switch string(key) {
	case "proto":
		return r.optionalText(&l.proto)
	case "method":
		return r.optionalText(&l.method)
	case "host":
		return r.optionalText(&l.host)
	case "uri":
		return r.optionalText(&l.uri)
	case "tls":
		l.tls = true
		return r.s.skip()
	case "headers":
		if r.s.next() != '{' {
			return r.s.skip()
		}
		l.hasHeaders = true
		return r.s.object(func(key []byte) bool {
			if string(key) != "User-Agent" || r.s.next() != '[' {
				return r.s.skip()
			}
			l.userAgents, l.userAgent = 0, nil
			return r.s.array(func() bool {
				if l.userAgents++; l.userAgents > 1 {
					return r.s.skip()
				}
				return r.optionalText(&l.userAgent)
			})
		})
	default:
		return r.s.skip()
	}
}

// timestamp reads Caddy's ts in any of its formats; one that it does not know
// leaves the line without a time.
func (r *lineReader) timestamp(l *line) bool {
	if r.s.next() == '"' {
		text, ok := r.s.text()
		l.at, l.local = parseTime(string(text))
		return ok
	}
	start := r.s.i
	if !r.s.skip() {
		return false
	}
	l.at = epoch(r.s.b[start:r.s.i])
	return true
}

func (r *lineReader) duration(l *line) bool {
	if r.s.next() == '"' {
		text, ok := r.s.text()
		if d, err := time.ParseDuration(string(text)); err == nil && d >= 0 {
			l.took = d
		}
		return ok
	}
	start := r.s.i
	if !r.s.skip() {
		return false
	}
	// Caddy's default: seconds. Its other numbers are whole.
	if n, fraction, ok := decimal(r.s.b[start:r.s.i]); ok && n < 1e9 {
		l.took = time.Duration(n)*time.Second + time.Duration(fraction)
	} else if seconds, err := strconv.ParseFloat(string(r.s.b[start:r.s.i]), 64); err == nil && seconds >= 0 && seconds < 1e9 {
		l.took = time.Duration(seconds * float64(time.Second))
	}
	return true
}

// epoch is the time of a number of seconds, milliseconds or nanoseconds since
// 1970.
func epoch(number []byte) time.Time {
	n, fraction, ok := decimal(number)
	if !ok {
		f, err := strconv.ParseFloat(string(number), 64)
		if err != nil || f < 0 || f > 1e11 {
			return time.Time{}
		}
		n, fraction = uint64(f), uint64((f-float64(uint64(f)))*1e9)
	}
	switch {
	case n == 0, n > math.MaxInt64:
		return time.Time{}
	case n > 1e17:
		return time.Unix(0, int64(n)).UTC()
	case n > 1e11:
		return time.UnixMilli(int64(n)).UTC()
	default:
		return time.Unix(int64(n), int64(fraction)).UTC()
	}
}

// decimal splits a number without exponent into its whole part and billionths.
func decimal(text []byte) (whole, billionths uint64, ok bool) {
	i := 0
	for i < len(text) && i < 19 && '0' <= text[i] && text[i] <= '9' {
		whole = whole*10 + uint64(text[i]-'0')
		i++
	}
	if i == 0 {
		return 0, 0, false
	}
	if i == len(text) {
		return whole, 0, true
	}
	if text[i] != '.' {
		return 0, 0, false
	}
	unit := uint64(100_000_000)
	for _, c := range text[i+1:] {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		billionths += uint64(c-'0') * unit
		unit /= 10
	}
	return whole, billionths, true
}

// parseTime reads the text formats that Caddy's time_format offers. One of them
// has no zone.
func parseTime(text string) (at time.Time, local bool) {
	const wall = "2006/01/02 15:04:05.999999999"
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.000Z0700", wall, "02/Jan/2006:15:04:05 -0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), layout == wall
		}
	}
	return time.Time{}, false
}
