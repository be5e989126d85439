package exchange

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsgate/robotsgate/internal/decision"
)

// Marked passes a response on with the gate's own mark: an X-Robots-Gate of
// the origin is removed, and report mode says what it would have denied.
func (x *Exchange) Marked(w http.ResponseWriter) http.ResponseWriter {
	if x.marked.record != nil {
		// A gate before this one has marked it; once more would be a writer
		// that writes to itself.
		return w
	}
	// A part of the exchange, so that it costs no allocation of its own.
	x.marked = markedWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, record: &x.Record}
	return &x.marked
}

type markedWriter struct {
	caddyhttp.ResponseWriterWrapper
	record *decision.Record
	done   bool
}

func (m *markedWriter) WriteHeader(status int) {
	m.setMark()
	if status >= 200 || status == http.StatusSwitchingProtocols {
		m.done = true
	}
	m.ResponseWriterWrapper.WriteHeader(status)
}

func (m *markedWriter) Write(p []byte) (int, error) {
	m.begin()
	return m.ResponseWriterWrapper.Write(p)
}

// ReadFrom lets large bodies take the short way through the kernel.
func (m *markedWriter) ReadFrom(from io.Reader) (int64, error) {
	m.begin()
	return m.ResponseWriterWrapper.ReadFrom(from)
}

// FlushError sends what is written so far; it may be the first thing that a
// streaming handler does.
func (m *markedWriter) FlushError() error {
	m.begin()
	return http.NewResponseController(m.ResponseWriter).Flush()
}

func (m *markedWriter) begin() {
	if !m.done {
		m.WriteHeader(http.StatusOK)
	}
}

func (m *markedWriter) setMark() {
	rec := m.record
	switch {
	case m.done, rec.Refused():
		// Sent already, or refused further in, with the mark of a denial.
	case rec.WouldRefuse():
		m.Header().Set(decision.HeaderGate, rec.WouldDeny())
	default:
		m.Header().Del(decision.HeaderGate)
	}
}
