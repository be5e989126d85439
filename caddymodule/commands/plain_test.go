package commands

import (
	"bytes"
	"fmt"
	"testing"
)

func TestPlainShowsControlCharacters(t *testing.T) {
	var out bytes.Buffer
	fmt.Fprintf(plain{&out}, "%s\n", "Disallow: /\x1b[2J\x07é\u009b\tx")
	if got, want := out.String(), "Disallow: /\\x1b[2J\\x07é\\x9b\\x09x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
