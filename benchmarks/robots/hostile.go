package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
)

const (
	hostileFiles = 1000
	hostileSize  = 500 * 1024 // octets of a file
	hostileURL   = 16 * 1024  // octets of a URL
)

// measureHostile looks for the slowest decision: legal files made to be slow,
// and for each the URL it is made for, in all forms. What each kind of file takes
// goes to standard error.
func measureHostile(_ *corpus, _ int) {
	var worst time.Duration
	var worstAt string
	byFamily := make([]time.Duration, len(hostile))
	for i := range hostileFiles {
		family := i % len(hostile)
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		url, pattern := hostile[family].make(rng)
		m := matcher.New(parser.Parse(hostileFile(pattern)), token)
		best := time.Duration(1 << 62) // of three, as other processes disturb
		for range 3 {
			start := cpuTime()
			if v, _ := m.MatchStrict(url); v.Allowed {
				sink++
			}
			best = min(best, cpuTime()-start)
		}
		byFamily[family] = max(byFamily[family], best)
		if best > worst {
			worst, worstAt = best, hostile[family].name
		}
	}
	row(fmt.Sprintf("hostile: worst of %d files ≤ 500 KiB, 16 KB URL, one `paths strict` decision", hostileFiles),
		fmt.Sprintf("%s (%s)", duration(float64(worst)), worstAt), "", 0)
	for i, d := range byFamily {
		fmt.Fprintf(os.Stderr, "hostile: %s: worst %s\n", hostile[i].name, duration(float64(d)))
	}
}

// hostileFile is rules with as many patterns as fit.
func hostileFile(pattern func(i int) string) []byte {
	var b strings.Builder
	b.WriteString("User-agent:*\n")
	for i := 0; ; i++ {
		line := "allow:" + pattern(i) + "\n" // shorter than disallow, and no form ends the decision
		if b.Len()+len(line) > hostileSize {
			return []byte(b.String())
		}
		b.WriteString(line)
	}
}

