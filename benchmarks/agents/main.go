// Command agents prints the figures of package agent on the labelled
// development sets, with the lists of what it gets wrong: what is found, which
// group is obeyed, what it costs, and how much of it is fitted to the sets.
//
//	go -C benchmarks run ./agents
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/robotsgate/robotsgate/agent"
)

func main() {
	dir := flag.String("sets", "../../shared/agents", "folder of the development sets")
	source := flag.String("agent", "../agent", "source of package agent, for the rules made again without a part of the sets")
	asJSON := flag.Bool("json", false, "print the figures alone, as JSON")
	list := flag.Int("list", 40, "longest list of wrong answers to print")
	flag.Parse()
	if err := run(os.Stdout, *dir, *source, *asJSON, *list); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, dir, source string, asJSON bool, list int) error {
	s, err := readSets(dir)
	if err != nil {
		return err
	}
	all := figures(s)
	if asJSON {
		return json.NewEncoder(w).Encode(all)
	}
	for _, f := range all {
		fmt.Fprintln(w, f)
	}
	for _, f := range all {
		if len(f.wrong) > 0 {
			fmt.Fprintf(w, "\nWrong: %s\n", f.Name)
			printList(w, f.wrong, list)
		}
	}
	fmt.Fprintln(w, "\nDefault headers of browser automation")
	for _, a := range automation {
		fmt.Fprintf(w, "  bot=%-5v %-34s %s\n", agent.Identify(a.userAgent).Bot, a.name, a.userAgent)
	}
	fmt.Fprintln(w)
	timings(w)
	fmt.Fprintln(w)
	return leaveOut(w, s, source, list)
}

func printList(w io.Writer, rows []string, longest int) {
	for i, row := range rows {
		if i == longest {
			fmt.Fprintf(w, "  … and %d more\n", len(rows)-longest)
			return
		}
		fmt.Fprintf(w, "  %.200s\n", row)
	}
}

// automation are the headers that Playwright and Selenium send unless told
// otherwise. Without a head they say so; with one they are browsers' own.
var automation = []struct{ name, userAgent string }{
	{"Playwright, Chromium, headless", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.6778.33 Safari/537.36"},
	{"Playwright, Chromium, headed", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"},
	{"Playwright, Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"},
	{"Playwright, WebKit", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Safari/605.1.15"},
	{"Playwright, API requests", "Playwright/1.65.1 (x64; debian 12) node/20.20"},
	{"Selenium, Chrome, headless", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36"},
	{"Selenium, Chrome, headed", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"},
	{"Selenium, Firefox, headless or headed", "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"},
}
