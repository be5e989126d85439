package commands

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// plain writes text for people to read. A robots.txt may hold control
// characters that a terminal would obey; they are shown, not sent.
type plain struct{ out io.Writer }

func (p plain) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.out, shown(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// shown replaces control characters but line ends by their escapes.
func shown(text string) string {
	dangerous := func(r rune) bool { return r != '\n' && unicode.IsControl(r) }
	if !strings.ContainsFunc(text, dangerous) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if dangerous(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
