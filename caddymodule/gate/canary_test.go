package gate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
)

// canaries are secrets that a job sends, each in the place where it belongs.
var canaries = map[string]string{
	"credentials":       "canary-credentials",
	"proxy credentials": "canary-proxy",
	"cookie":            "canary-cookie",
	"userinfo":          "canary-userinfo",
	"query value":       "canary-query",
}

// TestSecrets sends requests that end in every kind of way and looks for what
// must stay with job and origin: in the answers of ours, in our log entries, in
// storage, and, under the filter that the examples show, in the access log.
func TestSecrets(t *testing.T) {
	example, err := os.ReadFile("../../caddyfile-examples/forward-proxy.Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	_, filter, _ := strings.Cut(string(example), "format filter {")
	filter, _, _ = strings.Cut(filter, "}")
	access := filepath.Join(t.TempDir(), "access.log")

	r := gatetest.New(t)
	serveHosts(r)
	site := ":0 {\nbind 127.0.0.1\nlog {\noutput file " + access + " {\nroll_disabled\n}\nformat filter {" + filter + "}\n}\n" + all("redact query\nunreachable deny") + "\n}\n"
	r.Load("", site)
	query := "?token=canary-query&canary-query"
	var ours []string
	for _, url := range []string{
		r.URL("grouped.test", "/private"+query),
		r.URL("grouped.test", "/free"+query),
		r.URL("down.test", "/x"+query),
		"http://grouped.test:9/x" + query,
		strings.Replace(r.URL("grouped.test", "/x"+query), "http://", "http://me:canary-userinfo@", 1),
	} {
		res := r.Raw("GET", "GET "+url+" HTTP/1.1\r\nHost: grouped.test\r\nUser-Agent: examplebot/1.0\r\n"+
			"Authorization: Bearer canary-credentials\r\nProxy-Authorization: Basic canary-proxy\r\nCookie: session=canary-cookie\r\n\r\n")
		if res.Header.Get("X-Robots-Gate") != "" {
			ours = append(ours, fmt.Sprint(res.Header, res.Body))
		}
	}
	if len(ours) != 4 {
		t.Fatalf("%d of 5 requests were refused, not 4", len(ours))
	}
	for _, e := range r.Log("request denied", 4) {
		ours = append(ours, e.Line)
	}
	// A reload flushes log and storage.
	r.Load("", ":0 {\nbind 127.0.0.1\nlog\n"+gatetest.Forward+"\n}\n")
	text, err := os.ReadFile(access)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), `"robots":{`); lines != 5 {
		t.Fatalf("the access log has %d records, not 5:\n%s", lines, text)
	}
	places := map[string]string{"answers and entries of ours": strings.Join(ours, "\n"), "access log": string(text), "storage": stored(t, r)}
	for place, text := range places {
		for what, canary := range canaries {
			if at := strings.Index(text, canary); at >= 0 {
				t.Errorf("%s has the %s: …%s…", place, what, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	if !strings.Contains(string(text), "token=REDACTED&REDACTED") {
		t.Errorf("the access log does not say that there was a query:\n%s", text)
	}
}

// stored is everything that the gate keeps in storage, names and contents.
func stored(t *testing.T, r *gatetest.Rig) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(r.Storage(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(all.String(), "robots_gate") {
		t.Fatal("storage holds nothing of the gate")
	}
	return all.String()
}
