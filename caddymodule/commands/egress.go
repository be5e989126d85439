package commands

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/internal/judge"
)

// egressFlags are the options of `robots egress`.
type egressFlags struct {
	listen      string
	agents      string
	report      bool
	noIntercept bool
	allowRanges []string
	ports       []string
	logFile     string
}

func egressCommand() *cobra.Command {
	var f egressFlags
	cmd := &cobra.Command{
		Use:   "egress [--listen <address>] [--agents all|bots] [--report] [--no-intercept] [--allow-ranges <cidr,...>] [--ports <list>] [--log-file <file>]",
		Short: "Runs a robots.txt gate as a forward proxy, without a configuration file",
		Long: `Runs a forward proxy that refuses what a robots.txt disallows. Point the scraping
jobs at it with HTTP_PROXY and HTTPS_PROXY. HTTPS is intercepted, so that single
URLs can be judged: the jobs must trust the certificate whose file is printed. No
trust store is changed. The access log, with the evidence of every decision, is
written as JSON to standard output, everything else to standard error.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: false,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEgress(cmd, &f)
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8888", "address to listen on")
	cmd.Flags().StringVar(&f.agents, "agents", judge.AgentsAll, "whose requests are judged: all or bots")
	cmd.Flags().BoolVar(&f.report, "report", false, "record and mark what would be denied, but pass it on")
	cmd.Flags().BoolVar(&f.noIntercept, "no-intercept", false, "refuse HTTPS instead of intercepting it")
	cmd.Flags().StringSliceVar(&f.allowRanges, "allow-ranges", nil, "special-purpose address ranges that may be reached, as CIDR")
	cmd.Flags().StringSliceVar(&f.ports, "ports", nil, "ports that may be reached (default 80,443)")
	cmd.Flags().StringVar(&f.logFile, "log-file", "", "file for the access log instead of standard output")
	return cmd
}

func runEgress(cmd *cobra.Command, f *egressFlags) error {
	config, err := egressConfig(f)
	if err != nil {
		return err
	}
	// Caddy ends the process: only then does it wait for requests that are
	// under way. A signal may come as soon as the gate says that it listens.
	caddy.TrapSignals()
	if err := caddy.Load(config, true); err != nil {
		return fmt.Errorf("starting the gate: %w", err)
	}
	address, err := egressAddress()
	if err != nil {
		return err
	}
	out := cmd.ErrOrStderr()
	printEgress(out, address, f)
	if f.noIntercept {
		printNotIntercepted(out)
	} else {
		printIntercepted(out, "http://"+reachable(address), authorityFile(app.DefaultAuthority))
	}
	select {}
}

// egressAddress is the address that the gate really listens on.
func egressAddress() (string, error) {
	instance, err := caddy.ActiveContext().AppIfConfigured("http")
	if err != nil {
		return "", fmt.Errorf("finding the gate's listener: %w", err)
	}
	for _, server := range instance.(*caddyhttp.App).Servers {
		for _, ln := range server.Listeners() {
			return ln.Addr().String(), nil
		}
	}
	return "", errors.New("finding the gate's listener: it has none")
}

func printEgress(out io.Writer, address string, f *egressFlags) {
	proxy := "http://" + reachable(address)
	mode := "refuses what robots.txt disallows"
	if f.report {
		mode = "reports what robots.txt disallows and passes it on"
	}
	fmt.Fprintf(out, `robotsgate listens on %s and %s. Stop with Ctrl-C.

  export HTTP_PROXY=%[1]s http_proxy=%[1]s HTTPS_PROXY=%[1]s https_proxy=%[1]s
`, proxy, mode)
}

// reachable replaces the address of all interfaces by one to connect to.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(strings.ToLower(host), port)
}
