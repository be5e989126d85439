// Command robotsgate is Caddy with its standard modules, Robotsgate's own and
// the Redis storage module in one binary.
package main

import (
	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/robotsgate/robotsgate/caddymodule/app"

	// Plug in the standard modules, our own and a shared storage.
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/pberkel/caddy-storage-redis"
	_ "github.com/robotsgate/robotsgate/caddymodule"
)

func main() {
	caddy.CustomBinaryName = "robotsgate"
	caddy.CustomVersion = app.Version()
	caddycmd.Main()
}
