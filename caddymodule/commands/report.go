package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/internal/audit"
)

// reportFlags are the options of `robots report`.
type reportFlags struct {
	json bool
	html string
}

func reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [--json] [--html <file>] <log>...",
		Short: "Summarises access logs: what was not judged, and how the rest was decided",
		Long: `Reads access logs with the gate's records, plain or compressed with gzip or zstd,
and summarises them: first what was not judged, and what was judged under
somebody else's product token, then the decisions by day, reason, origin, job
and agent, the paths refused most often, and the changes of robots.txt files.
Lines of other logs are skipped and counted. - stands for standard input.

--html writes one self-contained page, to be read, printed and handed on.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&f.html, "html", "", "write the report as an HTML page to this file; - is standard output")
	cmd.RunE = decides(cmd, func(cmd *cobra.Command, args []string) (int, error) {
		if f.json && f.html == "-" {
			return 0, errors.New("--json and --html - both write to standard output; give --html a file")
		}
		logs, err := openLogs(cmd, args)
		if err != nil {
			return 0, err
		}
		p := newProgress(cmd.ErrOrStderr())
		report, err := audit.Summarise(cmd.Context(), logs, p.show)
		p.clear()
		if err != nil {
			return 0, err
		}
		return exitAllowed, writeReport(cmd, &f, report)
	})
	return cmd
}

// openLogs finds the logs named on the command line.
func openLogs(cmd *cobra.Command, args []string) ([]audit.Log, error) {
	if len(args) == 0 {
		return nil, errors.New("no log to read; name the access logs, or - for standard input")
	}
	return audit.Files(args, cmd.InOrStdin())
}

func writeReport(cmd *cobra.Command, f *reportFlags, report *audit.Report) error {
	out := cmd.OutOrStdout()
	if f.html != "" {
		if err := writeFile(out, f.html, report.WriteHTML); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return writeJSON(out, report)
	case f.html == "":
		return report.WriteText(out)
	case f.html != "-":
		fmt.Fprintf(out, "%s\n%s\nwritten to %s\n", report.Period(), report.Summary(), f.html)
	}
	return nil
}

// writeFile writes a whole file, or to standard output where its name is -.
func writeFile(stdout io.Writer, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(stdout)
	}
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, unwrapPath(err))
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
