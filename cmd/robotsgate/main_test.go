package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"robotsgate": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			// Caddy keeps its data below these; nothing of the user's own.
			for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
				env.Setenv(name, env.WorkDir)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused-caddyfiles": refusedCaddyfiles,
			"refused-json":       refusedJSON,
			"exits":              exits,
			"long-case":          longCase,
			"streams":            streams,
		},
	})
}

// mark stands on the line of a file that is to be refused; behind it, divided
// by |, what the refusal must say.
const mark = "# refused: "

// marked returns the number of the marked line and what its refusal must say.
func marked(text string) (line int, words []string) {
	for i, l := range strings.Split(text, "\n") {
		if _, want, found := strings.Cut(l, mark); found {
			for word := range strings.SplitSeq(want, "|") {
				words = append(words, strings.TrimSpace(word))
			}
			return i + 1, words
		}
	}
	return 0, nil
}

// refusedCaddyfiles adapts each file of a folder and wants it refused with the
// marked line and words.
func refusedCaddyfiles(ts *testscript.TestScript, _ bool, args []string) {
	adapter := caddyconfig.GetAdapter("caddyfile")
	each(ts, args, func(name string, body []byte) error {
		line, words := marked(string(body))
		if line == 0 {
			return fmt.Errorf("no line bears the mark %q", mark)
		}
		_, _, err := adapter.Adapt(body, map[string]any{"filename": "Caddyfile"})
		return wantError(err, append(words, fmt.Sprintf(", at Caddyfile:%d", line)))
	})
}

// refusedJSON validates each file of a folder and wants it refused with the
// marked words. A file is the robots_gate app, or an object with a handler.
func refusedJSON(ts *testscript.TestScript, _ bool, args []string) {
	each(ts, args, func(_ string, body []byte) error {
		_, words := marked(string(body))
		object := strings.TrimSpace(string(body[strings.IndexByte(string(body), '\n'):]))
		apps := `"robots_gate": ` + object
		if strings.Contains(object, `"handler"`) {
			apps = `"http": {"servers": {"s": {"listen": ["127.0.0.1:0"], "routes": [{"handle": [` + object + `]}]}}}`
		}
		var config caddy.Config
		if err := caddy.StrictUnmarshalJSON([]byte(`{"admin": {"disabled": true}, "logging": {"logs": {"default": {"level": "ERROR"}}}, "apps": {`+apps+`}}`), &config); err != nil {
			return err
		}
		return wantError(caddy.Validate(&config), words)
	})
}

func wantError(err error, words []string) error {
	if err == nil {
		return fmt.Errorf("was accepted")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			return fmt.Errorf("the refusal lacks %q:\n\t%w", word, err)
		}
	}
	return nil
}

// each runs check over the files of a folder and reports all that failed.
func each(ts *testscript.TestScript, args []string, check func(name string, body []byte) error) {
	if len(args) != 1 {
		ts.Fatalf("usage: <command> <folder>")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	failed := 0
	for _, entry := range entries {
		body, err := os.ReadFile(filepath.Join(ts.MkAbs(args[0]), entry.Name()))
		ts.Check(err)
		if err := check(entry.Name(), body); err != nil {
			ts.Logf("%s: %v", entry.Name(), err)
			failed++
		}
	}
	ts.Logf("%d files, %d wrong", len(entries), failed)
	if failed > 0 {
		ts.Fatalf("%d of %d files were not refused as they should be", failed, len(entries))
	}
}
