package faultorigin

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
	"unicode/utf16"
)

// Rules is the robots.txt of every mode that has one: /private is disallowed.
const Rules = "User-agent: *\nDisallow: /private\n"

// ByName returns the mode that a host's first label names. Those with a number
// take it after a dash. Unknown names answer "ok".
//
//	ok, st-N           the rules with status 200 or N (429 and 503 with Retry-After: 120)
//	empty, html        200 without a body; 200 with a web page
//	etag               the rules with an ETag, 304 when it is sent back
//	age-N              the rules with Cache-Control: max-age=N
//	vary               rules that depend on the User-Agent, and Vary saying so
//	hops-N, loop       N redirects before the rules; redirects for ever
//	noloc              301 without Location
//	hang, drip         silence; one byte of header at a time
//	dripbody           one byte of body at a time
//	infinite           rules without end
//	bomb               1 GiB of zeros, compressed
//	gzip, gzip-bogus   the rules compressed; not compressed but called so
//	gzip-cut           the rules compressed, the stream cut
//	gzip-bare          compressed without saying so
//	br                 a content encoding that was not offered
//	short              less body than Content-Length says
//	cl-short           more body than Content-Length says
//	chunked, badchunk  a chunked body; a broken one
//	rst, rst-body      reset before the headers, and within the body
//	eof, tls-noclose   a body that ends with the connection; without close_notify
//	two-cl, neg-cl     two different lengths, a negative one
//	badheader, nul     a header line without colon, a NUL in a header
//	bigheaders         9 MB of headers
//	http09, st-20x     an answer without headers, the status "20"
//	continue           informational answers without end
//	utf16le, utf16be   "Disallow: /" in UTF-16 with its BOM; utf16-nobom without
//	cookies            100,000 Set-Cookie lines
func ByName(host string) Mode {
	label := firstLabel(host)
	if mode, ok := modes[label]; ok {
		return mode
	}
	name, _, _ := strings.Cut(label, "-")
	switch name {
	case "st":
		return Status(number(label))
	case "hops":
		return hops(number(label))
	case "age":
		return Answer(200, fmt.Sprintf("Cache-Control: max-age=%d\r\n", number(label)), Rules)
	}
	return Answer(200, "", Rules)
}

var modes = map[string]Mode{
	"empty": Answer(200, "", ""),
	"html":  Answer(200, "Content-Type: text/html\r\n", "<!DOCTYPE html><html><body>Not here</body></html>"),
	"etag":  etag,
	"vary":  vary,
	"loop":  redirect(302, "/robots.txt"),
	"noloc": Raw("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n"),

	"hang":       hang,
	"drip":       drip("HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("x", 1<<16)),
	"dripbody":   drip("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("#", 1<<16)),
	"infinite":   infinite,
	"bomb":       bomb,
	"gzip":       encoded("gzip", compressed(Rules)),
	"gzip-bogus": encoded("gzip", []byte(Rules)),
	"gzip-cut":   encoded("gzip", compressed(Rules)[:20]),
	"gzip-bare":  encoded("", compressed(Rules)),
	"br":         encoded("br", []byte{0x8b, 0x02, 0x80, 'U', 's', 'e', 'r', 0x03}),

	"short":     Raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + Rules),
	"cl-short":  Raw("HTTP/1.1 200 OK\r\nContent-Length: 34\r\n\r\n" + Rules + "Allow: /\n"),
	"chunked":   Raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(Rules), Rules)),
	"badchunk":  Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nUser-\r\nzz\r\n"),
	"rst":       reset(""),
	"rst-body":  reset("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + Rules),
	"eof":       Raw("HTTP/1.1 200 OK\r\n\r\n" + Rules),
	"two-cl":    Raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 34\r\n\r\n" + Rules),
	"neg-cl":    Raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + Rules),
	"badheader": Raw("HTTP/1.1 200 OK\r\nthis is no header\r\nContent-Length: 34\r\n\r\n" + Rules),
	"nul":       Raw("HTTP/1.1 200 OK\r\nX-Nul: a\x00b\r\nContent-Length: 34\r\n\r\n" + Rules),
	"http09":    Raw(Rules),
	"st-20x":    Raw("HTTP/1.1 20 OK\r\nContent-Length: 34\r\n\r\n" + Rules),
	"bigheaders": Raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("x", 8000)+"\r\n", 1150) +
		"Content-Length: 34\r\n\r\n" + Rules),
	"cookies": Raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("Set-Cookie: a=b\r\n", 100_000) +
		"Content-Length: 34\r\n\r\n" + Rules),
	"continue":    endless("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
	"tls-noclose": noCloseNotify,
	"utf16le":     Answer(200, "", utf16Text("\ufeffUser-agent: *\nDisallow: /\n", binary.LittleEndian)),
	"utf16be":     Answer(200, "", utf16Text("\ufeffUser-agent: *\nDisallow: /\n", binary.BigEndian)),
	"utf16-nobom": Answer(200, "", utf16Text("User-agent: *\nDisallow: /\n", binary.LittleEndian)),
}

