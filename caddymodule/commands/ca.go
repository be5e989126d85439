package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/caddymodule/app"
)

func caCommand() *cobra.Command {
	var config, adapter, out string
	cmd := &cobra.Command{
		Use:   "ca [--config <file> [--adapter <name>]] [--out <file>]",
		Short: "Prints the root certificate that intercepted clients must trust",
		Long: `Prints, as PEM, the root certificate of the authority that signs for intercepted
connections: that of the configuration, or without one that of 'robots egress'.
It is made if it does not exist yet. No trust store is changed.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: false,
		RunE: func(cmd *cobra.Command, _ []string) error {
			roots, err := authorityRoots(config, adapter)
			if err != nil {
				return err
			}
			if out == "" {
				_, err = cmd.OutOrStdout().Write(roots)
				return err
			}
			if err := os.WriteFile(out, roots, 0o644); err != nil { //nolint:gosec // a certificate is for everyone
				return fmt.Errorf("writing %s: %w", out, unwrapPath(err))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&config, "config", "c", "", "configuration file")
	cmd.Flags().StringVarP(&adapter, "adapter", "a", "", "adapter of the configuration file, such as caddyfile")
	cmd.Flags().StringVar(&out, "out", "", "file to write instead of standard output")
	return cmd
}

// authorityRoots returns the roots of every authority that a configuration
// intercepts with. Nothing of it is started but its storage.
func authorityRoots(file, adapter string) ([]byte, error) {
	config, ids, err := authorityConfig(file, adapter)
	if err != nil {
		return nil, err
	}
	ctx, err := caddy.ProvisionContext(config)
	if err != nil {
		return nil, fmt.Errorf("loading the configuration: %w", err)
	}
	instance, err := ctx.App("robots_gate")
	if err != nil {
		return nil, fmt.Errorf("loading the configuration: %w", err)
	}
	var roots bytes.Buffer
	for _, id := range ids {
		authority, err := instance.(*app.App).Authority(id)
		if err != nil {
			return nil, err
		}
		roots.Write(authority.RootPEM())
	}
	return roots.Bytes(), nil
}

// authorityConfig takes out of a configuration what says where the authorities
// are kept, and their ids.
func authorityConfig(file, adapter string) (*caddy.Config, []string, error) {
	config := &caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true, Config: &caddy.ConfigSettings{Persist: new(bool)}},
		Logging: quietLogging(),
		AppsRaw: caddy.ModuleMap{"robots_gate": caddyconfig.JSON(new(app.App), nil)},
	}
	if file == "" {
		if adapter != "" {
			return nil, nil, errors.New("--adapter names the adapter of --config; give both")
		}
		return config, []string{app.DefaultAuthority}, nil
	}
	text, _, _, err := caddycmd.LoadConfig(file, adapter)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", file, err)
	}
	var given struct {
		Storage json.RawMessage            `json:"storage"`
		Apps    map[string]json.RawMessage `json:"apps"`
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", file, err)
	}
	config.StorageRaw = given.Storage
	if pki, named := given.Apps["pki"]; named {
		config.AppsRaw["pki"] = pki
	}
	var http any
	if raw, named := given.Apps["http"]; named {
		if err := json.Unmarshal(raw, &http); err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", file, err)
		}
	}
	ids := interceptors(http, nil)
	if len(ids) == 0 {
		return nil, nil, fmt.Errorf("%s intercepts nothing: it has no tls_intercept", file)
	}
	return config, ids, nil
}

// interceptors collects the authorities of all tls_intercept handlers, however
// deep in a configuration they stand.
func interceptors(node any, ids []string) []string {
	switch node := node.(type) {
	case map[string]any:
		if node["handler"] == "tls_intercept" {
			id, _ := node["ca"].(string)
			if id == "" {
				id = app.DefaultAuthority
			}
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		for _, child := range node {
			ids = interceptors(child, ids)
		}
	case []any:
		for _, child := range node {
			ids = interceptors(child, ids)
		}
	}
	slices.Sort(ids)
	return ids
}
