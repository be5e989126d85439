package batch_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/internal/batch"
)

func TestRun(t *testing.T) {
	const robots = `"robots":"User-agent: *\nDisallow: /x\n\nUser-agent: foo\nAllow: /x"`
	tests := map[string]struct{ in, want string }{
		"denied":     {`{"id":1,` + robots + `,"token":"bar","url":"http://h/x"}`, `{"id":1,"allowed":false,"reason":"disallowed","token":"*","rule":"Disallow: /x","line":2}`},
		"allowed":    {`{"id":"a",` + robots + `,"token":"FOO","url":"http://h/x"}`, `{"id":"a","allowed":true,"reason":"rule_allowed","token":"FOO","rule":"Allow: /x","line":5}`},
		"user agent": {`{"id":{"n":[1]},` + robots + `,"user_agent":"foo/1.0","url":"/x"}`, `{"id":{"n":[1]},"allowed":true,"reason":"rule_allowed","token":"foo","rule":"Allow: /x","line":5}`},
		"nobody":     {`{` + robots + `,"url":"http://h"}`, `{"allowed":true,"reason":"no_rule","token":"*"}`},
		"strict":     {`{"id":2,` + robots + `,"url":"http://h//x"}`, `{"id":2,"allowed":false,"reason":"disallowed_normalized","token":"*","rule":"Disallow: /x","line":2}`},
		"rfc":        {`{"id":2,` + robots + `,"url":"http://h//x","paths":"rfc"}`, `{"id":2,"allowed":true,"reason":"no_rule","token":"*"}`},
		"robots.txt": {`{"id":2,"robots":"User-agent: *\nDisallow: /","url":"http://h/robots.txt"}`, `{"id":2,"allowed":true,"reason":"robots_txt","token":"*"}`},
		"no group":   {`{"id":null,"robots":"","url":"http://h/x"}`, `{"id":null,"allowed":true,"reason":"no_group","token":"*"}`},
		"base 64": {
			`{"id":3,"robots_b64":"` + base64.StdEncoding.EncodeToString([]byte("User-agent: *\nDisallow: /\xff")) + `","url_b64":"` + base64.StdEncoding.EncodeToString([]byte("http://h/\xff")) + `"}`,
			`{"id":3,"allowed":false,"reason":"disallowed","token":"*","rule":"Disallow: /\ufffd","line":2}`,
		},
		"no JSON":     {`nonsense`, `{"error":"line 1 is no JSON object of this form: invalid character 'o' in literal null (expecting 'u')"}`},
		"no robots":   {`{"id":4,"url":"/"}`, `{"id":4,"error":"line 1: has neither robots nor robots_b64"}`},
		"no url":      {`{"id":4,"robots":""}`, `{"id":4,"error":"line 1: has neither url nor url_b64"}`},
		"both":        {`{"id":4,"robots":"","url":"/","url_b64":""}`, `{"id":4,"error":"line 1: has both url and url_b64; keep one"}`},
		"who":         {`{"id":4,"robots":"","url":"/","token":"a","user_agent":"b"}`, `{"id":4,"error":"line 1: has both token and user_agent; keep one"}`},
		"paths":       {`{"id":4,"robots":"","url":"/","paths":"x"}`, `{"id":4,"error":"line 1: paths: \"x\" is neither strict nor rfc"}`},
		"blank lines": {"\n\r\n" + `{"id":5,"robots":"","url":"/"}` + "\r\n\n", `{"id":5,"allowed":true,"reason":"no_group","token":"*"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			undecided, err := batch.Run(strings.NewReader(tt.in), &out, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(out.String(), "\n"); got != tt.want {
				t.Errorf("answer\n got %s\nwant %s", got, tt.want)
			}
			if failed := strings.Contains(tt.want, `"error"`); failed != (undecided == 1) {
				t.Errorf("%d cases undecided", undecided)
			}
		})
	}
}

// TestRunLongLine: a file of megabytes is one line.
func TestRunLongLine(t *testing.T) {
	file := strings.Repeat("# padding\n", 300_000) + "User-agent: *\nDisallow: /x\n"
	line, err := json.Marshal(map[string]string{"robots": file, "url": "/x"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := batch.Run(bytes.NewReader(append(line, '\n')), &out, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"reason":"disallowed"`) || !strings.Contains(out.String(), `"line":300002`) {
		t.Errorf("answer %s", out.String())
	}
}

// TestRunStreams: who sends one case and waits gets its answer.
func TestRunStreams(t *testing.T) {
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := batch.Run(inReader, outWriter, false)
		done <- err
	}()
	answers := bufio.NewReader(outReader)
	for range 3 {
		if _, err := io.WriteString(inWriter, `{"robots":"","url":"/"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := answers.ReadString('\n'); err != nil || !strings.Contains(answer, "no_group") {
			t.Fatalf("answer %q, %v", answer, err)
		}
	}
	if err := inWriter.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestRunCorpus sends the conformance cases through, as a suite of others would.
func TestRunCorpus(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corpus/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("needs the conformance cases in ../shared/corpus, which a clone does not have")
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if undecided, err := batch.Run(bytes.NewReader(in), &out, true); err != nil || undecided > 0 {
			t.Fatalf("%s: %d undecided, %v", file, undecided, err)
		}
		answers := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, line := range strings.Split(strings.TrimSpace(string(in)), "\n") {
			var want struct {
				ID      string
				Allowed bool
			}
			var got struct {
				ID      string
				Allowed bool
			}
			if json.Unmarshal([]byte(line), &want) != nil || json.Unmarshal([]byte(answers[i]), &got) != nil || got != want {
				t.Errorf("%s: got %s, want %+v", filepath.Base(file), answers[i], want)
			}
		}
	}
}
