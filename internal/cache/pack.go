package cache

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// packers are reused: one holds over half a megabyte of tables.
var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	return w
}}

// pack compresses a body.
func pack(body []byte) *[]byte {
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	// Writes to a bytes.Buffer do not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	packed := bytes.Clone(out.Bytes())
	return &packed
}

// cutBy reports whether a body is the first part of this copy and no more: what
// remains of the same file when the connection is cut.
func (c *Copy) cutBy(body []byte) bool {
	packed := c.packed.Load()
	if packed == nil || len(body) >= c.Size {
		return false
	}
	start := make([]byte, len(body))
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(*packed)), start); err != nil {
		return false
	}
	return bytes.Equal(start, body)
}