// hostile are ways to be slow: a URL, and patterns for it that never match but
// take long to tell. Every URL has all that makes the five forms differ.
var hostile = []struct {
	name string
	make func(*rand.Rand) (url string, pattern func(i int) string)
}{
	{"one long pattern of *a", func(*rand.Rand) (string, func(int) string) {
		return stretch("a"), func(int) string { return "/" + strings.Repeat("*a", 8000) + "b" }
	}},
	{"many patterns of *a", func(*rand.Rand) (string, func(int) string) {
		return stretch("a"), func(i int) string { return "/" + strings.Repeat("*a", 1+i%500) + "*b" }
	}},
	{"runs of a before b", func(*rand.Rand) (string, func(int) string) {
		return stretch(strings.Repeat("a", 50) + "b"), func(i int) string {
			return "/*" + strings.Repeat("a", 51+i%200) + "b" + strings.Repeat("a", i/200)
		}
	}},
	{"long runs of a", func(rng *rand.Rand) (string, func(int) string) {
		n := 1000 + rng.IntN(3000)
		return stretch(strings.Repeat("a", n) + "b"), func(i int) string {
			return "/*" + strings.Repeat("a", n+1+i%1000) + "b" + strings.Repeat("a", n+1+i%7)
		}
	}},
	{"two letters", func(rng *rand.Rand) (string, func(int) string) {
		return stretch(letters(rng, 2, 4000)), func(int) string {
			p := "/"
			for range 1 + rng.IntN(6) {
				p += "*" + letters(rng, 2, 1+rng.IntN(14))
			}
			return p + "*z"
		}
	}},
	{"two letters, at the end", func(rng *rand.Rand) (string, func(int) string) {
		return stretch(letters(rng, 2, 4000)), func(int) string {
			p := "/"
			for range 1 + rng.IntN(6) {
				p += "*" + letters(rng, 2, 1+rng.IntN(14))
			}
			return p + "$"
		}
	}},
	{"pieces of the URL in the wrong order", func(rng *rand.Rand) (string, func(int) string) {
		url := stretch(letters(rng, 26, hostileURL))
		return url, func(int) string {
			late, early := len(url)/2+rng.IntN(len(url)/2-40), rng.IntN(len(url)/2-40)
			n := 4 + rng.IntN(9)
			return "*" + url[late:late+n] + "*" + url[early:early+n]
		}
	}},
	{"three pieces in the wrong order", func(rng *rand.Rand) (string, func(int) string) {
		url := stretch(letters(rng, 4, hostileURL))
		return url, func(int) string {
			third := len(url) / 3
			a, b, c := rng.IntN(third-40), third+rng.IntN(third-40), 2*third+rng.IntN(third-40)
			n := 4 + rng.IntN(8)
			return "*" + url[b:b+n] + "*" + url[a:a+n] + "*" + url[c:c+n]
		}
	}},
	{"long pieces of the URL", func(rng *rand.Rand) (string, func(int) string) {
		url := stretch(letters(rng, 3, 200))
		return url, func(int) string {
			at, n := rng.IntN(len(url)-1000), 30+rng.IntN(500)
			return "*" + url[at:at+n] + "*" + url[at+1:at+n/2] + "zz"
		}
	}},
	{"shortest patterns", func(rng *rand.Rand) (string, func(int) string) {
		return stretch(letters(rng, 20, hostileURL)), func(i int) string {
			return "*" + letters(rng, 26, 2+i%3) + "*z"
		}
	}},
	{"nested prefixes", func(*rand.Rand) (string, func(int) string) {
		return "/" + stretch("a")[1:], func(i int) string { return "/" + strings.Repeat("a", i%1000) }
	}},
	{"prefixes of the URL, last octet wrong", func(rng *rand.Rand) (string, func(int) string) {
		url := stretch(letters(rng, 26, hostileURL))
		return url, func(i int) string { return url[:1+i%2000] + letters(rng, 26, 2) }
	}},
	{"stars alone", func(*rand.Rand) (string, func(int) string) {
		return stretch("ab"), func(i int) string { return "/" + strings.Repeat("*", 1+i%3000) + "z" }
	}},
	{"common piece, then a missing one", func(rng *rand.Rand) (string, func(int) string) {
		return stretch("page"), func(i int) string { return fmt.Sprintf("/*p*a*g*e*%s*$", letters(rng, 5, 1+i%9)) }
	}},
	{"nearly periodic", func(rng *rand.Rand) (string, func(int) string) {
		unit := letters(rng, 3, 3+rng.IntN(60))
		return stretch(unit), func(int) string {
			at := rng.IntN(len(unit))
			s := strings.Repeat(unit, 8)[at : at+len(unit)+rng.IntN(len(unit)*6)]
			return "*" + s + "*" + s + letters(rng, 3, 1)
		}
	}},
	{"escapes", func(rng *rand.Rand) (string, func(int) string) {
		return stretch("%e3%83%84%61"), func(i int) string {
			return "/*" + strings.Repeat("%e3%83%84", 1+i%40) + "*%61" + letters(rng, 3, 3)
		}
	}},
	{"anything from few letters", func(rng *rand.Rand) (string, func(int) string) {
		return stretch(letters(rng, 3, 1+rng.IntN(6000))), func(int) string {
			p := []string{"/", "*", "/*"}[rng.IntN(3)]
			for range rng.IntN(30) {
				p += letters(rng, 3, rng.IntN(10)) + "*"
			}
			return p + letters(rng, 3, 1+rng.IntN(10)) + []string{"", "$", "*"}[rng.IntN(3)]
		}
	}},
}

// stretch repeats text to a URL of the full length, in which all forms differ.
// Every letter is in it, in an order in which patterns do not ask for them.
func stretch(text string) string {
	const start = "/x/../y//;p/%2F/zyxwvutsrqponmlkjihgfedcba/"
	n := hostileURL - len(start)
	return start + strings.Repeat(text, n/len(text)+1)[:n]
}

func letters(rng *rand.Rand, alphabet, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + rng.IntN(alphabet))
	}
	return string(b)
}
