package commands

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/caddyserver/certmagic"
	"github.com/spf13/cobra"
)

// storageFlags name the configuration whose storage is meant.
type storageFlags struct {
	config  string
	adapter string
}

func (f *storageFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "configuration whose storage is read (default: Caddy's default storage)")
	cmd.Flags().StringVar(&f.adapter, "adapter", "", "adapter of that configuration, for example caddyfile (default: by its name)")
}

// storageConfig is the part of a configuration that names the storage.
type storageConfig struct {
	StorageRaw json.RawMessage `json:"storage,omitempty" caddy:"namespace=caddy.storage inline_key=module"`
}

// open returns the storage and what closes it. Nothing else of the
// configuration is set up.
func (f *storageFlags) open() (certmagic.Storage, func(), error) {
	if f.config == "" {
		if f.adapter != "" {
			return nil, nil, fmt.Errorf("--adapter %s has no --config to adapt", f.adapter)
		}
		return caddy.DefaultStorage, func() {}, nil
	}
	text, _, _, err := caddycmd.LoadConfig(f.config, f.adapter)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the configuration %s: %w", f.config, err)
	}
	var config storageConfig
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, nil, fmt.Errorf("reading the configuration %s: it is no JSON; is --adapter missing? %w", f.config, err)
	}
	if config.StorageRaw == nil {
		return caddy.DefaultStorage, func() {}, nil
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	module, err := ctx.LoadModule(&config, "StorageRaw")
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("opening the storage that %s names: %w", f.config, err)
	}
	storage, err := module.(caddy.StorageConverter).CertMagicStorage()
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("opening the storage that %s names: %w", f.config, err)
	}
	return storage, cancel, nil
}
