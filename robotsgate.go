// Package robotsgate plugs Robotsgate's modules into a Caddy build:
//
//	xcaddy build --with github.com/robotsgate/robotsgate
//
// The modules are documented in the packages below caddymodule. To embed the
// robots.txt language alone, without Caddy, use the packages parser, matcher
// and agent.
package robotsgate

import _ "github.com/robotsgate/robotsgate/caddymodule" // plug in the modules
