package decision_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/decision"
)

// TestDenialAnswers holds status, headers and advice of every reason against
// the contract.
func TestDenialAnswers(t *testing.T) {
	for reason, want := range map[decision.Reason]struct {
		status int
		robots bool
		waits  bool
		proxy  string
	}{
		decision.Disallowed:           {403, true, false, "http_request_denied"},
		decision.DisallowedNormalized: {403, true, false, "http_request_denied"},
		decision.StatusDenied:         {403, true, false, "http_request_denied"},
		decision.Overridden:           {403, true, false, "http_request_denied"},
		decision.TunnelOpaque:         {403, true, false, "http_request_denied"},
		decision.AddressDenied:        {403, false, false, "destination_ip_prohibited"},
		decision.PortDenied:           {403, false, false, "http_request_denied"},
		decision.Unreachable:          {503, true, true, "http_request_denied"},
		decision.Overloaded:           {503, true, true, "http_request_denied"},
		decision.BadTarget:            {400, false, false, "http_request_error"},
		decision.AuthorityMismatch:    {421, false, false, "http_request_error"},
		decision.Loop:                 {508, false, false, "proxy_loop_detected"},
		decision.Internal:             {500, false, false, "proxy_internal_error"},
	} {
		t.Run(string(reason), func(t *testing.T) {
			rec := full(t)
			rec.RetryAfter = 1500 * time.Millisecond
			rec.Error = "the target has a #: leave the fragment out, or write a literal # as %23"
			rec.Denied(reason)
			if reason.Status() != want.status || reason.Robots() != want.robots || reason.Waits() != want.waits {
				t.Errorf("status %d robots %v waits %v, want %+v", reason.Status(), reason.Robots(), reason.Waits(), want)
			}
			answer := rec.DenialAnswer(reason.Status())
			if got := answer.Header.Get("X-Robots-Gate"); got != "deny; reason="+string(reason) {
				t.Errorf("X-Robots-Gate: %s", got)
			}
			if got := answer.Header.Get("Proxy-Status"); got != `robotsgate; error=`+want.proxy+`; details="`+string(reason)+`"` {
				t.Errorf("Proxy-Status: %s", got)
			}
			retry := ""
			if want.waits {
				retry = "2"
			}
			if got := answer.Header.Get("Retry-After"); got != retry {
				t.Errorf("Retry-After: %q, want %q", got, retry)
			}
			checkProblem(t, answer, want.status, reason)
		})
	}
}

func checkProblem(t *testing.T, answer decision.Answer, status int, reason decision.Reason) {
	t.Helper()
	if got := answer.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type: %s", got)
	}
	var body map[string]any
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		t.Fatalf("body is no JSON: %v", err)
	}
	if body["status"] != float64(status) || body["reason"] != string(reason) || body["decision"] != "deny" {
		t.Errorf("body %s", answer.Body)
	}
	if body["title"] == "" || len(body["detail"].(string)) < 40 {
		t.Errorf("title %q, detail %q say too little", body["title"], body["detail"])
	}
	for _, internal := range []string{"policy", "gate", "seq", "archived"} {
		if _, leaked := body[internal]; leaked {
			t.Errorf("the client's answer has the internal field %s", internal)
		}
	}
}

func TestOriginErrorAnswer(t *testing.T) {
	rec := full(t)
	rec.Allowed(decision.NoRule)
	rec.Error = "connection \"refused\"\nby peer \x80"
	answer := rec.OriginErrorAnswer(502, "connection_refused")
	want := `robotsgate; error=connection_refused; details="connection \"refused\"?by peer ?"`
	if got := answer.Header.Get("Proxy-Status"); got != want {
		t.Errorf("Proxy-Status\n got %s\nwant %s", got, want)
	}
	if answer.Header.Get("X-Robots-Gate") != "" {
		t.Error("an allowed request's answer bears the mark of a denial")
	}
	if !strings.Contains(string(answer.Body), "no robots decision") {
		t.Errorf("body %s", answer.Body)
	}
}
