package commands

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/robotsgate/robotsgate/caddymodule/app"
)

// startEngine runs the robots_gate app alone, as a gate would have it, and
// returns it with what stops it.
func startEngine(a *app.App) (*app.App, func(), error) {
	config := &caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true, Config: &caddy.ConfigSettings{Persist: new(bool)}},
		Logging: quietLogging(),
		AppsRaw: caddy.ModuleMap{"robots_gate": caddyconfig.JSON(a, nil)},
	}
	if err := caddy.Run(config); err != nil {
		return nil, nil, fmt.Errorf("starting the engine: %w", err)
	}
	stop := func() { _ = caddy.Stop() }
	instance, err := caddy.ActiveContext().App("robots_gate")
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("starting the engine: %w", err)
	}
	return instance.(*app.App), stop, nil
}

// quietLogging keeps everything but errors off the terminal.
func quietLogging() *caddy.Logging {
	return &caddy.Logging{Logs: map[string]*caddy.CustomLog{
		"default": {BaseLog: caddy.BaseLog{Level: "ERROR", WriterRaw: json.RawMessage(`{"output":"stderr"}`)}},
	}}
}
