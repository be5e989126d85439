package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs a command and wants exactly this exit code of it, where ! exec
// takes any but 0.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits <code> <command> [<argument>...]")
	}
	code := "0"
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Check(err)
	}
	if code != args[0] {
		ts.Fatalf("exits with %s, not %s", code, args[0])
	}
}

// longCase writes a batch case whose robots.txt has so many lines before the
// one that decides.
func longCase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: long-case <file> <lines>")
	}
	lines, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b bytes.Buffer
	b.WriteString(`{"id":"long","url":"/last","token":"a","robots":"User-agent: *\n`)
	for range lines - 1 {
		b.WriteString(`#\n`)
	}
	b.WriteString(`Disallow: /last\n"}` + "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// streams talks with a batch: each case is sent only when the one before is
// answered.
func streams(ts *testscript.TestScript, _ bool, _ []string) {
	cmd := exec.Command("robotsgate", "robots", "check", "--batch")
	var err error
	cmd.Path, err = exec.LookPath("robotsgate")
	ts.Check(err)
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	answers := bufio.NewReader(out)
	for id := range 3 {
		_, err := fmt.Fprintf(in, `{"id":%d,"robots":"","url":"/"}`+"\n", id)
		ts.Check(err)
		answer, err := answers.ReadString('\n')
		ts.Check(err)
		if !strings.HasPrefix(answer, fmt.Sprintf(`{"id":%d,`, id)) {
			ts.Fatalf("case %d is answered with %s", id, answer)
		}
	}
	ts.Check(in.Close())
	ts.Check(cmd.Wait())
}
