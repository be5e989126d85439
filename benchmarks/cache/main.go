// Cache prints the figures of fetching and caching: one line each, with what
// is to be reached. Run it from the benchmarks directory:
//
//	go run ./cache [-real DIR] [NAME…]
//
// Without names it runs all of them. -real is a directory of real robots.txt
// files, named <host>.txt; where it is missing, sizes are made up.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// figures are all there is to measure, in the order in which they run.
var figures = []struct {
	name string
	run  func(options) []figure
}{
	{"warm", warm},
	{"origins", origins},
	{"stampede", stampede},
	{"crawl", crawl},
	{"recovery", recovery},
	{"faults", faults},
}

// options are what the command line says.
type options struct {
	real     string
	origins  int
	requests int
	minutes  time.Duration
}

// figure is one result.
type figure struct {
	name  string
	got   string
	reach string
	ok    bool
}

func main() {
	var o options
	flag.StringVar(&o.real, "real", "../../shared/robots-real", "directory of real robots.txt files")
	flag.IntVar(&o.origins, "origins", 1_000_000, "origins to visit")
	flag.IntVar(&o.requests, "requests", 1_000_000, "randomised requests against faults")
	flag.DurationVar(&o.minutes, "crawl", time.Minute, "length of the broad crawl")
	flag.Parse()
	failed := false
	for _, f := range figures {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), f.name) {
			continue
		}
		for _, result := range f.run(o) {
			mark := "ok    "
			if !result.ok {
				mark, failed = "MISSED", true
			}
			fmt.Printf("%s %-10s %-52s %-28s reach %s\n", mark, f.name, result.name, result.got, result.reach)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// resident is the process's memory, now and at its highest, in MiB.
func resident() (now, highest int) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.Atoi(fields[1])
		switch fields[0] {
		case "VmRSS:":
			now = kib / 1024
		case "VmHWM:":
			highest = kib / 1024
		}
	}
	return now, highest
}

// resetHighest begins the highest memory anew.
func resetHighest() {
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200)
}

// percentile of sorted durations.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(float64(len(sorted))*p), len(sorted)-1)]
}
