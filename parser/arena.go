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
	buf     []byte
	section int // where the current section begins in buf
	line    int // line of the section's latest record
}

func (w *writer) beginSection() {
	w.section = len(w.buf)
	w.buf = append(w.buf, 0, 0, 0, 0)
	w.line = 0
}

func (w *writer) endSection() {
	binary.LittleEndian.PutUint32(w.buf[w.section:], uint32(len(w.buf)-w.section-sectionHead))
}

func (w *writer) add(k kind, line int, text []byte) {
	step := line - w.line
	w.line = line
	if step < maxShortStep {
		w.buf = append(w.buf, byte(step)<<kindBits|byte(k))
	} else {
		w.buf = append(w.buf, maxShortStep<<kindBits|byte(k))
		w.buf = binary.AppendUvarint(w.buf, uint64(step-maxShortStep))
	}
	w.buf = binary.AppendUvarint(w.buf, uint64(len(text)))
	w.buf = append(w.buf, text...)
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
