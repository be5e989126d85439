package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap/zapcore"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/fetch"
)

// Events that the app emits through Caddy's events app.
const (
	// EventDenied carries the record of a denied request.
	EventDenied = "robots_denied"
	// EventChanged says that an origin's robots.txt is not what it was.
	EventChanged = "robots_changed"
	// EventUnreachable says that an origin's robots.txt could not be fetched.
	EventUnreachable = "robots_unreachable"
)

func (a *App) provisionEvents() error {
	instance, err := a.ctx.App("events")
	if err != nil {
		return fmt.Errorf("loading the events app: %w", err)
	}
	a.events = instance.(*caddyevents.App)
	return nil
}

// Denied emits the event of a denied request, if anybody listens.
func (a *App) Denied(rec *decision.Record) {
	if a.events == nil || !a.events.ShouldEmit(EventDenied) {
		return
	}
	fields := zapcore.NewMapObjectEncoder()
	_ = rec.MarshalLogObject(fields)
	a.events.Emit(a.ctx, EventDenied, fields.Fields)
}

// fetched is told of every fetch that ended, before its answer counts.
func (a *App) emitFetched(request *fetch.Request, result *fetch.Result) {
	switch {
	case a.events == nil:
	case result.Outcome == fetch.Unreachable:
		a.emitUnreachable(request, result)
	case a.events.ShouldEmit(EventChanged):
		a.emitChanged(request, result)
	}
}

func (a *App) emitUnreachable(request *fetch.Request, result *fetch.Result) {
	if !a.events.ShouldEmit(EventUnreachable) {
		return
	}
	a.events.Emit(a.ctx, EventUnreachable, map[string]any{
		"origin":        request.Origin.String(),
		"robots_url":    request.Origin.RobotsURL(),
		"robots_status": result.Status,
		"cause":         string(result.Cause),
		"error":         fmt.Sprint(result.Err),
	})
}

// emitChanged compares with the copy that still counts.
func (a *App) emitChanged(request *fetch.Request, result *fetch.Result) {
	before := a.cache.Entry(request.Origin)
	if len(before) == 0 || before[0].Copy == nil || result.Outcome == fetch.NotModified {
		return
	}
	was := before[0].Copy
	state, sum := cache.StateUnavailable, ""
	if result.Outcome == fetch.Rules {
		digest := sha256.Sum256(result.Body)
		state, sum = cache.StateRules, hex.EncodeToString(digest[:])
	}
	if was.State == state && was.SHA256 == sum {
		return
	}
	a.events.Emit(a.ctx, EventChanged, map[string]any{
		"origin":          request.Origin.String(),
		"robots_url":      request.Origin.RobotsURL(),
		"robots_status":   result.Status,
		"state":           state.String(),
		"robots_sha256":   sum,
		"previous_state":  was.State.String(),
		"previous_sha256": was.SHA256,
	})
}
