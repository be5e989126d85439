package agent

import (
	"strings"
	"testing"
)

func TestRates(t *testing.T) {
	count := func(name string, want bool) {
		var n, wrong, mn, mwrong int
		for _, ua := range rows(t, name) {
			moz := strings.HasPrefix(ua, "Mozilla/5.0 (")
			n++
			if moz {
				mn++
			}
			if Identify(ua).Bot != want {
				wrong++
				if moz {
					mwrong++
				}
				if testing.Verbose() && (want || moz) {
					t.Log(name, ua, len(ua), Explain(ua)[0])
				}
			}
		}
		t.Logf("%s: %d of %d wrong (%.2f%%); Mozilla/5.0 ( %d of %d (%.2f%%)", name, wrong, n, 100*float64(wrong)/float64(n), mwrong, mn, 100*float64(mwrong)/float64(mn))
	}
	count("bots.dev.txt", true)
	count("tools.dev.txt", true)
	count("browsers.dev.txt", false)
}
