package parser

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Encodings that [Inspect] reports.
const (
	encodingUTF8    = "utf-8"
	encodingUTF8BOM = "utf-8 with byte order mark"
	encodingUTF16LE = "utf-16le"
	encodingUTF16BE = "utf-16be"
	encodingUnknown = "not utf-8"
)

// decode returns body as UTF-8 without its byte order mark, whole or cut
// (RFC 9309 §2.2 asks for UTF-8 and advises against the mark; Google skips its
// octets as far as they are there). body is not changed; the result aliases it
// except for UTF-16.
func decode(body []byte) []byte {
	if len(body) == 0 || body[0] < 0xEF {
		return body
	}
	if len(body) >= 2 && body[0] == 0xFF && body[1] == 0xFE {
		return decodeUTF16(body[2:], 0, 1)
	}
	if len(body) >= 2 && body[0] == 0xFE && body[1] == 0xFF {
		return decodeUTF16(body[2:], 1, 0)
	}
	for _, c := range [...]byte{0xEF, 0xBB, 0xBF} {
		if len(body) == 0 || body[0] != c {
			break
		}
		body = body[1:]
	}
	return body
}

// decodeUTF16 reads units whose low and high octets stand at the given places.
// A last odd octet is dropped and a lone surrogate becomes U+FFFD.
func decodeUTF16(body []byte, low, high int) []byte {
	out := make([]byte, 0, len(body))
	unit := func(i int) rune { return rune(body[i+low]) | rune(body[i+high])<<8 }
	for i := 0; i+1 < len(body); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if i+3 < len(body) {
				pair = utf16.DecodeRune(r, unit(i+2))
			}
			if pair != utf8.RuneError {
				i += 2
			}
			r = pair
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
