package admin

import (
	"encoding/json"
	"net/http"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// maxCheckBody bounds the body of a check.
const maxCheckBody = 1 << 20

// checkRequest asks how a gate would decide.
type checkRequest struct {
	// URL is the target.
	URL string `json:"url"`
	// UserAgent is the header of the request.
	UserAgent string `json:"user_agent"`
	// Token replaces the product tokens derived from it.
	Token string `json:"token"`
	// Method of the request; CONNECT asks about a tunnel.
	Method string `json:"method"`
	// Policy is the hash of the gate's policy, needed where several run.
	Policy string `json:"policy"`
}

// policyInfo names a policy among several.
type policyInfo struct {
	Policy string       `json:"policy"`
	Gate   judge.Policy `json:"gate"`
}

func check(a *app.App, r *http.Request) (any, error) {
	var q checkRequest
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxCheckBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil {
		return nil, refuse(http.StatusBadRequest, `wants a JSON object {"url", "user_agent", "token", "method", "policy"}: %v`, err)
	}
	policy, err := choosePolicy(a, q.Policy)
	if err != nil {
		return nil, err
	}
	rec := &decision.Record{Enforced: true, Engine: app.Version(), Policy: policy.Hash, Redact: policy.Redact != ""}
	subject := &judge.Subject{UserAgent: q.UserAgent}
	if q.Token != "" {
		subject.Tokens = []string{q.Token}
	}
	decide(a, r, &q, policy, subject, rec)
	return json.RawMessage(rec.JSON()), nil
}

// decide is the decision of the gate; a URL that it refuses is one too.
func decide(a *app.App, r *http.Request, q *checkRequest, policy *judge.Compiled, subject *judge.Subject, rec *decision.Record) {
	target, err := origin.ParseTarget(q.URL)
	if err != nil {
		policy.Identify(subject, rec)
		rec.Error = err.Error()
		rec.Denied(decision.BadTarget)
		return
	}
	subject.Target = target
	if q.Method == http.MethodConnect {
		a.Judge().DecideTunnel(r.Context(), policy, subject, rec)
		return
	}
	a.Judge().Decide(r.Context(), policy, subject, rec)
}

// choosePolicy finds the policy to decide by: the one that is named, or the
// only one there is.
func choosePolicy(a *app.App, hash string) (*judge.Compiled, error) {
	policies := a.Policies()
	for _, policy := range policies {
		if policy.Hash == hash || hash == "" && len(policies) == 1 {
			return policy, nil
		}
	}
	p := &problem{status: http.StatusConflict, detail: "several gates run; name one by its policy", policies: make([]policyInfo, len(policies))}
	switch {
	case len(policies) == 0:
		return nil, refuse(http.StatusServiceUnavailable, "no robots_gate handler runs in the current configuration")
	case hash != "":
		p.status, p.detail = http.StatusNotFound, "no running gate has this policy"
	}
	for i, policy := range policies {
		p.policies[i] = policyInfo{Policy: policy.Hash, Gate: policy.Policy}
	}
	return nil, p
}
