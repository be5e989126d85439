package agent

import "testing"

var sink int

func BenchmarkIdentify(b *testing.B) {
	for _, bb := range []struct{ name, userAgent string }{
		{"kind=browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36 Edg/124.0"},
		{"kind=listed", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
		{"kind=mobilebot", "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 (compatible; Googlebot/2.1)"},
		{"kind=tool", "curl/8.5.0"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var r report
				examine(&r, bb.userAgent)
				sink += int(r.found)
			}
		})
	}
}
