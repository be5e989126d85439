package parser

import "encoding/binary"

// A parsed file is kept as one string: a section for what precedes the first
// group, then one section for each group. A section is its length and how many
// rules it has, both as four octets, little-endian, and its records. A record is
//
//	1 octet   kind in the low 2 bits, above them the lines since the previous
//	          record of the section (since line 0 for the first), at most 62;
//	          63 says that the excess follows as an unsigned varint
//	varint    length of the text
//	text      the value of a user-agent line or rule; of any other record the
//	          whole line without comment, which splitLine divides again
//
// Strings handed out are substrings of it, so reading allocates nothing.

type kind uint8

const (
	kindAgent kind = iota
	kindAllow
	kindDisallow
	kindOther
	kindNone // no record, never written
)

func (k kind) isRule() bool { return k == kindAllow || k == kindDisallow }

const (
	kindBits     = 2
	kindMask     = 1<<kindBits - 1
	maxShortStep = 1<<(8-kindBits) - 1
	sectionHead  = 8
)

// writer builds the string form.
type writer struct {
	buf     []byte // with room for slack octets after those written
	n       int    // octets written
	section int    // where the current section begins in buf
	rules   int    // rules of the section
	line    int    // line of the section's latest record

	grouped  bool // a user-agent line has been seen
	inAgents bool // the latest user-agent line or rule is a user-agent line
}

// slack is room for the head of a section and of a record, and for add to copy
// more than it has to.
const slack = 64

// reset prepares for the form of a file of this size, to which it mostly has a
// little more than half.
func (w *writer) reset(size int) {
	if need := size/2 + slack; len(w.buf) < need {
		w.buf = make([]byte, max(need+need/8, 4096))
	}
	w.n, w.grouped, w.inAgents = 0, false, false
	w.beginSection()
}

// grow makes room for n more octets and slack.
func (w *writer) grow(n int) {
	buf := make([]byte, 2*len(w.buf)+n)
	copy(buf, w.buf[:w.n])
	w.buf = buf
}

func (w *writer) beginSection() {
	w.section = w.n
	w.n += sectionHead
	w.rules, w.line = 0, 0
}

func (w *writer) endSection() {
	head := w.buf[w.section:]
	binary.LittleEndian.PutUint32(head, uint32(w.n-w.section-sectionHead))
	binary.LittleEndian.PutUint32(head[4:], uint32(w.rules))
}

func (w *writer) add(k kind, line int, text []byte) {
	step := line - w.line
	w.line = line
	n := w.n
	if n+len(text)+slack > len(w.buf) {
		w.grow(len(text) + slack)
	}
	if step < maxShortStep && len(text) < 0x80 {
		w.buf[n], w.buf[n+1] = byte(step)<<kindBits|byte(k), byte(len(text))
		n += 2
	} else {
		n = w.addHead(k, step, len(text))
	}
	w.n = n + len(text)
	if len(text) <= 32 && cap(text) >= 32 {
		// A copy of fixed length costs less than choosing one by length.
		*(*[32]byte)(w.buf[n:]) = [32]byte(text[:32])
		return
	}
	copy(w.buf[n:], text)
}

// addHead writes the head of a record that does not fit into two octets and
// returns where its text belongs.
func (w *writer) addHead(k kind, step, length int) int {
	n := w.n
	w.buf[n] = byte(min(step, maxShortStep))<<kindBits | byte(k)
	n++
	if step >= maxShortStep {
		n += binary.PutUvarint(w.buf[n:], uint64(step-maxShortStep))
	}
	return n + binary.PutUvarint(w.buf[n:], uint64(length))
}

// cutSection divides data, which is empty or begins with a section.
func cutSection(data string) (section Group, rest string) {
	if len(data) < sectionHead {
		return Group{}, ""
	}
	n, rules := int(number(data)), int(number(data[4:]))
	data = data[sectionHead:]
	return Group{data: data[:n], rules: rules}, data[n:]
}

// number reads four octets, little-endian.
func number(data string) uint32 {
	return uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
}

// record reads the record at pos: what it is, how many lines it stands below the
// one before it, and where its text begins and ends, which is where the next
// record begins.
func record(data string, pos int) (k kind, step, start, end int) {
	head, n := data[pos], int(data[pos+1])
	k, step = kind(head&kindMask), int(head>>kindBits)
	if step < maxShortStep && n < 0x80 {
		return k, step, pos + 2, pos + 2 + n
	}
	pos++
	if step == maxShortStep {
		var more int
		more, pos = uvarint(data, pos)
		step += more
	}
	n, pos = uvarint(data, pos)
	return k, step, pos, pos + n
}

// uvarint reads an unsigned varint at pos and returns where it ends.
func uvarint(data string, pos int) (n, end int) {
	for shift := 0; ; shift += 7 {
		b := data[pos]
		pos++
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n, pos
		}
	}
}
