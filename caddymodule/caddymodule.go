// Package caddymodule registers every module of Robotsgate with Caddy.
package caddymodule

import (
	// Each package registers its own modules, directives and commands.
	_ "github.com/robotsgate/robotsgate/caddymodule/admin"
	_ "github.com/robotsgate/robotsgate/caddymodule/app"
	_ "github.com/robotsgate/robotsgate/caddymodule/bot"
	_ "github.com/robotsgate/robotsgate/caddymodule/commands"
	_ "github.com/robotsgate/robotsgate/caddymodule/egress"
	_ "github.com/robotsgate/robotsgate/caddymodule/gate"
	_ "github.com/robotsgate/robotsgate/caddymodule/intercept"
)
