package agent

import "testing"

var sink int

var headers = []struct{ name, userAgent string }{
	{"browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36 Edg/124.0"},
	{"listed", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{"mobilebot", "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 (compatible; Googlebot/2.1)"},
	{"tool", "curl/8.5.0"},
}

// BenchmarkIdentify measures headers that come for the first time, with names
// that have come before, and repeated ones.
func BenchmarkIdentify(b *testing.B) {
	for _, h := range headers {
		b.Run("kind="+h.name+"/seen=first", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink += len(plain.examine(h.userAgent).Tokens())
			}
		})
		b.Run("kind="+h.name+"/seen=again", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink += len(Identify(h.userAgent).Tokens())
			}
		})
	}
}
