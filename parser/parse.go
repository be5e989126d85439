package parser

import (
	"bytes"
	"strings"
	"sync"
)

// scratch keeps the buffers that Parse builds the string form in, so that a
// file costs two allocations: the form at its final size and the Robots.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// Parse reads a robots.txt file. It accepts any octets, keeps no reference to
// body and does not change it.
func Parse(body []byte) *Robots {
	body = decode(body)
	buf := scratch.Get().(*[]byte)
	w := writer{buf: (*buf)[:0]}
	w.beginSection()
	inAgents, grouped := false, false
	for l := newLines(body); l.next(); {
		line := l.text
		if i := bytes.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		line = trim(line)
		key, value, ok := splitLine(line)
		if !ok {
			continue
		}
		switch k := classify(key); {
		case k == kindAgent:
			if !inAgents {
				w.endSection()
				w.beginSection()
				inAgents, grouped = true, true
			}
			w.add(kindAgent, l.no, value)
		case k == kindOther:
			w.add(kindOther, l.no, line)
		case grouped:
			inAgents = false
			w.add(k, l.no, value)
		}
	}
	w.endSection()
	var kept strings.Builder
	kept.Grow(len(w.buf))
	kept.Write(w.buf)
	*buf = w.buf
	scratch.Put(buf)
	return &Robots{data: kept.String(), kept: kept.Cap()}
}
