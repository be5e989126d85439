package parser

import "bytes"

// lines yields the lines of a decoded file. CR, LF and CRLF end a line
// (RFC 9309 §2.2). The octets that cut a line short are rarer than lines, so
// the next place of each is looked up once and kept.
type lines struct {
	body []byte
	pos  int // start of the next line

	lf            int // first LF at or after pos, len(body) for none; stale below pos
	cr, nul, hash int // the same for CR, NUL and #, never stale
	rare          int // the least of these three

	// With trusting set, CRs are taken for parts of CRLF, and unmet counts those
	// not found there yet: any left at the end were not, and the lines are wrong.
	trusting bool
	unmet    int

	// The current line: its number, from 1; where it starts, where reading it
	// stops (before a comment, at a NUL or at MaxLine octets), where it ends.
	no, start, stop, end int
}

func newLines(body []byte) lines {
	l := lines{body: body, lf: -1}
	l.cr, l.nul, l.hash = l.find('\r'), l.find(0), l.find('#')
	l.rare = min(l.cr, l.nul, l.hash)
	return l
}

// newTrustingLines is newLines for files without a CR alone, which nearly all
// are; it finds their lines faster. Look at unmet in the end.
func newTrustingLines(body []byte) lines {
	l := lines{body: body, lf: -1, trusting: true, cr: len(body)}
	l.unmet = bytes.Count(body, []byte{'\r'})
	l.nul, l.hash = l.find(0), l.find('#')
	l.rare = min(l.nul, l.hash)
	return l
}

// find returns the first place of c at or after pos, len(body) for none.
func (l *lines) find(c byte) int {
	if l.pos < len(l.body) {
		if i := bytes.IndexByte(l.body[l.pos:], c); i >= 0 {
			return l.pos + i
		}
	}
	return len(l.body)
}

func (l *lines) next() bool {
	start := l.pos
	if start >= len(l.body) {
		return false
	}
	end := l.lf
	if end < start {
		end = len(l.body)
		if i := bytes.IndexByte(l.body[start:], '\n'); i >= 0 {
			end = start + i
		}
		l.lf = end
	}
	l.pos = end + 1
	if l.trusting && end > start && l.body[end-1] == '\r' {
		l.unmet--
		end--
	}
	l.no++
	l.start, l.stop, l.end = start, end, end
	if l.rare < end || end-start > MaxLine {
		l.cut()
	}
	return true
}

// cut ends the current line, which so far reaches to the next LF, at a CR, and
// reading it at what stops that.
func (l *lines) cut() {
	if l.cr < l.end {
		l.end = l.cr
		if l.cr+1 != l.lf || l.lf == len(l.body) { // a CR alone
			l.pos = l.cr + 1
		}
		l.cr = l.find('\r')
	}
	l.stop = min(l.end, l.start+MaxLine, l.nul, l.hash)
	if l.nul < l.end {
		l.nul = l.find(0)
	}
	if l.hash < l.end {
		l.hash = l.find('#')
	}
	l.rare = min(l.cr, l.nul, l.hash)
}

// text returns what is read of the current line.
func (l *lines) text() []byte { return l.body[l.start:l.stop] }

// whole returns the current line without its end.
func (l *lines) whole() []byte { return l.body[l.start:l.end] }

// clipped reports whether the current line is longer than MaxLine.
func (l *lines) clipped() bool { return l.end-l.start > MaxLine }
