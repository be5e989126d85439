package parser

import "testing"

func TestParseAllocates(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /private\nSitemap: https://e/s.xml\n")
	if n := testing.AllocsPerRun(100, func() { Parse(body) }); n > 3 {
		t.Errorf("Parse allocates %v times, want at most 3", n)
	}
}
