// Package commands adds the command `robots` and what stands below it to any
// Caddy build that has Robotsgate's modules.
package commands

import (
	"errors"
	"fmt"
	"io"
	"os"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "robots",
		Usage: "<command>",
		Short: "Runs and explains the robots.txt gate",
		Long: `
Runs a robots.txt gate without a configuration file, and explains what it would
decide.`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.AddCommand(egressCommand(), checkCommand(), inspectCommand(), identifyCommand(), reportCommand(), verifyCommand(), caCommand())
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return fmt.Errorf("unknown command %q; see '%s --help'", args[0], cmd.CommandPath())
				}
				return cmd.Help()
			}
		},
	})
}

// Exit codes of the commands that decide.
const (
	exitAllowed   = 0
	exitDenied    = 1
	exitUndecided = 2
)

// finish ends a command whose exit code carries its answer. Cobra and Caddy
// know only errors, which both would print.
func finish(code int) error {
	if code != exitAllowed {
		os.Exit(code)
	}
	return nil
}

// decides turns a failure, a wrong flag included, into the exit code for "could
// not decide".
func decides(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) (int, error)) func(*cobra.Command, []string) error {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", cmd.CommandPath(), err)
		return finish(exitUndecided)
	})
	return func(cmd *cobra.Command, args []string) error {
		code, err := run(cmd, args)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", cmd.CommandPath(), err)
			code = exitUndecided
		}
		return finish(code)
	}
}

// readFile reads a file, or standard input where its name is -.
func readFile(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		body, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return body, nil
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, unwrapPath(err))
	}
	return body, nil
}

// unwrapPath takes the file name off an error that is going to name it.
func unwrapPath(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
