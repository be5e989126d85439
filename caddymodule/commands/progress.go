package commands

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/robotsgate/robotsgate/internal/audit"
)

// progress shows on a terminal how far a long read has come. Elsewhere, and in
// its first moment, it shows nothing.
type progress struct {
	out   io.Writer
	next  time.Time
	shown bool
}

// progressPause is the time between two looks, and before the first.
const progressPause = 500 * time.Millisecond

func newProgress(out io.Writer) *progress {
	p := &progress{next: time.Now().Add(progressPause)}
	if file, ok := out.(*os.File); ok && isTerminal(file) {
		p.out = out
	}
	return p
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) show(log audit.Log, lines int64) {
	if p.out == nil || time.Now().Before(p.next) {
		return
	}
	p.next, p.shown = time.Now().Add(progressPause), true
	fmt.Fprintf(p.out, "\r\x1b[K%d lines read, now in %s", lines, log.Name)
}

// clear takes the line off the terminal again.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
