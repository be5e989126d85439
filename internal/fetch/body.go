package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

var (
	utf16LE = []byte{0xff, 0xfe}
	utf16BE = []byte{0xfe, 0xff}
	utf32LE = []byte{0xff, 0xfe, 0, 0}
	utf32BE = []byte{0, 0, 0xfe, 0xff}
	gzipID  = []byte{0x1f, 0x8b}
)

// readBody reads, decodes and bounds the body of a 2xx answer. Any error makes
// the result unreachable: no part of a body is ever used.
func (f *Fetcher) readBody(ctx context.Context, resp *http.Response, target *url.URL, result *Result) {
	decoded, err := decoder(resp)
	if err != nil {
		result.fail(bodyCause(ctx, err), fmt.Errorf("decoding %s: %w", target, err))
		return
	}
	// One byte over the limit tells a file that is cut from one that fits.
	body, err := readAtMost(decoded, resp.ContentLength, f.config.MaxBody+1)
	if err != nil {
		result.fail(bodyCause(ctx, err), fmt.Errorf("reading %s: %w", target, err))
		return
	}
	if int64(len(body)) > f.config.MaxBody {
		body = cutLine(body, int(f.config.MaxBody))
		result.Truncated = true
	}
	if err := checkText(body); err != nil {
		result.fail(CauseEncoding, fmt.Errorf("reading %s: %w", target, err))
		return
	}
	result.Outcome, result.Cause, result.Body = Rules, CauseOK, body
	result.EOFDelimited = resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
	result.HTML = isHTML(resp.Header.Get("Content-Type"), body)
	result.validators(resp.Header)
}

// errEncoding marks what we cannot undo.
var errEncoding = errors.New("unsupported encoding")

// decoder undoes the content encoding: gzip, the only one we ask for, or none.
func decoder(resp *http.Response) (io.Reader, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ",")))
	switch {
	case coding == "" || coding == "identity" || resp.ContentLength == 0:
		return resp.Body, nil
	case coding == "gzip" || coding == "x-gzip":
		return gzip.NewReader(resp.Body)
	default:
		return nil, fmt.Errorf("%w: the content encoding is %q, only gzip was offered", errEncoding, cut(coding, 64))
	}
}

// readAtMost reads up to limit bytes; announced is the length that the headers
// give, negative when they give none.
func readAtMost(r io.Reader, announced, limit int64) ([]byte, error) {
	var body bytes.Buffer
	if announced > 0 {
		body.Grow(int(min(announced, limit)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(r, limit))
	return body.Bytes(), err
}

// bodyCause names the failure of a body.
func bodyCause(ctx context.Context, err error) Cause {
	_, network := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return causeOf(ctx, err)
	case errors.Is(err, errEncoding), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), isCorrupt(err):
		return CauseEncoding
	case network:
		return causeOf(ctx, err)
	default:
		return CauseTruncated
	}
}

// cutLine cuts a body to limit bytes and drops the line that the cut went
// through: half a line is another rule ("Allow: /public" becomes "Allow: /").
func cutLine(body []byte, limit int) []byte {
	if bytes.HasPrefix(body, utf16LE) || bytes.HasPrefix(body, utf16BE) {
		return cutLine16(body, limit)
	}
	if next := body[limit]; next == '\n' || next == '\r' {
		return body[:limit]
	}
	body = body[:limit]
	return body[:bytes.LastIndexAny(body, "\r\n")+1]
}

// cutLine16 is cutLine for UTF-16, whose line ends are two bytes wide.
func cutLine16(body []byte, limit int) []byte {
	low, high := 0, 1
	if body[0] == 0xfe {
		low, high = 1, 0
	}
	for end := limit &^ 1; end > 2; end -= 2 {
		unit := body[end-2 : end]
		if unit[high] == 0 && (unit[low] == '\n' || unit[low] == '\r') {
			return body[:end]
		}
	}
	return body[:2]
}

// checkText refuses what cannot be text in an encoding that the parser reads:
// taken for UTF-8 it would parse to no rule at all and allow everything.
func checkText(body []byte) error {
	switch {
	case bytes.HasPrefix(body, gzipID):
		return errors.New("the body is gzip that no header announces")
	case bytes.HasPrefix(body, utf32LE), bytes.HasPrefix(body, utf32BE):
		return errors.New("the body is UTF-32")
	case bytes.HasPrefix(body, utf16LE), bytes.HasPrefix(body, utf16BE):
		return nil
	case bytes.Count(body, []byte{0})*10 > len(body):
		return errors.New("more than a tenth of the body is NUL bytes")
	}
	return nil
}

// isHTML recognises a web page, the usual answer of a site without robots.txt
// and without a 404.
func isHTML(contentType string, body []byte) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	if kind = strings.TrimSpace(kind); kind == "text/html" || kind == "application/xhtml+xml" {
		return true
	}
	start := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 256)], "\ufeff \t\r\n"))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// cut bounds a value that an origin chose.
func cut(s string, n int) string {
	return s[:min(len(s), n)]
}
