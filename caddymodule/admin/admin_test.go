package admin_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/admin"
	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
	"github.com/robotsgate/robotsgate/internal/faultorigin"

	_ "github.com/robotsgate/robotsgate/caddymodule" // the modules of the configurations
)

// ask calls an endpoint as Caddy's admin server would.
func ask(t *testing.T, method, target, body string) (int, http.Header, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, route := range (admin.API{}).Routes() {
		if route.Pattern != r.URL.Path {
			continue
		}
		w := httptest.NewRecorder()
		if err := route.Handler.ServeHTTP(w, r); err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if w.Header().Get("Content-Type") == "application/pem-certificate-chain" {
			return w.Code, w.Header(), map[string]any{"pem": w.Body.String()}
		}
		if w.Body.Len() > 0 {
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatalf("%s %s: %v\n%s", method, target, err, w.Body)
			}
		}
		if want := "application/problem+json"; w.Code >= 400 && w.Header().Get("Content-Type") != want {
			t.Errorf("%s %s: Content-Type %q, want %s", method, target, w.Header().Get("Content-Type"), want)
		}
		return w.Code, w.Header(), answer
	}
	t.Fatalf("no endpoint %s", r.URL.Path)
	return 0, nil, nil
}

var page = faultorigin.Answer(200, "", "a page")

func escaped(text string) string { return url.QueryEscape(text) }

func TestOrigins(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	for _, host := range []string{"a.test", "b.test", "c.test"} {
		r.Pages(host, "User-agent: *\nDisallow: /private\n", page)
		r.Get(r.URL(host, "/x"))
	}
	var seen []string
	target := "/robots_gate/origins?limit=2"
	for pages := 0; target != "" && pages < 5; pages++ {
		status, _, page := ask(t, http.MethodGet, target, "")
		if status != http.StatusOK {
			t.Fatalf("%s: %d %v", target, status, page)
		}
		for _, e := range page["origins"].([]any) {
			entry := e.(map[string]any)
			seen = append(seen, entry["origin"].(string))
			if entry["state"] != "rules" || entry["robots_status"] != 200.0 || entry["bytes"].(float64) <= 0 || len(entry["robots_sha256"].(string)) != 64 {
				t.Errorf("entry %v", entry)
			}
		}
		target = ""
		if next, more := page["next"]; more {
			target = "/robots_gate/origins?limit=2&after=" + escaped(next.(string))
		}
	}
	want := "http://a.test:" + r.Port + " http://b.test:" + r.Port + " http://c.test:" + r.Port
	if got := strings.Join(seen, " "); got != want {
		t.Errorf("origins %s, want %s", got, want)
	}
}

func TestOriginPurge(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	r.Pages("a.test", "User-agent: *\nDisallow: /private\n", page)
	r.Get(r.URL("a.test", "/x"))
	target := "/robots_gate/origin?url=" + escaped(r.URL("a.test", "/any/page"))
	if status, _, page := ask(t, http.MethodGet, target, ""); status != http.StatusOK || len(page["origins"].([]any)) != 1 {
		t.Errorf("before: %d %v", status, page)
	}
	if status, _, _ := ask(t, http.MethodDelete, target, ""); status != http.StatusNoContent {
		t.Errorf("purge: %d", status)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if status, _, problem := ask(t, method, target, ""); status != http.StatusNotFound || !strings.Contains(problem["detail"].(string), "a.test") {
			t.Errorf("%s after: %d %v", method, status, problem)
		}
	}
	r.Get(r.URL("a.test", "/x"))
	if status, _, _ := ask(t, http.MethodGet, target, ""); status != http.StatusOK {
		t.Errorf("after the next request: %d", status)
	}
}

func TestCheck(t *testing.T) {
	r := gatetest.Start(t, gatetest.Forward)
	r.Pages("a.test", "User-agent: *\nDisallow: /private\n\nUser-agent: named\nAllow: /\n", page)
	for body, want := range map[string]string{
		`{"url":"` + r.URL("a.test", "/private") + `","user_agent":"curl/8"}`:    "deny disallowed *",
		`{"url":"` + r.URL("a.test", "/private") + `","user_agent":"Named/1.0"}`: "allow rule_allowed Named",
		`{"url":"` + r.URL("a.test", "/private") + `","token":"named"}`:          "allow rule_allowed named",
		`{"url":"` + r.URL("a.test", "//private") + `"}`:                         "deny disallowed_normalized *",
		`{"url":"http://user:secret@a.test/"}`:                                   "deny bad_target <nil>",
		`{"url":"https://a.test:` + r.Port + `","method":"CONNECT"}`:             "deny tunnel_opaque <nil>",
		`{"url":"http://a.test:9/"}`:                                             "deny port_denied <nil>",
	} {
		status, _, rec := ask(t, http.MethodPost, "/robots_gate/check", body)
		token := "<nil>"
		if named, ok := rec["token"].(string); ok {
			token = named
		}
		if status != http.StatusOK || rec["decision"].(string)+" "+rec["reason"].(string)+" "+token != want {
			t.Errorf("%s: %d %v, want %s", body, status, rec, want)
		}
		if rec["seq"] != nil || rec["policy"] == nil {
			t.Errorf("%s: a check is no request through a gate, but is decided by its policy: %v", body, rec)
		}
	}
	if seen := r.Seen("a.test"); len(seen) > 0 {
		t.Errorf("a check was forwarded: %q", seen)
	}
}

