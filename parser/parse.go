package parser

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
)

// scratch keeps the buffers that Parse builds the string form in, so that a
// file costs two allocations: the form at its final size and the Robots.
var scratch = sync.Pool{New: func() any { return new(writer) }}

// Parse reads a robots.txt file. It accepts any octets, keeps no reference to
// body and does not change it.
func Parse(body []byte) *Robots {
	body = decode(body)
	w := scratch.Get().(*writer)
	if !w.readLF(body) {
		w.read(body)
	}
	r := w.robots()
	scratch.Put(w)
	return r
}

// read writes the form of a decoded file.
func (w *writer) read(body []byte) {
	w.reset(len(body))
	for l := newLines(body); l.advance(); {
		w.take(l.no, l.text())
	}
	w.endSection()
}

// readLF is read for files in which no CR stands but before an LF, which nearly
// all are; it finds their lines faster. It reports false for other files.
func (w *writer) readLF(body []byte) bool {
	w.reset(len(body))
	s := newStops(body)
	stop := s.next()
	lonely := bytes.Count(body, []byte{'\r'})
	no := 0
	for pos := 0; pos < len(body); {
		start, end := pos, len(body)
		if i := bytes.IndexByte(body[pos:], '\n'); i >= 0 {
			end = pos + i
		}
		pos = end + 1
		no++
		if end > start && body[end-1] == '\r' {
			end--
			lonely--
		}
		if stop < end || end-start > MaxLine {
			end = s.stop(start, end)
			stop = s.next()
		}
		w.take(no, body[start:end])
	}
	w.endSection()
	return lonely == 0
}

// take writes what is kept of a line, if anything is.
func (w *writer) take(no int, line []byte) {
	k, text := commonLine(line)
	if k == kindNone {
		if k, text = readLine(line); k == kindNone {
			return
		}
	}
	if k == kindAgent {
		if !w.inAgents {
			w.endSection()
			w.beginSection()
			w.grouped, w.inAgents = true, true
		}
	} else if k != kindOther {
		if !w.grouped {
			return
		}
		w.inAgents = false
		if len(text) > 0 {
			w.rules++
		}
	}
	w.add(k, no, text)
}

// readLine says what a line without comment is, and what of it is kept: the
// value of a user-agent line or rule, all of another record.
func readLine(line []byte) (kind, []byte) {
	line = trim(line)
	if len(line) == 0 || !startsKey(line[0]) {
		return kindNone, nil
	}
	key, value, ok := splitLine(line)
	if !ok {
		return kindNone, nil
	}
	if k := classify(key); k != kindOther {
		return k, value
	}
	return kindOther, line
}

// The three keys as commonLine compares them: eight letters, little-endian.
const (
	wordDisallow = 'd' | 'i'<<8 | 's'<<16 | 'a'<<24 | 'l'<<32 | 'l'<<40 | 'o'<<48 | 'w'<<56
	wordUserAge  = 'u' | 's'<<8 | 'e'<<16 | 'r'<<24 | '-'<<32 | 'a'<<40 | 'g'<<48 | 'e'<<56
	wordAllow    = 'a' | 'l'<<8 | 'l'<<16 | 'o'<<24 | 'w'<<32
	wordLower    = 0x2020202020202020 // makes letters lower case
	wordFive     = 1<<40 - 1
)

// commonLine is readLine for what nearly all lines that count look like: one of
// the three keys at the start, rightly spelt, and a colon at once. Of any other
// line it says kindNone.
func commonLine(line []byte) (k kind, value []byte) {
	if len(line) < 8 {
		return kindNone, nil
	}
	word := binary.LittleEndian.Uint64(line) | wordLower
	switch {
	case word == wordDisallow:
		if len(line) < 9 || line[8] != ':' {
			return kindNone, nil
		}
		k, value = kindDisallow, line[9:]
	case word&wordFive == wordAllow:
		if line[5] != ':' {
			return kindNone, nil
		}
		k, value = kindAllow, line[6:]
	case word == wordUserAge:
		if len(line) < 11 || line[8]|0x20 != 'n' || line[9]|0x20 != 't' || line[10] != ':' {
			return kindNone, nil
		}
		k, value = kindAgent, line[11:]
	default:
		return kindNone, nil
	}
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	if len(value) > 0 && (value[0] <= ' ' || value[len(value)-1] <= ' ') {
		value = trim(value)
	}
	return k, value
}

// robots returns what was written, at its final size.
func (w *writer) robots() *Robots {
	var kept strings.Builder
	kept.Grow(w.n)
	kept.Write(w.buf[:w.n])
	return &Robots{data: kept.String(), kept: kept.Cap()}
}
