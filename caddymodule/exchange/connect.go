package exchange

import (
	"net"
	"net/http"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// IsConnect reports whether a request asks for a tunnel. WebSocket over HTTP/2
// is a CONNECT too, but with a target of its own (RFC 8441).
func IsConnect(r *http.Request) bool {
	return r.Method == http.MethodConnect && len(r.Header[":protocol"]) == 0
}

// ConnectTarget reads where a CONNECT leads that can be served. Every error is
// a *origin.BadTargetError.
func ConnectTarget(r *http.Request) (origin.Origin, error) {
	if r.ProtoMajor != 1 {
		return origin.Origin{}, &origin.BadTargetError{
			Problem: "CONNECT came over HTTP/2",
			Advice:  "this proxy opens tunnels over HTTP/1.1 alone",
		}
	}
	if r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		return origin.Origin{}, &origin.BadTargetError{
			Problem: "CONNECT came with content",
			Advice:  "send what goes into the tunnel after the answer, without Content-Length or Transfer-Encoding",
		}
	}
	return origin.FromConnect(r)
}

// Establish takes the connection of a CONNECT over and says that the tunnel
// stands, with these header lines, each ended by CRLF. It returns the
// connection and what the client sent without waiting for the answer.
func Establish(w http.ResponseWriter, lines string) (conn net.Conn, early []byte, err error) {
	// The writers in between would count the tunnel's octets as a response,
	// and hide the halves of the connection.
	inner := w
	for {
		wrapped, ok := inner.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		inner = wrapped.Unwrap()
	}
	hijacker, ok := inner.(http.Hijacker)
	if !ok {
		return nil, nil, http.ErrNotSupported
	}
	conn, buffered, err := hijacker.Hijack()
	if err != nil {
		return nil, nil, err
	}
	if n := buffered.Reader.Buffered(); n > 0 {
		pending, _ := buffered.Reader.Peek(n)
		early = append(early, pending...)
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n" + lines + "\r\n")); err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	// This reaches what records statuses, and no wire.
	w.WriteHeader(http.StatusOK)
	return conn, early, nil
}
