package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// times are the runs of one contender, sorted.
type times []time.Duration

func (t times) median() time.Duration { return t[len(t)/2] }

// per formats the times divided by n, such as the verdicts in a run.
func (t times) per(n int) string {
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(n) }
	return fmt.Sprintf("%s (%s–%s)", duration(each(t.median())), duration(each(t[0])), duration(each(t[len(t)-1])))
}

// rate formats the times as throughput of n octets.
func (t times) rate(n int64) string {
	rate := func(d time.Duration) float64 { return float64(n) / 1e9 / d.Seconds() }
	return fmt.Sprintf("%.3g GB/s (%.3g–%.3g)", rate(t.median()), rate(t[len(t)-1]), rate(t[0]))
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	default:
		return fmt.Sprintf("%.3g s", ns/1e9)
	}
}

// interleave runs every contender once a round, and once before to warm up.
func interleave(rounds int, contenders ...func()) []times {
	results := make([]times, len(contenders))
	for round := range rounds + 1 {
		for i, run := range contenders {
			runtime.GC()
			start := cpuTime()
			run()
			if round > 0 {
				results[i] = append(results[i], cpuTime()-start)
			}
		}
	}
	for _, t := range results {
		slices.Sort(t)
	}
	return results
}

// ratio is how many times slower other is.
func ratio(ours, other times) float64 {
	return float64(other.median()) / float64(ours.median())
}

// cpuTime is the CPU time that the process has used, in user and system mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// sink keeps results alive, so that nothing measured is optimised away.
var sink int
