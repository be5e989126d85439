package gatetest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests and wants every goroutine gone at their end.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Caddy cleans its storage in the background and lets the lock's
		// keeper run out.
		goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh"))
}
