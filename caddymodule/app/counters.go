package app

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counterCache finds the counter of some label values without hashing them
// anew for each request. There are few values, so that the table, which is
// copied when one is new, soon stays as it is.
type counterCache[K comparable] struct {
	vec    *prometheus.CounterVec
	labels func(K) []string
	table  atomic.Pointer[map[K]prometheus.Counter]
	mu     sync.Mutex
}

func newCounterCache[K comparable](vec *prometheus.CounterVec, labels func(K) []string) *counterCache[K] {
	c := &counterCache[K]{vec: vec, labels: labels}
	c.table.Store(&map[K]prometheus.Counter{})
	return c
}

func (c *counterCache[K]) inc(key K) {
	counter, known := (*c.table.Load())[key]
	if !known {
		counter = c.add(key)
	}
	counter.Inc()
}

func (c *counterCache[K]) add(key K) prometheus.Counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	table := maps.Clone(*c.table.Load())
	counter := c.vec.WithLabelValues(c.labels(key)...)
	table[key] = counter
	c.table.Store(&table)
	return counter
}
