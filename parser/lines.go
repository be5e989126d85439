package parser

import "bytes"

// stops says where reading a line stops before its end. Comments and NUL octets
// are rarer than lines, so the next place of each is looked up once and kept.
type stops struct {
	body      []byte
	nul, hash int // first place of each from the current line on, len(body) for none
}

func newStops(body []byte) stops {
	return stops{body, find(body, 0, 0), find(body, 0, '#')}
}

// find returns the first place of c in body at or after pos, len(body) for none.
func find(body []byte, pos int, c byte) int {
	if pos < len(body) {
		if i := bytes.IndexByte(body[pos:], c); i >= 0 {
			return pos + i
		}
	}
	return len(body)
}

// next returns the first place at which reading stops.
func (s *stops) next() int { return min(s.nul, s.hash) }

// stop returns where reading the line from start to end stops, and moves behind
// the line.
func (s *stops) stop(start, end int) int {
	at := min(end, start+MaxLine, s.nul, s.hash)
	if s.nul < end {
		s.nul = find(s.body, end, 0)
	}
	if s.hash < end {
		s.hash = find(s.body, end, '#')
	}
	return at
}

// lines yields the lines of a decoded file. CR, LF and CRLF end a line
// (RFC 9309 §2.2).
type lines struct {
	stops
	pos    int // start of the next line
	lf, cr int // first of each at or after pos, len(body) for none; lf is stale below pos

	// The current line: its number, from 1; where it starts, where reading it
	// stops, where it ends.
	no, start, read, end int
}

func newLines(body []byte) lines {
	return lines{stops: newStops(body), lf: -1, cr: find(body, 0, '\r')}
}

func (l *lines) advance() bool {
	if l.pos >= len(l.body) {
		return false
	}
	if l.lf < l.pos {
		l.lf = find(l.body, l.pos, '\n')
	}
	l.no++
	l.start, l.end, l.pos = l.pos, l.lf, l.lf+1
	if l.cr < l.end {
		l.end = l.cr
		if l.cr+1 != l.lf || l.lf == len(l.body) { // a CR alone
			l.pos = l.cr + 1
		}
		l.cr = find(l.body, l.pos, '\r')
	}
	l.read = l.stop(l.start, l.end)
	return true
}

// text returns what is read of the current line.
func (l *lines) text() []byte { return l.body[l.start:l.read] }

// whole returns the current line without its end.
func (l *lines) whole() []byte { return l.body[l.start:l.end] }

// clipped reports whether the current line is longer than MaxLine.
func (l *lines) clipped() bool { return l.end-l.start > MaxLine }
