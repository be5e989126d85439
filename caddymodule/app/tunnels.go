package app

import "github.com/prometheus/client_golang/prometheus"

// tunnelMetrics are the collectors of CONNECT tunnels, intercepted or not.
type tunnelMetrics struct {
	leavesMinted prometheus.Counter
	open         prometheus.Gauge
}

func newTunnelMetrics() tunnelMetrics {
	return tunnelMetrics{
		leavesMinted: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: metricsNamespace, Subsystem: metricsSubsystem, Name: "leaves_minted_total",
			Help: "Certificates made for intercepted connections.",
		}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: metricsNamespace, Subsystem: metricsSubsystem, Name: "tunnels_open",
			Help: "CONNECT tunnels that are open, intercepted or not.",
		}),
	}
}

func (m *tunnelMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.leavesMinted, m.open}
}

// LeafMinted counts a certificate that was made for an intercepted connection.
func (a *App) LeafMinted() { a.engine.metrics.tunnels.leavesMinted.Inc() }

// TunnelOpened counts a tunnel until the function that it returns is called.
func (a *App) TunnelOpened() (closed func()) {
	open := a.engine.metrics.tunnels.open
	open.Inc()
	return open.Dec
}
