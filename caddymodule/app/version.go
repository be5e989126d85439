package app

import (
	"runtime/debug"
	"strings"
	"sync"
)

// modulePath is the module whose version is the engine's.
const modulePath = "github.com/robotsgate/robotsgate"

// release is set by the linker in release builds (-X).
var release string

// Version is the engine's version, as in the record's field engine and in the
// default User-Agent: that of the module in the running binary, "devel" where
// it was built from a work tree.
var Version = sync.OnceValue(func() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "" && m.Version != "(devel)" {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "devel"
})
