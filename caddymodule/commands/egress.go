package commands

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/internal/judge"
)

// egressFlags are the options of `robots egress`.
type egressFlags struct {
	listen      string
	agents      string
	report      bool
	allowRanges []string
	ports       []string
	logFile     string
}

func egressCommand() *cobra.Command {
	var f egressFlags
	cmd := &cobra.Command{
		Use:   "egress [--listen <address>] [--agents all|bots] [--report] [--allow-ranges <cidr,...>] [--ports <list>] [--log-file <file>]",
		Short: "Runs a robots.txt gate as a forward proxy, without a configuration file",
		Long: `Runs a forward proxy that refuses what a robots.txt disallows. Point the scraping
jobs at it with HTTP_PROXY. The access log, with the evidence of every decision,
is written as JSON to standard output, everything else to standard error.`,
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
	if err := caddy.Load(config, true); err != nil {
		return fmt.Errorf("starting the gate: %w", err)
	}
	address, err := egressAddress()
	if err != nil {
		return err
	}
	printEgress(cmd.ErrOrStderr(), address, f)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
	signal.Stop(stop)
	if err := caddy.Stop(); err != nil {
		return fmt.Errorf("stopping the gate: %w", err)
	}
	return nil
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
	fmt.Fprintf(out, `robotsgate listens on %[1]s and %[2]s.

  export HTTP_PROXY=%[1]s http_proxy=%[1]s
  curl -x %[1]s http://example.com/

HTTPS is not intercepted: every CONNECT tunnel is refused, because the requests
inside cannot be judged. Stop with Ctrl-C.
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
