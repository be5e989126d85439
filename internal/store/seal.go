package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
)

// errDamaged says that a stored value is not what was written.
var errDamaged = errors.New("the stored value is damaged")

// magic begins every value. The number is the version of all formats here:
// another one is not read.
const magic = "robotsgate 1 "

// seal puts version, length and SHA-256 before a payload, as one line of text,
// so that what is stored stays readable.
func seal(payload []byte) []byte {
	return append(header(payload), payload...)
}

func header(payload []byte) []byte {
	return fmt.Appendf(nil, "%s%d %x\n", magic, len(payload), sha256.Sum256(payload))
}

// unseal returns the payload of a sealed value, or errDamaged.
func unseal(value []byte) ([]byte, error) {
	end := bytes.IndexByte(value, '\n')
	if end < 0 || !bytes.HasPrefix(value, []byte(magic)) {
		return nil, fmt.Errorf("%w: no header of this version", errDamaged)
	}
	payload := value[end+1:]
	// Made again and compared: nothing but what seal writes is accepted.
	if !bytes.Equal(value[:end+1], header(payload)) {
		return nil, fmt.Errorf("%w: length or hash do not fit", errDamaged)
	}
	return payload, nil
}
