package parser

import "encoding/binary"

// A parsed file is kept as one string: a section for what precedes the first
// group, then one section for each group. A section is its length as four
// octets, little-endian, and its records. A record is
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
	sectionHead  = 4
)

// writer builds the string form.
type writer struct {
	buf     []byte // room for the form of any file of the size given to reset
	n       int    // octets written
	section int    // where the current section begins in buf
	line    int    // line of the section's latest record
}

// slack lets copyText copy more than it has to, and a first section exist.
const slack = 64

// reset prepares for the form of a file of this size. No line becomes longer
// than twice its octets: the shortest record, "a:" and a line end, takes four.
func (w *writer) reset(size int) {
	if need := 2*size + slack; len(w.buf) < need {
		w.buf = make([]byte, need)
	}
	w.n = 0
	w.beginSection()
}

func (w *writer) beginSection() {
	w.section = w.n
	w.n += sectionHead
	w.line = 0
}

func (w *writer) endSection() {
	binary.LittleEndian.PutUint32(w.buf[w.section:], uint32(w.n-w.section-sectionHead))
}

func (w *writer) add(k kind, line int, text []byte) {
	step := line - w.line
	w.line = line
	n := w.n
	if step < maxShortStep && len(text) < 0x80 {
		w.buf[n], w.buf[n+1] = byte(step)<<kindBits|byte(k), byte(len(text))
		n += 2
	} else {
		n = w.addHead(k, step, len(text))
	}
	w.n = n + len(text)
	if len(text) <= 32 && cap(text) >= 32 {
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
func cutSection(data string) (section, rest string) {
	if len(data) < sectionHead {
		return "", ""
	}
	n := int(data[0]) | int(data[1])<<8 | int(data[2])<<16 | int(data[3])<<24
	return data[sectionHead : sectionHead+n], data[sectionHead+n:]
}

// walker reads the records of a section one after the other.
type walker struct {
	data string // what is still to be read
	kind kind
	line int
	text string
}

func (w *walker) next() bool {
	if w.data == "" {
		return false
	}
	head := w.data[0]
	data := w.data[1:]
	w.kind = kind(head & kindMask)
	step := int(head >> kindBits)
	if step == maxShortStep {
		var more int
		more, data = cutUvarint(data)
		step += more
	}
	w.line += step
	n, data := cutUvarint(data)
	w.text, w.data = data[:n], data[n:]
	return true
}

func cutUvarint(data string) (int, string) {
	n := 0
	for i := range len(data) {
		b := data[i]
		n |= int(b&0x7f) << (7 * i)
		if b < 0x80 {
			return n, data[i+1:]
		}
	}
	return n, ""
}
