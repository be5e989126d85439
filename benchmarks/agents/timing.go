package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/robotsgate/robotsgate/agent"
)

// timed is a stream of headers that come one after the other.
type timed struct {
	name    string
	headers []string
	perOp   []float64 // nanoseconds, one a round
	allocs  uint64
	ops     int
}

const (
	rounds   = 21
	perRound = 40_000
	distinct = 30_000 // headers of a stream in which none is repeated soon
)

// timings measures the streams in turns, so that a busy machine hits all alike,
// and prints the median and the fastest round of each.
func timings(w io.Writer) {
	chrome := "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.20 Safari/537.36 OPR/110.0.0"
	streams := []*timed{
		{name: "hit: a listed bot, new headers", headers: stream("Mozilla/5.0 (compatible; bingbot/%d.%d; +http://www.bing.com/bingbot.htm) Chrome/124.0.6367.60 Safari/537.36 padding/1.0")},
		{name: "hit: an HTTP library, new headers", headers: stream("python-requests/%d.%d")},
		{name: "miss: a browser, new headers", headers: stream(chrome)},
		{name: "token: an unlisted bot, new headers", headers: stream("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.20 Safari/537.36 (compatible; Acmefinder/1.0)")},
		{name: "repeated: a browser", headers: []string{fmt.Sprintf(chrome, 124, 6367)}},
		{name: "repeated: an unlisted bot", headers: []string{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.6367.20 Safari/537.36 (compatible; Acmefinder/1.0)"}},
	}
	for range rounds {
		for _, s := range streams {
			s.round()
		}
	}
	fmt.Fprintf(w, "%-38s %8s %8s %10s\n", "Identify and Tokens, one goroutine", "median", "fastest", "allocs/op")
	for _, s := range streams {
		slices.Sort(s.perOp)
		fmt.Fprintf(w, "%-38s %5.0f ns %5.0f ns %10.3f\n", s.name, s.perOp[len(s.perOp)/2], s.perOp[0], float64(s.allocs)/float64(s.ops))
	}
}

func stream(format string) []string {
	headers := make([]string, distinct)
	for i := range headers {
		headers[i] = fmt.Sprintf(format, 100+i%97, i)
	}
	return headers
}

func (t *timed) round() {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	next, tokens := t.ops%len(t.headers), 0
	for range perRound {
		tokens += len(agent.Identify(t.headers[next]).Tokens())
		if next++; next == len(t.headers) {
			next = 0
		}
	}
	elapsed := time.Since(start)
	runtime.KeepAlive(tokens)
	runtime.ReadMemStats(&after)
	t.perOp = append(t.perOp, float64(elapsed.Nanoseconds())/perRound)
	t.allocs += after.Mallocs - before.Mallocs
	t.ops += perRound
}
