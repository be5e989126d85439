package cache

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"

	"github.com/robotsgate/robotsgate/internal/store"
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

// unpack returns a packed body.
func unpack(packed []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
}

// cutBy reports whether a body is the first part of this copy and no more: what
// remains of the same file when the connection is cut. Where the copy's own
// body cannot be had, a shorter one counts as cut.
func (c *Copy) cutBy(body []byte, st *store.Store) bool {
	if c.State != StateRules || len(body) >= c.Size {
		return false
	}
	whole, err := c.body(st)
	return err != nil || bytes.HasPrefix(whole, body)
}

// body returns the body as it was parsed, from memory or storage.
func (c *Copy) body(st *store.Store) ([]byte, error) {
	if packed := c.packed.Load(); packed != nil {
		return unpack(*packed)
	}
	if st == nil {
		return nil, store.ErrNotFound
	}
	return st.RecallBody(c.SHA256)
}
