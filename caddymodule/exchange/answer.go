package exchange

import (
	"io"
	"maps"
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/internal/decision"
)

// answer sends an answer of ours. Error routes belong to a server, not to a
// site, so a sibling's handle_errors would swallow the answer if the error were
// merely returned: the routes run here, and ours stands unless they write one.
func (x *Exchange) answer(w http.ResponseWriter, r *http.Request, answer decision.Answer, cause error) {
	header := w.Header()
	contentType := answer.Header["Content-Type"]
	delete(answer.Header, "Content-Type")
	maps.Copy(header, answer.Header)
	exposeToScripts(header, r)
	if r.ProtoMajor == 1 && r.Header.Get("Expect") != "" {
		// The client may wait for 100 Continue for ever, and the server for
		// the body before it answers; only a closing server does not.
		header.Set("Connection", "close")
	}
	if x.runErrorRoutes(w, r, answer.Status, cause) {
		return
	}
	maps.Copy(header, answer.Header)
	header["Content-Type"] = contentType
	header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

// exposeToScripts lets the script of a page read why its request was refused:
// browsers hide the answer to a cross-origin request otherwise.
func exposeToScripts(header http.Header, r *http.Request) {
	from := r.Header.Get("Origin")
	if from == "" {
		return
	}
	header.Set("Access-Control-Allow-Origin", from)
	if from != "null" {
		header.Set("Access-Control-Allow-Credentials", "true")
	}
	header.Set("Access-Control-Expose-Headers", decision.HeaderGate+", "+decision.HeaderProxyStatus+", Retry-After")
	header.Add("Vary", "Origin")
}

// runErrorRoutes runs the server's error routes, as Caddy does for an error
// that a handler returns, and reports whether they wrote a body.
func (x *Exchange) runErrorRoutes(w http.ResponseWriter, r *http.Request, status int, cause error) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return false
	}
	held := &heldWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}
	r = server.Errors.WithError(r, caddyhttp.Error(status, cause))
	routes := server.Errors.Routes.Compile(caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil }))
	if err := routes.ServeHTTP(held, r); err != nil {
		// An error route that fails itself must not turn a denial into
		// anything else: ours stands where it has written nothing.
		x.logger.Error("error route failed while answering a request", zap.Error(err))
	}
	return held.written
}

// heldWriter keeps a status to itself until a body is written, so that routes
// which only set headers do not end the answer.
type heldWriter struct {
	caddyhttp.ResponseWriterWrapper
	status  int
	written bool
}

func (h *heldWriter) WriteHeader(status int) {
	if h.written || status < 200 {
		h.ResponseWriterWrapper.WriteHeader(status)
		return
	}
	h.status = status
}

func (h *heldWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !h.written {
		h.written = true
		if h.status != 0 {
			h.ResponseWriterWrapper.WriteHeader(h.status)
		}
	}
	return h.ResponseWriterWrapper.Write(p)
}

// ReadFrom keeps io.Copy on the path through Write.
func (h *heldWriter) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{h}, from)
}
