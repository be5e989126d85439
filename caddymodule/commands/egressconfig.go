package commands

import (
	"encoding/json"
	"fmt"
	"net"

	"github.com/robotsgate/robotsgate/internal/judge"
)

// object is a JSON object of a configuration.
type object = map[string]any

// accessLogger is the logger of the gate's server.
const accessLogger = "http.log.access.robots_egress"

// gracePeriod bounds how long an exit waits for requests under way.
const gracePeriod = "30s"

// egressConfig is the Caddy configuration that `robots egress` runs.
func egressConfig(f *egressFlags) ([]byte, error) {
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return nil, fmt.Errorf("--listen: %q is no address such as 127.0.0.1:8888", f.listen)
	}
	if f.agents != judge.AgentsAll && f.agents != judge.AgentsBots {
		return nil, fmt.Errorf("--agents: %q is neither all nor bots", f.agents)
	}
	gate := object{"handler": "robots_gate", "agents": f.agents}
	if f.report {
		gate["mode"] = judge.ModeReport
	}
	handlers := []object{gate, {"handler": "egress_proxy"}}
	if !f.noIntercept {
		handlers = append([]object{{"handler": "tls_intercept"}}, handlers...)
	}
	return json.Marshal(object{
		"admin":   object{"disabled": true, "config": object{"persist": false}},
		"logging": egressLogging(f.logFile),
		"apps": object{
			"robots_gate": object{"allow_ranges": f.allowRanges, "ports": f.ports},
			"http": object{"grace_period": gracePeriod, "servers": object{"robots_egress": object{
				"listen":          []string{f.listen},
				"automatic_https": object{"disable": true},
				"protocols":       []string{"h1"},
				"logs":            object{"default_logger_name": "robots_egress"},
				"routes":          []object{{"handle": handlers}},
			}}},
		},
	})
}

// egressLogging writes the access log as JSON and everything else, from
// warnings up, to standard error. Secrets stay out of Caddy's own fields.
func egressLogging(file string) object {
	writer := object{"output": "stdout"}
	if file != "" {
		writer = object{"output": "file", "filename": file}
	}
	drop := object{"filter": "delete"}
	return object{"logs": object{
		"default": object{
			"level":  "WARN",
			"writer": object{"output": "stderr"},
			// That the admin API is off is how this command runs, no warning.
			"exclude": []string{accessLogger, "admin"},
		},
		"access": object{
			"writer":  writer,
			"include": []string{accessLogger},
			"encoder": object{
				"format": "filter",
				"wrap":   object{"format": "json"},
				"fields": object{
					// The record's url says it, redacted where asked for.
					"request>uri":                         drop,
					"request>headers>Authorization":       drop,
					"request>headers>Proxy-Authorization": drop,
					"request>headers>Cookie":              drop,
					"resp_headers>Set-Cookie":             drop,
				},
			},
		},
	}}
}
