//go:build unix

package audit

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/judge"
)

// benchLog is a log of n records of many origins, paths and User-Agents as
// Caddy writes them, and the archive that they rest on.
func benchLog(b *testing.B, n int) (Log, *shelf) {
	b.Helper()
	s := newShelf()
	policy := judge.Default()
	policy.Agents = judge.AgentsAll
	compiled := s.keep(b, policy)
	var text strings.Builder
	for i := range n {
		q := request{url: fmt.Sprintf("https://www%d.example.com/catalogue/item-%d?page=%d", i%500, i%977, i%13)}
		if i%10 == 0 {
			q.url = fmt.Sprintf("https://www%d.example.com/private/item-%d", i%500, i%977)
		}
		q.userAgent = []string{exampleBot, "python-requests/2.31.0", "curl/8.5.0"}[i%3]
		q.robots = fmt.Sprintf("# %d\n%s", i%500, rulesFile)
		q.compiled = compiled
		text.WriteString(q.line(b, s, i+1) + "\n")
	}
	whole := text.String()
	return Log{Name: "bench.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(whole)), nil }}, s
}

const benchRecords = 100_000

func BenchmarkReport(b *testing.B) {
	log, _ := benchLog(b, benchRecords)
	measure(b, func() {
		if r, err := Summarise(b.Context(), []Log{log}, nil); err != nil || r.Total.Requests != benchRecords {
			b.Fatal(r.Lines, err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	log, s := benchLog(b, benchRecords)
	measure(b, func() {
		if v, err := Verify(b.Context(), []Log{log}, s, nil); err != nil || v.Rederived != benchRecords {
			b.Fatal(v.Lines, v.Contradictions, v.ImpossibleFor, err)
		}
	})
}

// measure reports records for each second of processor time and core: the
// machine may be busy with other things.
func measure(b *testing.B, run func()) {
	b.Helper()
	b.ReportAllocs()
	began, n := processorTime(b), 0
	for b.Loop() {
		run()
		n += benchRecords
	}
	spent := processorTime(b) - began
	b.ReportMetric(float64(spent.Nanoseconds())/float64(n), "cpu-ns/record")
	b.ReportMetric(float64(n)/spent.Seconds()*2, "records/s/2cores")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
