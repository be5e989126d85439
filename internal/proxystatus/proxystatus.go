// Package proxystatus names what went wrong between a proxy and an origin in
// the words of RFC 9209.
package proxystatus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/robotsgate/robotsgate/internal/dialguard"
)

// ErrorType is the error type of RFC 9209 section 2.3 that fits err.
func ErrorType(err error) string {
	if denied, ok := errors.AsType[*dialguard.DeniedError](err); ok {
		if denied.Reason() == "port_denied" {
			return "http_request_denied"
		}
		return "destination_ip_prohibited"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsTimeout {
			return "dns_timeout"
		}
		return "dns_error"
	}
	if isCertificate(err) {
		return "tls_certificate_error"
	}
	if isTLS(err) {
		return "tls_protocol_error"
	}
	return transportType(err)
}

func isCertificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, hostname := errors.AsType[x509.HostnameError](err)
	return unknown || invalid || hostname
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	_, header := errors.AsType[tls.RecordHeaderError](err)
	return header
}

func transportType(err error) string {
	dialing := false
	if op, ok := errors.AsType[*net.OpError](err); ok {
		dialing = op.Op == "dial"
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case isTimeout(err) && dialing:
		return "connection_timeout"
	case isTimeout(err):
		return "http_response_timeout"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return "connection_terminated"
	case dialing:
		return "destination_unavailable"
	default:
		return "http_protocol_error"
	}
}

// Status is the status that a client gets for err: 504 where time ran out,
// 502 otherwise.
func Status(err error) int {
	if isTimeout(err) {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
