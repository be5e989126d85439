package app

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// archivePolicies keeps what `robots verify` needs besides the files that are
// fetched: each gate's policy under its hash, and the files of its overrides.
func (a *App) archivePolicies() {
	for _, policy := range a.policies {
		a.store.PutPolicy(policy.Hash, policy.Canonical())
		policy.EachFile(a.store.PutBody)
	}
}

// storageFailed counts a failure of storage. It costs persistence, no decision,
// so it is worth a warning and no more.
func (a *App) storageFailed(op string, err error) {
	a.engine.metrics.storageErrors.WithLabelValues(op).Inc()
	if entry := a.logger.Check(zapcore.WarnLevel, "storage failed; decisions go on without it"); entry != nil {
		entry.Write(zap.String("op", op), zap.Error(err))
	}
}
