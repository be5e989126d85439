package fetch

import (
	"compress/flate"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// ErrYielded as the cause of a cancelled context says that the fetch gave its
// slot to an origin that was waiting.
var ErrYielded = errors.New("no sign of life while other origins were waiting")

// denied is what the address policy's errors have in common.
type denied interface {
	error
	Reason() string
}

// causeOf names the failure of a round trip.
func causeOf(ctx context.Context, err error) Cause {
	if _, ok := errors.AsType[denied](err); ok {
		return CauseDialDenied
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && !(dns.IsTimeout && ctx.Err() != nil) {
		return CauseDNS
	}
	if ctx.Err() != nil {
		return contextCause(ctx)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return CauseTimeout
	}
	if isTLS(err) {
		return CauseTLS
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return CauseRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return CauseReset
	case isBadResponse(err):
		return CauseBadResponse
	}
	return CauseOther
}

// contextCause names the end of the fetch's own context.
func contextCause(ctx context.Context) Cause {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrYielded):
		return CauseYielded
	case errors.Is(cause, context.DeadlineExceeded):
		return CauseTimeout
	default:
		return CauseCancelled
	}
}

// isTLS recognises a failed handshake, a bad certificate and plain HTTP on a
// TLS port.
func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	// net/http and crypto/tls keep these as plain text.
	text := err.Error()
	return strings.Contains(text, "tls: ") || strings.Contains(text, "server gave HTTP response to HTTPS client")
}

// isBadResponse recognises an answer that net/http refused to read; it has no
// error types for them.
func isBadResponse(err error) bool {
	text := err.Error()
	return strings.Contains(text, "malformed") || strings.Contains(text, "response headers exceeded") ||
		strings.Contains(text, "invalid header") || strings.Contains(text, "Content-Length") || strings.Contains(text, "transfer encoding") ||
		strings.Contains(text, "1xx")
}

// isCorrupt recognises a broken deflate stream.
func isCorrupt(err error) bool {
	_, ok := errors.AsType[flate.CorruptInputError](err)
	return ok
}
