package exchange

import (
	"context"
	"fmt"
	"net/http"

	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
)

type tunnelKey struct{}

// tunnel is what is known of an inner request when it arrives.
type tunnel struct {
	// target is where the request goes, where that can be read at all.
	target origin.Target
	// mismatch says how the request differs from its tunnel.
	mismatch error
}

// Inside marks a request that came out of an intercepted CONNECT to o. It
// compares the two before any handler may change the request: a request to
// another authority would be judged as something else than what the client
// asked its tunnel for.
func Inside(r *http.Request, o origin.Origin) *http.Request {
	t := new(tunnel)
	if IsConnect(r) {
		t.target = origin.Target{Origin: o, Path: "/"}
		t.mismatch = fmt.Errorf("a CONNECT came inside the tunnel to %s", o)
	} else if target, err := origin.FromRequest(r); err == nil && target.Origin != o {
		t.target = target
		t.mismatch = fmt.Errorf("the tunnel leads to %s, the request inside asks for %s", o, target.Origin)
	}
	return r.WithContext(context.WithValue(r.Context(), tunnelKey{}, t))
}

// Intercepted reports whether the request came out of an intercepted CONNECT.
func Intercepted(r *http.Request) bool {
	_, inside := r.Context().Value(tunnelKey{}).(*tunnel)
	return inside
}

// Misdirected reports whether the request came out of a tunnel to another
// authority than the one it asks for. Whoever meets it first refuses it with
// Misdirect.
func Misdirected(r *http.Request) bool {
	t, inside := r.Context().Value(tunnelKey{}).(*tunnel)
	return inside && t.mismatch != nil
}

// Misdirect ends the record of a misdirected request.
func (x *Exchange) Misdirect(r *http.Request) {
	t := r.Context().Value(tunnelKey{}).(*tunnel)
	x.Record.Aim(t.target)
	x.Record.Enforced = true
	x.Record.Error = t.mismatch.Error()
	x.Record.Denied(decision.AuthorityMismatch)
}
