// Package exchange is what the handlers of one request share: its record, and
// the one way in which a request is refused, logged and counted.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/proxystatus"
)

// varKey is where the exchange stands among the variables of a request.
const varKey = "robots_gate"

// logField is the record's field in access and denial logs.
const logField = "robots"

// placeholderPrefix stands before the name of a record's field.
const placeholderPrefix = "http.robots_gate."

// Exchange is one request with its record. It belongs to one request's
// goroutine, as the request's variables do.
type Exchange struct {
	Record decision.Record
	// Policy and Subject are what the gate judged with; nil and zero where
	// no gate stands before the handler that refuses.
	Policy  *judge.Compiled
	Subject judge.Subject

	app     *app.App
	logger  *zap.Logger
	began   time.Time
	took    time.Duration
	counted bool
	marked  markedWriter
}

// Begin starts the record of a request and makes it visible: in the access
// log, in the placeholders, and to the handlers that follow. A second gate on
// the way of a request writes the same record anew: one request, one record.
func Begin(r *http.Request, a *app.App, logger *zap.Logger) *Exchange {
	if x := From(r); x != nil {
		x.show(r)
		x.Record, x.Subject, x.Policy, x.logger = x.blank(), judge.Subject{}, nil, logger
		return x
	}
	x := Unjudged(r, a, logger)
	x.show(r)
	return x
}

// Unjudged is the exchange of a request that no gate has judged. It has no
// record unless it is refused after all.
func Unjudged(r *http.Request, a *app.App, logger *zap.Logger) *Exchange {
	x := &Exchange{app: a, logger: logger, began: time.Now()}
	caddyhttp.SetVar(r.Context(), varKey, x)
	return x
}

// show makes the record visible, if it is not yet.
func (x *Exchange) show(r *http.Request) {
	if x.Record.Seq != 0 {
		return
	}
	x.app.NewRecord(&x.Record)
	ctx := r.Context()
	if extra, ok := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.Object(logField, &x.Record))
	}
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(x.placeholder)
	}
}

// From returns the exchange that a handler before this one began, or nil.
func From(r *http.Request) *Exchange {
	x, _ := caddyhttp.GetVar(r.Context(), varKey).(*Exchange)
	return x
}

// blank is the record of this request before anything is decided.
func (x *Exchange) blank() decision.Record {
	return decision.Record{Enforced: true, Engine: x.Record.Engine, Gate: x.Record.Gate, Seq: x.Record.Seq}
}

func (x *Exchange) placeholder(key string) (any, bool) {
	name, ours := strings.CutPrefix(key, placeholderPrefix)
	if !ours {
		return nil, false
	}
	return x.Record.Field(name)
}

// Decided notes that the decision stands; what follows is transport.
func (x *Exchange) Decided() {
	x.took = time.Since(x.began)
	if x.Record.Decision == decision.Allow {
		x.write(zapcore.DebugLevel, "request allowed")
	} else if !x.Record.Enforced {
		x.write(zapcore.InfoLevel, "request denied")
		x.app.Denied(&x.Record)
	}
}

// Finish counts the record once the request is over, so that a denial that the
// forwarder made of an allow is counted as what it became.
func (x *Exchange) Finish() {
	if x.counted || x.Record.Decision == "" {
		// Counted before, or passed on by a forwarder without a gate.
		return
	}
	x.counted = true
	x.app.Decided(&x.Record, x.took)
}

func (x *Exchange) write(level zapcore.Level, message string) {
	if entry := x.logger.Check(level, message); entry != nil {
		entry.Write(zap.Object(logField, &x.Record))
	}
}

// Refuse answers a denied request: the site's error routes may write the
// answer, and where they write no body, ours stands.
func (x *Exchange) Refuse(w http.ResponseWriter, r *http.Request) {
	x.show(r)
	x.write(zapcore.InfoLevel, "request denied")
	x.app.Denied(&x.Record)
	status := x.Record.Reason.Status()
	if x.Policy != nil {
		status = x.Policy.StatusOf(x.Record.Reason)
	}
	if x.Record.Reason == decision.AuthorityMismatch {
		// Whoever mixes authorities gets no second try on this connection.
		w.Header().Set("Connection", "close")
	}
	x.answer(w, r, x.Record.DenialAnswer(status), fmt.Errorf("request denied: %s", x.Record.Reason))
}

// Fail answers an allowed request whose origin failed.
func (x *Exchange) Fail(w http.ResponseWriter, r *http.Request, status int, proxyError string, cause error) {
	x.Record.Error = cause.Error()
	x.answer(w, r, x.Record.OriginErrorAnswer(status, proxyError), cause)
}

// OriginFailed notes that the handlers after the gate failed an allowed
// request, and says so in the answer that Caddy is going to write.
func (x *Exchange) OriginFailed(w http.ResponseWriter, cause error) {
	status := http.StatusInternalServerError
	if handlerErr, ok := errors.AsType[caddyhttp.HandlerError](cause); ok {
		status, cause = handlerErr.StatusCode, errors.Join(handlerErr.Err)
	}
	if cause != nil {
		x.Record.Error = cause.Error()
	}
	switch status {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		answer := x.Record.OriginErrorAnswer(status, proxystatus.ErrorType(cause))
		w.Header().Set(decision.HeaderProxyStatus, answer.Header.Get(decision.HeaderProxyStatus))
	}
}

// BadTarget ends the record of a request whose target cannot be judged.
func (x *Exchange) BadTarget(cause error) {
	x.Record.Enforced = true
	x.Record.Error = cause.Error()
	x.Record.Denied(decision.BadTarget)
}

// Judge decides the request again for another target, as the gate did for the
// first: same policy, same subject, one record.
func (x *Exchange) Judge(ctx context.Context, target origin.Target) {
	job, redact := x.Record.Job, x.Record.Redact
	x.Record = x.blank()
	x.Record.Job, x.Record.Redact = job, redact
	x.Subject.Target = target
	x.app.Judge().Decide(ctx, x.Policy, &x.Subject, &x.Record)
}