// Answer is an ordinary answer. header is further header lines, each with its
// CRLF.
func Answer(status int, header, body string) Mode {
	return func(c *Conn) bool {
		_, err := fmt.Fprintf(c, "HTTP/1.1 %03d %s\r\n%sContent-Length: %d\r\n\r\n%s", status, "Status", header, len(body), body)
		return err == nil && !strings.EqualFold(c.Header.Get("Connection"), "close")
	}
}

// Status answers the rules with a status, so that whoever ignores it obeys
// them. 204, 205 and 304 have no body.
func Status(status int) Mode {
	switch status {
	case 204, 205, 304:
		return Raw(fmt.Sprintf("HTTP/1.1 %d Status\r\nConnection: close\r\n\r\n", status))
	case 429, 503:
		return Answer(status, "Retry-After: 120\r\n", Rules)
	}
	return Answer(status, "", Rules)
}

// Raw sends bytes as they are and closes.
func Raw(answer string) Mode {
	return func(c *Conn) bool {
		_, _ = io.WriteString(c, answer)
		return false
	}
}

// Redirect answers with a status and a Location, whatever is asked.
func Redirect(status int, location string) Mode { return redirect(status, location) }

func redirect(status int, location string) Mode {
	return Answer(status, "Location: "+location+"\r\n", "")
}

// hops redirects n times, over paths of its own, before the rules.
func hops(n int) Mode {
	return func(c *Conn) bool {
		done := 0
		_, _ = fmt.Sscanf(c.Path(), "/hop/%d", &done)
		if done >= n {
			return Answer(200, "", Rules)(c)
		}
		status := []int{301, 302, 303, 307, 308}[done%5]
		return redirect(status, fmt.Sprintf("/hop/%d", done+1))(c)
	}
}

func etag(c *Conn) bool {
	if c.Header.Get("If-None-Match") == `"v1"` {
		return Raw("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n")(c)
	}
	return Answer(200, "ETag: \"v1\"\r\n", Rules)(c)
}

// vary disallows everything to whoever has "evil" in the User-Agent.
func vary(c *Conn) bool {
	body := Rules
	if strings.Contains(c.Header.Get("User-Agent"), "evil") {
		body = "User-agent: *\nDisallow: /\n"
	}
	return Answer(200, "Vary: Accept, user-agent\r\n", body)(c)
}

func hang(c *Conn) bool {
	<-c.gone()
	return false
}

// gone ends when the other side hangs up or the origin is closed.
func (c *Conn) gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, c)
	}()
	return gone
}

// drip sends one byte every 20 ms.
func drip(answer string) Mode {
	return func(c *Conn) bool {
		gone := c.gone()
		for i := range len(answer) {
			select {
			case <-gone:
				return false
			case <-time.After(20 * time.Millisecond):
			}
			if _, err := c.Write([]byte{answer[i]}); err != nil {
				return false
			}
		}
		return false
	}
}

func infinite(c *Conn) bool {
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n")
	return endless("Allow: /public\n")(c)
}

// endless repeats a text until the other side hangs up.
func endless(text string) Mode {
	block := bytes.Repeat([]byte(text), 1000)
	return func(c *Conn) bool {
		for {
			if _, err := c.Write(block); err != nil {
				return false
			}
		}
	}
}

func encoded(encoding string, body []byte) Mode {
	header := ""
	if encoding != "" {
		header = "Content-Encoding: " + encoding + "\r\n"
	}
	return Answer(200, header, string(body))
}

func compressed(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.Bytes()
}

// bomb streams 1 GiB of comment lines, compressed.
func bomb(c *Conn) bool {
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
	w := gzip.NewWriter(c)
	_, _ = io.WriteString(w, Rules)
	block := bytes.Repeat([]byte("#\n"), 1<<19)
	for range 1 << 10 {
		if _, err := w.Write(block); err != nil {
			return false
		}
	}
	_ = w.Close()
	return false
}

// reset sends a beginning and then RST in place of FIN.
func reset(beginning string) Mode {
	return func(c *Conn) bool {
		_, _ = io.WriteString(c, beginning)
		if tcp, ok := bare(c.Conn).(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
		}
		return false
	}
}

// noCloseNotify ends a TLS connection as a cut line would.
func noCloseNotify(c *Conn) bool {
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+Rules)
	_ = bare(c.Conn).Close()
	return false
}

// bare is the TCP connection below TLS.
func bare(conn net.Conn) net.Conn {
	if secure, ok := conn.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return conn
}

func utf16Text(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}
