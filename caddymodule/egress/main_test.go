package egress_test

import (
	"testing"

	// Every module of ours, as the binary has them.
	_ "github.com/robotsgate/robotsgate/caddymodule"
	"github.com/robotsgate/robotsgate/caddymodule/gatetest"
)

func TestMain(m *testing.M) { gatetest.Main(m) }
