// Command robotsgate is Caddy with its standard modules, Robotsgate's own and
// the Redis storage module in one binary.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	// Plug in the standard modules and a shared storage.
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/pberkel/caddy-storage-redis"
)

func main() {
	caddycmd.Main()
}
