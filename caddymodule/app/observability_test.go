package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsgate/robotsgate/internal/cache"
)

// names of the metrics that the contract promises.
var names = strings.Fields(`decisions_total fetches_total fetch_duration_seconds decision_duration_seconds
	cache_lookups_total cache_entries cache_bytes fetches_in_flight dial_denied_total storage_errors_total
	leaves_minted_total tunnels_open`)

// TestMetricNames holds the collectors against those names, and the labels
// against the rule that none is made of a host, path or agent.
func TestMetricNames(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := newMetrics(cache.NewShared())
	if err := m.register(registry); err != nil {
		t.Fatal(err)
	}
	if err := m.register(registry); err != nil {
		t.Errorf("registering again: %v", err)
	}
	found := describe(m)
	for _, name := range names {
		if _, ok := found["caddy_robots_gate_"+name]; !ok {
			t.Errorf("no metric caddy_robots_gate_%s", name)
		}
	}
	for name, labels := range found {
		if regexp.MustCompile(`host|origin|path|url|agent|token`).MatchString(labels) {
			t.Errorf("%s has a label of unbounded values: %s", name, labels)
		}
	}
}

// describe returns the labels of each collector by its name.
func describe(m *metrics) map[string]string {
	found := make(map[string]string)
	shape := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for _, c := range m.collectors() {
		descs := make(chan *prometheus.Desc, 10)
		c.Describe(descs)
		close(descs)
		for desc := range descs {
			if parts := shape.FindStringSubmatch(desc.String()); parts != nil {
				found[parts[1]] = parts[2]
			}
		}
	}
	return found
}

// TestObservabilityExamples: dashboard and alerts speak of metrics that exist.
func TestObservabilityExamples(t *testing.T) {
	found := describe(newMetrics(cache.NewShared()))
	for _, file := range []string{"grafana-dashboard.json", "alerts.yaml"} {
		text, err := os.ReadFile("../../observability/" + file)
		if err != nil {
			t.Fatal(err)
		}
		used := regexp.MustCompile(`caddy_robots_gate_\w+`).FindAllString(string(text), -1)
		if len(used) == 0 {
			t.Errorf("%s uses no metric", file)
		}
		for _, name := range used {
			if _, ok := found[strings.TrimSuffix(name, "_bucket")]; !ok {
				t.Errorf("%s uses %s, which does not exist", file, name)
			}
		}
	}
}
