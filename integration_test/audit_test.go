package integration_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// audited is a log that a gate has written and the home whose storage has its
// evidence.
type audited struct {
	home, log string
	requests  int
}

// auditedRun has a gate decide about requests that end in many ways, and stops
// it.
func auditedRun(t *testing.T) audited {
	t.Helper()
	o := newOrigin(t, []site{{Host: "127.0.0.1", Robots: []byte("User-agent: *\nDisallow: /private/\n\nUser-agent: otherbot\nDisallow: /other\n")}})
	home := t.TempDir()
	p := start(t, home, "robotsgate listens on", gateBinary, "robots", "egress",
		"--listen", "127.0.0.1:0", "--allow-ranges", "127.0.0.0/8", "--ports", o.Port)
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output())
	if address == nil {
		t.Fatalf("the gate does not print its address:\n%s", p.output())
	}
	var requests []request
	add := func(host, target, agent string) {
		requests = append(requests, request{Host: host, Target: target, Agent: agent, Method: http.MethodGet})
	}
	host := "127.0.0.1:" + o.Port
	for _, agent := range []string{"ExampleBot/1.0", "OtherBot/2.0 (+https://other.example/)", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"} {
		for _, target := range []string{"/public?a=1", "/private/x", "/x/../private/x", "/other", "/robots.txt", "/%ff//?q=%2F&&"} {
			add(host, target, agent)
		}
	}
	add("10.0.0.1:"+o.Port, "/x", "ExampleBot/1.0")
	add("127.0.0.1:1", "/x", "ExampleBot/1.0")
	sendGo(t, address[1], requests)
	p.stop()
	return audited{home, p.stdout, len(requests)}
}

// command runs the binary with the home of the run and returns what it writes
// and its exit code.
func (a audited) command(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), gateBinary, args...)
	cmd.Env = append(os.Environ(), "HOME="+a.home, "XDG_DATA_HOME="+a.home, "XDG_CONFIG_HOME="+a.home)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String() + errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, errs.String())
	}
	return out.String(), 0
}

// verification is what `robots verify --json` says of a log.
type verification struct {
	Records, Rederived, Attested, Impossible, Contradicted int
	Gates                                                  []struct{ First, Last, Missing int }
	Contradictions                                         []struct{ Field, What string }
}

func (a audited) verify(t *testing.T, args ...string) (v verification, code int) {
	t.Helper()
	out, code := a.command(t, append([]string{"robots", "verify", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("verify answers no JSON: %v\n%s", err, out)
	}
	return v, code
}

// TestAudit takes a gate's log through verify and report, as an auditor does:
// sound, changed, cut, compressed, and without its evidence.
func TestAudit(t *testing.T) {
	a := auditedRun(t)
	text, err := os.ReadFile(a.log)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Run("sound", func(t *testing.T) {
		v, code := a.verify(t, a.log)
		if code != 0 || v.Records != a.requests || v.Contradicted != 0 || v.Impossible != 0 || v.Attested != 2 {
			t.Errorf("exit %d, %+v; want %d records, none contradicted, two attested", code, v, a.requests)
		}
		if len(v.Gates) != 1 || v.Gates[0].First != 1 || v.Gates[0].Last != a.requests || v.Gates[0].Missing != 0 {
			t.Errorf("sequences %+v", v.Gates)
		}
	})
	t.Run("changed", func(t *testing.T) {
		v, code := a.verify(t, write("changed.log", strings.Replace(string(text), `"reason":"no_rule"`, `"reason":"rule_allowed"`, 1)))
		if code != 1 || v.Contradicted != 1 || len(v.Contradictions) != 1 || v.Contradictions[0].Field != "reason" {
			t.Errorf("exit %d, %+v; want one contradiction of the reason", code, v)
		}
	})
	t.Run("a line less, compressed", func(t *testing.T) {
		lines := strings.SplitAfter(string(text), "\n")
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		fmt.Fprint(w, strings.Join(append(lines[:3:3], lines[4:]...), ""), "no JSON\n", lines[3][:40])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		v, code := a.verify(t, write("access.log.1.gz", packed.String()))
		if code != 0 || v.Records != a.requests-1 || len(v.Gates) != 1 || v.Gates[0].Missing != 1 {
			t.Errorf("exit %d, %+v; want one record missing", code, v)
		}
	})
	t.Run("report", func(t *testing.T) {
		page := filepath.Join(t.TempDir(), "report.html")
		out, code := a.command(t, "robots", "report", "--json", "--html", page, a.log)
		var report struct {
			Total   struct{ Requests int }
			Reasons struct {
				Rows []struct {
					Name     string
					Requests int
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 || report.Total.Requests != a.requests {
			t.Errorf("exit %d, %v, %d requests, want %d", code, err, report.Total.Requests, a.requests)
		}
		counted := map[string]int{}
		for _, r := range readLog(t, a.log) {
			counted[r.Robots.Reason]++
		}
		for _, row := range report.Reasons.Rows {
			if counted[row.Name] != row.Requests {
				t.Errorf("%s: %d requests, want %d", row.Name, row.Requests, counted[row.Name])
			}
		}
		if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("What was not judged")) {
			t.Errorf("the page: %v, %.200s", err, html)
		}
	})
	t.Run("named storage", func(t *testing.T) {
		elsewhere := audited{home: t.TempDir()}
		if v, code := elsewhere.verify(t, a.log); code != 0 || v.Impossible != a.requests {
			t.Errorf("without the evidence: exit %d, %+v", code, v)
		}
		config := write("Caddyfile", "{\n\tstorage file_system "+filepath.Join(a.home, "caddy")+"\n}\n:8888 {\n}\n")
		out, code := elsewhere.command(t, "robots", "verify", "--config", config, "--adapter", "caddyfile", a.log)
		if code != 0 || !strings.Contains(out, " 0 impossible, 0 contradicted") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("could not run", func(t *testing.T) {
		for _, args := range [][]string{
			{"verify"},
			{"verify", "nothing.log"},
			{"verify", "--config", "nothing.json", a.log},
			{"verify", "--adapter", "caddyfile", a.log},
			{"report"},
			{"report", "nothing.log"},
			{"report", t.TempDir()},
			{"report", "--json", "--html", "-", a.log},
			{"report", "--nonsense", a.log},
		} {
			if out, code := a.command(t, append([]string{"robots"}, args...)...); code != 2 || !strings.Contains(out, "robots "+args[0]+": ") {
				t.Errorf("%q: exit %d, want 2 and a message\n%s", args, code, out)
			}
		}
	})
	t.Run("damaged evidence", func(t *testing.T) {
		damaged := 0
		err := filepath.WalkDir(filepath.Join(a.home, "caddy", "robots_gate", "bodies"), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			damaged++
			return os.WriteFile(path, []byte("robotsgate 1 nonsense\n"), 0o600)
		})
		if err != nil || damaged == 0 {
			t.Fatalf("%d bodies, %v", damaged, err)
		}
		for range 2 { // reading must not delete it
			v, code := a.verify(t, a.log)
			if code != 0 || v.Impossible == 0 || v.Contradicted != 0 || v.Records != a.requests {
				t.Errorf("exit %d, %+v", code, v)
			}
		}
	})
}
