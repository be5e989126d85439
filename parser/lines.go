package parser

import "bytes"

// lines yields the lines of a decoded file. CR, LF and CRLF end a line
// (RFC 9309 §2.2).
type lines struct {
	body []byte
	pos  int // start of the next line
	lf   int // the first LF at or after pos, len(body) without one; stale below pos
	cr   bool
	nul  bool

	no      int    // number of the current line, from 1
	text    []byte // the current line without its end, NUL and what follows, and beyond MaxLine
	clipped bool   // the line was longer than MaxLine
	zeroed  bool   // a NUL ended the line early
}

func newLines(body []byte) lines {
	return lines{
		body: body,
		lf:   -1,
		cr:   bytes.IndexByte(body, '\r') >= 0,
		nul:  bytes.IndexByte(body, 0) >= 0,
	}
}

func (l *lines) next() bool {
	if l.pos >= len(l.body) {
		return false
	}
	if l.lf < l.pos {
		l.lf = len(l.body)
		if i := bytes.IndexByte(l.body[l.pos:], '\n'); i >= 0 {
			l.lf = l.pos + i
		}
	}
	line, next := l.body[l.pos:l.lf], l.lf+1
	if l.cr {
		if i := bytes.IndexByte(line, '\r'); i >= 0 {
			if l.pos+i+1 != l.lf || l.lf == len(l.body) {
				next = l.pos + i + 1
			}
			line = line[:i]
		}
	}
	l.pos = next
	l.no++
	l.cut(line)
	return true
}

func (l *lines) cut(line []byte) {
	l.clipped = len(line) > MaxLine
	if l.clipped {
		line = line[:MaxLine]
	}
	l.zeroed = false
	if l.nul {
		if i := bytes.IndexByte(line, 0); i >= 0 {
			line = line[:i]
			l.zeroed = true
		}
	}
	l.text = line
}
