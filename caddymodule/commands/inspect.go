package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/parser"
)

// inspectFlags are the options of `robots inspect`.
type inspectFlags struct {
	json        bool
	userAgent   string
	allowRanges []string
	ports       []string
}

func inspectCommand() *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect [--json] <file>|-|<URL>",
		Short: "Explains a robots.txt: its groups and rules, and what is wrong with it",
		Long: `Prints the groups and rules of a robots.txt as crawlers that follow RFC 9309 read
them, and warns about lines that do not do what their author meant, with what to
write instead. Of a URL, the robots.txt of its origin is fetched as the gate
does. Exits with 2 where there is no file to explain.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.userAgent, "user-agent", "", "User-Agent that fetches a URL")
	cmd.Flags().StringSliceVar(&f.allowRanges, "allow-ranges", nil, "special-purpose address ranges that may be fetched from")
	cmd.Flags().StringSliceVar(&f.ports, "ports", nil, "ports that may be fetched from (default 80,443)")
	cmd.RunE = decides(cmd, func(cmd *cobra.Command, args []string) (int, error) {
		if len(args) != 1 {
			return 0, errors.New("wants one file, - for standard input, or one URL")
		}
		body, err := inspectBody(cmd, &f, args[0])
		if err != nil {
			return 0, err
		}
		report := parser.Inspect(body)
		if !f.json {
			printReport(plain{cmd.OutOrStdout()}, report)
			return exitAllowed, nil
		}
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return exitAllowed, encoder.Encode(report)
	})
	return cmd
}

// inspectBody reads the file, or fetches the robots.txt of the URL's origin.
func inspectBody(cmd *cobra.Command, f *inspectFlags, name string) ([]byte, error) {
	if !strings.Contains(name, "://") {
		return readFile(cmd, name)
	}
	target, err := origin.ParseTarget(name)
	if err != nil {
		return nil, err
	}
	engine, stop, err := startEngine(&app.App{AllowRanges: f.allowRanges, Ports: f.ports})
	if err != nil {
		return nil, err
	}
	defer stop()
	result := engine.FetchRobots(cmd.Context(), target.Origin, f.userAgent)
	switch result.Outcome {
	case fetch.Rules:
		return result.Body, nil
	case fetch.Unavailable:
		return nil, fmt.Errorf("%s answered %d (%s): there is no file, and everything is allowed (RFC 9309 section 2.3.1.3)", target.Origin.RobotsURL(), result.Status, result.Cause)
	default:
		return nil, fmt.Errorf("%s is unreachable: %w", target.Origin.RobotsURL(), result.Err)
	}
}

func printReport(out io.Writer, report *parser.Report) {
	fmt.Fprintf(out, "%d octets, %d lines, %s\n", report.Size, report.Lines, report.Encoding)
	for _, group := range report.Groups {
		fmt.Fprintln(out)
		for _, a := range group.Agents {
			fmt.Fprintf(out, "%5d  User-agent: %s%s\n", a.Line, a.Name, meaning(a))
		}
		for _, rule := range group.Rules {
			fmt.Fprintf(out, "%5d    %s\n", rule.Line, rule)
		}
		if len(group.Rules) == 0 {
			fmt.Fprintln(out, "         (no rule: everything is allowed)")
		}
	}
	if len(report.Records) > 0 {
		fmt.Fprintln(out, "\nOther lines:")
		for _, record := range report.Records {
			fmt.Fprintf(out, "%5d  %s: %s\n", record.Line, record.Key, record.Value)
		}
	}
	if len(report.Warnings) == 0 {
		fmt.Fprintln(out, "\nNo warnings.")
		return
	}
	fmt.Fprintf(out, "\nWarnings: %d\n", len(report.Warnings))
	for _, w := range report.Warnings {
		fmt.Fprintf(out, "%5d  %s\n", w.Line, w.Message)
		if w.Instead != "" {
			fmt.Fprintf(out, "       instead: %s\n", w.Instead)
		}
	}
}

// meaning says whom a user-agent line names, where that is not its whole value.
func meaning(a parser.Agent) string {
	switch a.Token {
	case a.Name:
		return ""
	case "":
		return "   (names nobody)"
	default:
		return "   (names " + a.Token + ")"
	}
}
