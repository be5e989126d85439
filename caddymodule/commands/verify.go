package commands

import (
	"context"
	"fmt"

	"github.com/caddyserver/certmagic"
	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/internal/audit"
	"github.com/robotsgate/robotsgate/internal/store"
)

// verifyFlags are the options of `robots verify`.
type verifyFlags struct {
	storage storageFlags
	json    bool
}

func verifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [--config <file> [--adapter <name>]] [--json] <log>...",
		Short: "Decides the records of access logs again, from archived evidence",
		Long: `Decides every record of the access logs again, from its User-Agent, its URL and
what the gate archived in its storage: the policy and the robots.txt of that
time. Only then is the outcome compared with what was logged. Each record is

  re-derived     the evidence gives the same decision
  attested       it rests on what only the gate could see, such as an address
                 that was refused, and everything else fits
  impossible     evidence is gone, or redacted
  contradicted   the evidence gives another decision, or the record does not
                 agree with itself

Gaps in the numbers of each gate's records are listed, and so are the fields
that nothing can be held against. The storage is the one that --config names,
or Caddy's default. Logs may be compressed; lines of other logs are skipped and
counted. Nothing is changed.

Exits with 0, with 1 where a record is contradicted, and with 2 where the logs
or the storage cannot be read.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	f.storage.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	cmd.RunE = decides(cmd, func(cmd *cobra.Command, args []string) (int, error) {
		logs, err := openLogs(cmd, args)
		if err != nil {
			return 0, err
		}
		storage, done, err := f.storage.open()
		if err != nil {
			return 0, err
		}
		defer done()
		p := newProgress(cmd.ErrOrStderr())
		result, err := audit.Verify(cmd.Context(), logs, store.New(readOnly{storage}, store.Config{}), p.show)
		p.clear()
		if err != nil {
			return 0, err
		}
		return writeVerification(cmd, &f, result)
	})
	return cmd
}

func writeVerification(cmd *cobra.Command, f *verifyFlags, result *audit.Verification) (int, error) {
	code := exitAllowed
	if result.Contradicted > 0 {
		code = exitDenied
	}
	if f.json {
		return code, writeJSON(cmd.OutOrStdout(), result)
	}
	if err := result.WriteText(cmd.OutOrStdout()); err != nil {
		return 0, err
	}
	if result.Records > 0 && result.Impossible == result.Records && f.storage.config == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "Caddy's default storage has nothing of these records. Name the gate's configuration with --config.")
	}
	return code, nil
}

// readOnly is a storage that an audit reads: damaged evidence stays as it is.
type readOnly struct{ certmagic.Storage }

func (readOnly) Delete(context.Context, string) error { return nil }
