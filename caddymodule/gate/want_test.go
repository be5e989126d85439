package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
)

// wantFields compares fields of a record; "" stands for a field that is absent.
func wantFields(t *testing.T, rec, want map[string]any) {
	t.Helper()
	for name, value := range want {
		got, there := rec[name]
		switch {
		case value == "":
			if there {
				t.Errorf("%s is %v, not absent", name, got)
			}
		case fmt.Sprint(got) != fmt.Sprint(value):
			t.Errorf("%s is %v, not %v", name, got, value)
		}
	}
}

// wantDenial compares a denial in its three places: the answer, the log of
// denials and the access log, whose only record it is.
func wantDenial(t *testing.T, r *gatetest.Rig, res *gatetest.Response, status int, reason, proxyError string) {
	t.Helper()
	if proxyError == "" {
		proxyError = "http_request_denied"
	}
	if res.Status != status {
		t.Errorf("the status is %d, not %d; body:\n%s", res.Status, status, res.Body)
	}
	for name, want := range map[string]string{
		"X-Robots-Gate": "deny; reason=" + reason,
		"Proxy-Status":  fmt.Sprintf("robotsgate; error=%s; details=%q", proxyError, reason),
		"Cache-Control": "no-store",
	} {
		if got := res.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	problem := r.Problem(res)
	for _, member := range []string{"type", "title", "detail"} {
		if text, _ := problem[member].(string); text == "" || strings.Contains(text, "%!") {
			t.Errorf("%s of the problem is %q", member, text)
		}
	}
	wantFields(t, problem, map[string]any{"status": float64(status), "decision": "deny", "reason": reason, "enforced": true})
	access := r.Access(1)
	if len(access) != 1 || access[0].Fields["status"] != float64(status) {
		t.Errorf("the access log has %d entries, the first with status %v", len(access), access[0].Fields["status"])
	}
	entry := r.Log("request denied", 1)[0]
	if entry.Level != "info" || entry.Logger != "http.handlers.robots_gate" {
		t.Errorf("the denial is logged as %s by %s", entry.Level, entry.Logger)
	}
	if got, want := fmt.Sprint(entry.Robots), fmt.Sprint(access[0].Robots); got != want {
		t.Errorf("the log of denials says\n%s, the access log\n%s", got, want)
	}
	wantPublic(t, problem, access[0].Robots)
}

// wantPublic wants the client's answer to be the record without its internals.
func wantPublic(t *testing.T, problem, record map[string]any) {
	t.Helper()
	public := maps.Clone(record)
	for _, internal := range []string{"archived", "policy", "gate", "seq"} {
		delete(public, internal)
	}
	for _, member := range []string{"type", "title", "status", "detail"} {
		delete(problem, member)
	}
	if got, want := fmt.Sprint(problem), fmt.Sprint(public); got != want {
		t.Errorf("the answer says\n%s, the record\n%s (keys %v)", got, want, slices.Sorted(maps.Keys(problem)))
	}
}
