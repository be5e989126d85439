package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/internal/batch"
	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// checkFlags are the options of `robots check`.
type checkFlags struct {
	robots      string
	userAgent   string
	token       string
	paths       string
	json        bool
	batch       bool
	allowRanges []string
	ports       []string
}

func checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [--robots <file>|-] [--user-agent <UA> | --token <token>] [--paths strict|rfc] [--json] <URL>...",
		Short: "Tells whether URLs may be fetched, and why",
		Long: `Decides each URL as the gate would and prints one line for it. Without --robots
it fetches the robots.txt of the URL's origin as the gate does, through the
address guard. Exits with 0 where all URLs are allowed, 1 where some are denied,
and 2 where something could not be decided.

With --batch it reads cases as JSON lines from standard input instead:
  {"id", "robots" or "robots_b64", "user_agent" or "token", "url" or "url_b64", "paths"}
and answers each with a line
  {"id", "allowed", "reason", "token", "rule", "line"}
in order. There url is text and judged as it is written. Exits with 0, or with 2
where a case could not be decided.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.Flags().StringVar(&f.robots, "robots", "", "robots.txt file to decide by; - is standard input")
	cmd.Flags().StringVar(&f.userAgent, "user-agent", "", "User-Agent header that asks")
	cmd.Flags().StringVar(&f.token, "token", "", "product token that asks")
	cmd.Flags().StringVar(&f.paths, "paths", judge.PathsStrict, "judge normal forms too (strict) or the one of RFC 9309 alone (rfc)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the whole record of each decision")
	cmd.Flags().BoolVar(&f.batch, "batch", false, "read cases from standard input")
	cmd.Flags().StringSliceVar(&f.allowRanges, "allow-ranges", nil, "special-purpose address ranges that may be fetched from")
	cmd.Flags().StringSliceVar(&f.ports, "ports", nil, "ports that may be fetched from (default 80,443)")
	cmd.RunE = decides(cmd, func(cmd *cobra.Command, args []string) (int, error) {
		if f.userAgent != "" && f.token != "" {
			return 0, errors.New("--user-agent and --token both say who asks; keep one")
		}
		if f.paths != judge.PathsStrict && f.paths != judge.PathsRFC {
			return 0, fmt.Errorf("--paths: %q is neither strict nor rfc", f.paths)
		}
		if f.batch {
			return checkBatch(cmd, &f, args)
		}
		return checkURLs(cmd, &f, args)
	})
	return cmd
}

func checkBatch(cmd *cobra.Command, f *checkFlags, args []string) (int, error) {
	if f.robots != "" {
		return 0, errors.New("--batch reads each case's robots.txt with the case; leave --robots out")
	}
	if len(args) > 0 {
		return 0, errors.New("--batch reads its URLs from standard input; leave the arguments out")
	}
	undecided, err := batch.Run(cmd.InOrStdin(), cmd.OutOrStdout(), f.paths == judge.PathsRFC)
	if err != nil || undecided > 0 {
		return exitUndecided, err
	}
	return exitAllowed, nil
}

func checkURLs(cmd *cobra.Command, f *checkFlags, urls []string) (int, error) {
	if len(urls) == 0 {
		return 0, errors.New("no URL to check; give one or more, or --batch")
	}
	policy := judge.Default()
	policy.Agents, policy.Paths = judge.AgentsAll, f.paths
	compiled, err := policy.Compile()
	if err != nil {
		return 0, err
	}
	j, done, err := checkJudge(cmd, f)
	if err != nil {
		return 0, err
	}
	defer done()
	code := exitAllowed
	for _, url := range urls {
		code = max(code, checkURL(cmd, f, j, compiled, url))
	}
	return code, nil
}

// checkJudge decides by the given file, or by what it fetches as the gate does.
func checkJudge(cmd *cobra.Command, f *checkFlags) (*judge.Judge, func(), error) {
	if f.robots == "" {
		engine, stop, err := startEngine(&app.App{AllowRanges: f.allowRanges, Ports: f.ports})
		if err != nil {
			return nil, nil, err
		}
		return engine.Judge(), stop, nil
	}
	body, err := readFile(cmd, f.robots)
	if err != nil {
		return nil, nil, err
	}
	return &judge.Judge{Lookup: fileLookup{cache.NewCopy(cache.StateRules, 0, body)}, Guard: noGuard{}}, func() {}, nil
}

// checkURL decides one URL, prints the answer and returns its exit code.
func checkURL(cmd *cobra.Command, f *checkFlags, j *judge.Judge, policy *judge.Compiled, url string) int {
	rec := &decision.Record{Engine: app.Version()}
	target, err := origin.ParseTarget(url)
	if err != nil {
		rec.Enforced, rec.URL, rec.Error = true, withoutUserinfo(url), err.Error()
		rec.Denied(decision.BadTarget)
	} else {
		subject := &judge.Subject{UserAgent: f.userAgent, Target: target}
		if f.token != "" {
			subject.Tokens = []string{f.token}
		}
		j.Decide(cmd.Context(), policy, subject, rec)
	}
	if f.json {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n", rec.JSON())
	} else {
		printCheck(plain{cmd.OutOrStdout()}, rec)
	}
	switch {
	case rec.Decision == decision.Allow:
		return exitAllowed
	case rec.Reason.Waits(), rec.Reason == decision.BadTarget:
		return exitUndecided
	default:
		return exitDenied
	}
}

// withoutUserinfo takes the credentials out of a URL that cannot be judged and
// may be too broken to be taken apart: everything up to its last @.
func withoutUserinfo(url string) string {
	at := strings.LastIndexByte(url, '@')
	if at < 0 {
		return url
	}
	scheme, _, found := strings.Cut(url[:at], "://")
	if !found {
		return url[at+1:]
	}
	return scheme + "://" + url[at+1:]
}

func printCheck(out io.Writer, rec *decision.Record) {
	fmt.Fprintf(out, "%-5s  %s  %s", rec.Decision, rec.URL, rec.Reason)
	if rec.Rule.Line != 0 {
		fmt.Fprintf(out, "  %s (line %d, group %s)", rec.Rule, rec.Rule.Line, rec.Token)
	}
	if rec.Form != "" {
		fmt.Fprintf(out, "  in normal form %s", rec.Form)
	}
	if rec.Error != "" {
		fmt.Fprintf(out, "  %s", rec.Error)
	}
	fmt.Fprintln(out)
}

// fileLookup answers every lookup with the one file that was given.
type fileLookup struct{ copy *cache.Copy }

func (l fileLookup) Lookup(context.Context, origin.Origin, string, string) cache.Answer {
	return cache.Answer{Copy: l.copy}
}

// noGuard allows every origin: a decision by a given file dials nothing.
type noGuard struct{}

func (noGuard) CheckOrigin(origin.Origin) error { return nil }
