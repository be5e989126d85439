package gate_test

import (
	"testing"

	"go.uber.org/goleak"

	// Every module of ours, as the binary has them.
	_ "github.com/robotsgate/robotsgate/caddymodule"
)

// TestMain wants every goroutine gone once all gates are stopped.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Caddy cleans its storage in the background and lets the lock's
		// keeper run out.
		goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh"))
}
