package matcher

import (
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/parser"
)

func TestVerdictAllocatesNothing(t *testing.T) {
	few := "User-agent: *\nDisallow: /a/*/b\nAllow: /a/x\nDisallow: /*.pdf$\n"
	many := few + strings.Repeat("Disallow: /literal\nDisallow: /p/*/q\n", 40)
	for name, file := range map[string]string{"few rules": few, "many rules": many} {
		m := New(parser.Parse([]byte(file)), "examplebot")
		for _, path := range []string{"/a/c/b?d", "/caf\xc3\xa9/%7ejoe.pdf", "/literal"} {
			if n := testing.AllocsPerRun(100, func() { m.Match(path) }); n != 0 {
				t.Errorf("%s: Match(%q) allocates %v times", name, path, n)
			}
			if n := testing.AllocsPerRun(100, func() { m.MatchStrict(path) }); n != 0 {
				t.Errorf("%s: MatchStrict(%q) allocates %v times", name, path, n)
			}
		}
	}
}
