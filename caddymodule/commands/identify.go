package commands

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/robotsgate/robotsgate/agent"
)

func identifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "identify [<User-Agent>...]",
		Short: "Tells bots from browsers by their User-Agent, and which product tokens they answer to",
		Long: `Prints one JSON object a line for each User-Agent: whether it is a bot's, its
name, its product tokens in order of preference, and why. Without arguments it
reads one User-Agent a line from standard input; an empty line stands for a
request without one.`,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			defer out.Flush()
			if len(args) == 0 {
				return identifyLines(cmd.InOrStdin(), out)
			}
			for _, userAgent := range args {
				if err := identify(out, userAgent); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// identity is the answer about one User-Agent.
type identity struct {
	UserAgent string   `json:"user_agent"`
	Bot       bool     `json:"bot"`
	Name      string   `json:"name"`
	Tokens    []string `json:"tokens"`
	Why       []string `json:"why"`
}

func identify(out io.Writer, userAgent string) error {
	a := agent.Identify(userAgent)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(identity{
		UserAgent: userAgent, Bot: a.Bot, Name: a.Name,
		Tokens: append([]string{}, a.Tokens()...),
		Why:    append([]string{}, agent.Explain(userAgent)...),
	})
}

func identifyLines(in io.Reader, out *bufio.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if err := identify(out, lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading User-Agents: %w", err)
	}
	return nil
}
