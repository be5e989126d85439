package parser

import (
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
	if l := newTrustingLines(body); !w.read(&l) {
		l = newLines(body)
		w.read(&l)
	}
	r := w.robots()
	scratch.Put(w)
	return r
}

// read writes the form of a decoded file. It reports false if the lines turn out
// to be wrong.
func (w *writer) read(l *lines) bool {
	w.reset(len(l.body))
	grouped, inAgents := false, false
	for l.next() {
		line := l.text()
		k, text := commonLine(line)
		if k == kindNone {
			if k, text = readLine(line); k == kindNone {
				continue
			}
		}
		if k == kindAgent {
			if !inAgents {
				w.endSection()
				w.beginSection()
				grouped, inAgents = true, true
			}
		} else if k != kindOther {
			if !grouped {
				continue
			}
			inAgents = false
			if len(text) > 0 {
				w.rules++
			}
		}
		w.add(k, l.no, text)
	}
	w.endSection()
	return l.unmet == 0
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
