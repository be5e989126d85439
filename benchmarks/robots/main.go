// Command robots compares packages parser and matcher with other Go libraries
// on the same inputs and prints one Markdown table:
//
//	go run ./robots [-files DIR] [-rounds N] [-only TEXT]
//
// Runs are interleaved, so that a busy machine is busy for all of them. Times
// are CPU times of the process on one core, collector included.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	files := flag.String("files", "", "directory of robots.txt files, named *.txt (default: shared/robots-real beside the checkout)")
	rounds := flag.Int("rounds", 15, "runs of each contender")
	only := flag.String("only", "", "only the figures whose name contains this")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := run(*files, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "robots:", err)
		os.Exit(1)
	}
}

func run(dir string, rounds int, only string) error {
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "robots-real")
	}
	files, err := readFiles(dir)
	if err != nil {
		return fmt.Errorf("reading the files to measure with: %w; name their directory with -files", err)
	}
	fmt.Printf("%d files, %.1f MB; %s, %s; median (least–most) of %d interleaved runs on one core\n\n",
		len(files.bodies), float64(files.size)/1e6, cpuName(), runtime.Version(), rounds)
	fmt.Println("| figure | robotsgate | other | ratio |")
	fmt.Println("|---|---|---|---|")
	for _, f := range figures {
		if strings.Contains(f.name, only) {
			f.measure(files, rounds)
		}
	}
	return nil
}

// figures are the rows of the table, in its order.
var figures = []struct {
	name    string
	measure func(*corpus, int)
}{
	{"parse", measureParse},
	{"allocations", measureAllocations},
	{"memory", measureMemory},
	{"verdict", measureVerdict},
	{"new", measureNew},
	{"literals", measureLiterals},
	{"hostile", measureHostile},
}

// row prints a line of the table; ratio is how many times better ours is.
func row(figure, ours, other string, ratio float64) {
	text := ""
	if ratio > 0 {
		text = fmt.Sprintf("%.3g ×", ratio)
	}
	fmt.Printf("| %s | %s | %s | %s |\n", figure, ours, other, text)
}

func cpuName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.SplitSeq(string(info), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
