package main

import (
	"io"
)

func leaveOut(w io.Writer, s sets, source string, list int) error { return nil }
