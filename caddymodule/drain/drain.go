// Package drain lets connections end by themselves that an HTTP server does
// not know of: those that were taken over from it.
package drain

import (
	"context"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// drains are those of all configurations, as channels that close: an exit
// waits for what an earlier configuration still serves.
var drains sync.Map

// Register has end called once, when the server begins to shut down for a
// reload or an exit. A reload goes on meanwhile; an exit waits until end
// returns, at the longest for the server's grace period. It is for use while
// modules are provisioned.
func Register(server *caddyhttp.Server, end func()) {
	begin := sync.OnceFunc(func() {
		ended := make(chan struct{})
		drains.Store(ended, nil)
		go func() {
			defer close(ended)
			defer drains.Delete(ended)
			end()
		}()
	})
	server.RegisterOnShutdown(begin)
	server.RegisterOnStop(func(ctx context.Context) error {
		// The shutdown hooks may not have run yet.
		begin()
		if !caddy.Exiting() {
			return nil
		}
		return await(ctx)
	})
}

func await(ctx context.Context) error {
	var err error
	drains.Range(func(ended, _ any) bool {
		select {
		case <-ended.(chan struct{}):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		return err == nil
	})
	return err
}
