package app

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
)

const (
	metricsNamespace = "caddy"
	metricsSubsystem = "robots_gate"
)

// metrics are the collectors of the engine. They live as long as it does and
// are registered anew with the registry of each configuration. No label is
// made of a host, path or agent.
type metrics struct {
	decisions        *counterCache[decisionKey]
	decisionDuration prometheus.Histogram
	fetches          *prometheus.CounterVec
	fetchDuration    prometheus.Histogram
	lookups          *counterCache[cache.Source]
	dialsDenied      *prometheus.CounterVec
	storageErrors    *prometheus.CounterVec
	gauges           []prometheus.Collector
	tunnels          tunnelMetrics
}

func newMetrics(shared *cache.Shared) *metrics {
	return &metrics{
		decisions:        newCounterCache(counters("decisions_total", "Decisions about requests.", "decision", "reason", "enforced"), decisionKey.labels),
		decisionDuration: histogram("decision_duration_seconds", "Time from a request's arrival at the gate to its decision, fetches included.", prometheus.ExponentialBuckets(1e-6, 4, 13)),
		fetches:          counters("fetches_total", "Fetches of robots.txt files by their result.", "result"),
		fetchDuration:    histogram("fetch_duration_seconds", "Time that fetches of robots.txt files took.", prometheus.DefBuckets),
		lookups:          newCounterCache(counters("cache_lookups_total", "Lookups of robots.txt files by where the answer came from.", "source"), func(s cache.Source) []string { return []string{string(s)} }),
		dialsDenied:      counters("dial_denied_total", "Dials that the address guard refused, by address class.", "class"),
		tunnels:          newTunnelMetrics(),
		storageErrors:    counters("storage_errors_total", "Failures of storage by operation.", "op"),
		gauges: []prometheus.Collector{
			gauge("cache_entries", "Origins held in memory.", func() float64 { return float64(shared.Stats().Entries) }),
			gauge("cache_bytes", "Bytes of memory that those origins take.", func() float64 { return float64(shared.Stats().Bytes) }),
			gauge("fetches_in_flight", "Fetches of robots.txt files under way.", func() float64 { return float64(shared.Stats().InFlight) }),
		},
	}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: metricsNamespace, Subsystem: metricsSubsystem, Name: name, Help: help,
	}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: metricsNamespace, Subsystem: metricsSubsystem, Name: name, Help: help, Buckets: buckets,
	})
}

func gauge(name, help string, read func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: metricsNamespace, Subsystem: metricsSubsystem, Name: name, Help: help,
	}, read)
}

// register adds the collectors to a configuration's registry; a registry that
// has them already (two apps in one configuration are impossible, a registry
// kept by a test is not) is left as it is.
func (m *metrics) register(registry prometheus.Registerer) error {
	for _, c := range m.collectors() {
		if err := registry.Register(c); err != nil {
			if _, known := errors.AsType[prometheus.AlreadyRegisteredError](err); !known {
				return err
			}
		}
	}
	return nil
}

func (m *metrics) collectors() []prometheus.Collector {
	return slices.Concat([]prometheus.Collector{
		m.decisions.vec, m.decisionDuration, m.fetches, m.fetchDuration, m.lookups.vec, m.dialsDenied, m.storageErrors,
	}, m.gauges, m.tunnels.collectors())
}

// decisionKey are the labels of decisions_total.
type decisionKey struct {
	decision decision.Verdict
	reason   decision.Reason
	enforced bool
}

func (k decisionKey) labels() []string {
	return []string{string(k.decision), string(k.reason), strconv.FormatBool(k.enforced)}
}

func (m *metrics) decided(rec *decision.Record, took time.Duration) {
	m.decisions.inc(decisionKey{rec.Decision, rec.Reason, rec.Enforced})
	m.decisionDuration.Observe(took.Seconds())
}

func (m *metrics) fetched(cause fetch.Cause, took time.Duration) {
	m.fetches.WithLabelValues(string(cause)).Inc()
	m.fetchDuration.Observe(took.Seconds())
}

func (m *metrics) dialDenied(class string) {
	m.dialsDenied.WithLabelValues(class).Inc()
}

// countedLookup counts where answers about robots.txt files come from.
type countedLookup struct {
	*cache.Cache
	metrics *metrics
}

func (l countedLookup) Lookup(ctx context.Context, o origin.Origin, userAgent, token string) cache.Answer {
	answer := l.Cache.Lookup(ctx, o, userAgent, token)
	l.metrics.lookups.inc(answer.Source)
	return answer
}