// TestCheckAmongSeveral: with several gates, the policy must be named.
func TestCheckAmongSeveral(t *testing.T) {
	r := gatetest.New(t)
	r.Load("", ":0 {\n\tbind 127.0.0.1\n\tlog\n\trobots_gate {\n\t\tagents all\n\t}\n\tegress_proxy\n}\n"+
		"http://other.test:0 {\n\tbind 127.0.0.1\n\tlog\n\trobots_gate {\n\t\tagents all\n\t\tmode report\n\t}\n\tegress_proxy\n}\n")
	r.Pages("a.test", "User-agent: *\nDisallow: /private\n", page)
	question := `{"url":"` + r.URL("a.test", "/private") + `"`
	status, _, problem := ask(t, http.MethodPost, "/robots_gate/check", question+"}")
	policies, _ := problem["policies"].([]any)
	if status != http.StatusConflict || len(policies) != 2 {
		t.Fatalf("without a policy: %d %v", status, problem)
	}
	for _, p := range policies {
		info := p.(map[string]any)
		enforces := info["gate"].(map[string]any)["mode"] == "enforce"
		status, _, rec := ask(t, http.MethodPost, "/robots_gate/check", question+`,"policy":"`+info["policy"].(string)+`"}`)
		if status != http.StatusOK || rec["enforced"] != enforces || rec["policy"] != info["policy"] {
			t.Errorf("policy %v: %d %v", info, status, rec)
		}
	}
	if status, _, problem := ask(t, http.MethodPost, "/robots_gate/check", question+`,"policy":"00"}`); status != http.StatusNotFound || problem["policies"] == nil {
		t.Errorf("unknown policy: %d %v", status, problem)
	}
}

func TestCA(t *testing.T) {
	r := gatetest.New(t)
	r.Serve(gatetest.Forward)
	if status, _, problem := ask(t, http.MethodGet, "/robots_gate/ca", ""); status != http.StatusNotFound {
		t.Errorf("without interception: %d %v", status, problem)
	}
	r.Serve("tls_intercept\n" + gatetest.Forward)
	status, _, answer := ask(t, http.MethodGet, "/robots_gate/ca", "")
	block, rest := pem.Decode([]byte(answer["pem"].(string)))
	if status != http.StatusOK || block == nil || len(rest) > 0 {
		t.Fatalf("with interception: %d %v", status, answer)
	}
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !root.IsCA || !strings.Contains(root.Subject.CommonName, "Robotsgate") {
		t.Errorf("root %v, %v", root.Subject, err)
	}
}

func TestNonsense(t *testing.T) {
	gatetest.Start(t, gatetest.Forward)
	for _, test := range []struct {
		method, target, body string
		status               int
		word                 string
	}{
		{http.MethodPut, "/robots_gate/origins", "", 405, "GET"},
		{http.MethodGet, "/robots_gate/check", "", 405, "POST"},
		{http.MethodGet, "/robots_gate/origins?limit=none", "", 400, "none"},
		{http.MethodGet, "/robots_gate/origins?limit=100000", "", 400, "1000"},
		{http.MethodGet, "/robots_gate/origins?after=nowhere", "", 400, "after"},
		{http.MethodGet, "/robots_gate/origin", "", 400, "url"},
		{http.MethodGet, "/robots_gate/origin?url=ftp%3A%2F%2Fh", "", 400, "url"},
		{http.MethodPost, "/robots_gate/check", "", 400, "JSON"},
		{http.MethodPost, "/robots_gate/check", "[]", 400, "JSON"},
		{http.MethodPost, "/robots_gate/check", `{"uri":"http://h/"}`, 400, "uri"},
		{http.MethodPost, "/robots_gate/check", `{"url":"` + strings.Repeat("a", 2<<20) + `"}`, 400, "large"},
	} {
		status, header, problem := ask(t, test.method, test.target, test.body)
		if detail, _ := problem["detail"].(string); status != test.status || !strings.Contains(detail, test.word) {
			t.Errorf("%s %s: %d %v, want %d and %q", test.method, test.target, status, problem, test.status, test.word)
		}
		if status == http.StatusMethodNotAllowed && header.Get("Allow") == "" {
			t.Errorf("%s %s: 405 without Allow", test.method, test.target)
		}
	}
}

func TestWithoutGate(t *testing.T) {
	if status, _, problem := ask(t, http.MethodGet, "/robots_gate/origins", ""); status != http.StatusServiceUnavailable {
		t.Errorf("without a configuration: %d %v", status, problem)
	}
}
