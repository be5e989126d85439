package audit

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one line of JSON once, from left to right. It keeps to the
// grammar's structure (strings, nesting, commas, colons) and takes no interest
// in values that nobody asked for, which is what makes it fast: a log line is
// mostly headers that no record needs.
type scanner struct {
	b []byte
	i int
	// arena holds strings that had escapes; the others stay in b.
	arena []byte
}

// maxNesting bounds how deep a skipped value may go, as encoding/json does.
const maxNesting = 10_000

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// next skips space and reports the octet that follows, 0 at the end.
func (s *scanner) next() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i] // the usual case: logs are written without space
	}
	s.space()
	if s.i == len(s.b) {
		return 0
	}
	return s.b[s.i]
}

// take skips space and consumes c if it follows.
func (s *scanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.i++
	return true
}

// raw consumes a string and returns what stands between its quotes.
func (s *scanner) raw() (text []byte, escaped, ok bool) {
	if !s.take('"') {
		return nil, false, false
	}
	start := s.i
	for i := start; ; {
		i = stop(s.b, i)
		if i >= len(s.b) || s.b[i] < ' ' {
			return nil, false, false
		}
		if s.b[i] == '"' {
			s.i = i + 1
			return s.b[start:i], escaped, true
		}
		escaped = true
		i += 2
	}
}

// stop returns where the next quote, backslash or control character stands at
// or after i, len(b) or more without one. It looks at eight octets at a time.
func stop(b []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^ones*'"', x^ones*'\\'
		// The usual test for a zero octet, and for one below a space: what it
		// finds first is right, whatever it says of the octets behind.
		if found := ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return i
}

// text consumes a string and returns its value, which is valid as long as the
// line and the arena are.
func (s *scanner) text() ([]byte, bool) {
	raw, escaped, ok := s.raw()
	if !ok || !escaped {
		return raw, ok
	}
	start := len(s.arena)
	if !s.unescape(raw) {
		return nil, false
	}
	return s.arena[start:len(s.arena):len(s.arena)], true
}

// unescape appends the value of an escaped string to the arena.
func (s *scanner) unescape(raw []byte) bool {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			s.arena = append(s.arena, raw...)
			return true
		}
		s.arena = append(s.arena, raw[:i]...)
		n := s.escape(raw[i:])
		if n == 0 {
			return false
		}
		raw = raw[i+n:]
	}
	return true
}

// escape appends the value of the escape that raw begins with and returns its
// length, 0 where it is none.
func (s *scanner) escape(raw []byte) int {
	if len(raw) < 2 {
		return 0
	}
	switch c := raw[1]; c {
	case '"', '\\', '/':
		s.arena = append(s.arena, c)
	case 'b':
		s.arena = append(s.arena, '\b')
	case 'f':
		s.arena = append(s.arena, '\f')
	case 'n':
		s.arena = append(s.arena, '\n')
	case 'r':
		s.arena = append(s.arena, '\r')
	case 't':
		s.arena = append(s.arena, '\t')
	case 'u':
		r, ok := hex4(raw[2:])
		if !ok {
			return 0
		}
		n := 6
		if utf16.IsSurrogate(r) {
			var low rune
			if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
				low, _ = hex4(raw[8:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				n = 12
			}
		}
		s.arena = utf8.AppendRune(s.arena, r)
		return n
	default:
		return 0
	}
	return 2
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// scalar consumes a number or a literal and returns it as written; it may be
// neither.
func (s *scanner) scalar() ([]byte, bool) {
	s.space()
	start := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			s.i++
		default:
			return s.b[start:s.i], s.i > start
		}
	}
	return s.b[start:s.i], s.i > start
}

// integer consumes a number without fraction.
func (s *scanner) integer() (uint64, bool) {
	text, ok := s.scalar()
	if !ok || len(text) > 19 || len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// boolean consumes true or false.
func (s *scanner) boolean() (value, ok bool) {
	text, _ := s.scalar()
	switch string(text) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// object consumes an object and calls member for each of its keys, with the
// scanner at the value, which member consumes.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, ok := s.text()
		if !ok || !s.take(':') || !member(key) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// array consumes an array and calls element for each value, which element
// consumes.
func (s *scanner) array(element func() bool) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if !s.take(',') {
			return s.take(']')
		}
	}
}

// skip consumes a value of any kind.
func (s *scanner) skip() bool {
	switch s.next() {
	case '"':
		_, _, ok := s.raw()
		return ok
	case '{', '[':
		return s.skipNested()
	default:
		_, ok := s.scalar()
		return ok
	}
}

// skipNested consumes an object or array. Only brackets and strings are looked
// at: whatever is not wanted need not be well formed inside, but it must end.
func (s *scanner) skipNested() bool {
	var closers [64]byte
	stack := closers[:0]
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case '"':
			if _, _, ok := s.raw(); !ok {
				return false
			}
			continue
		case '{', '[':
			if len(stack) == maxNesting {
				return false
			}
			stack = append(stack, c+2) // '{'+2 is '}', '['+2 is ']'
		case '}', ']':
			if stack[len(stack)-1] != c {
				return false
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				s.i++
				return true
			}
		}
		s.i++
	}
	return false
}
