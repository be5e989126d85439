package app

import (
	"crypto/rand"
	"encoding/hex"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsgate/robotsgate/internal/cache"
)

// engine is what outlives a configuration reload: the copies, the fetches in
// flight, the counters and the numbering of records. It holds no
// configuration, context, logger or storage.
type engine struct {
	shared  *cache.Shared
	metrics *metrics
	// id is the gate's instance, new at each start of the process.
	id  string
	seq atomic.Uint64
}

// engineKey is the one engine of a process: copies belong to origins, not to
// configurations, so every configuration shares them.
const engineKey = "robots_gate"

var engines = caddy.NewUsagePool()

func acquireEngine() (*engine, error) {
	value, _, err := engines.LoadOrNew(engineKey, func() (caddy.Destructor, error) {
		shared := cache.NewShared()
		return &engine{shared: shared, metrics: newMetrics(shared), id: newInstanceID()}, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*engine), nil
}

func releaseEngine() error {
	_, err := engines.Delete(engineKey)
	return err
}

// Destruct ends what still runs once no configuration uses the engine.
func (e *engine) Destruct() error {
	return e.shared.Destruct()
}

func newInstanceID() string {
	var id [8]byte
	// crypto/rand.Read never fails (Go 1.24 and later).
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
