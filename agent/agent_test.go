package agent

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"

func TestIdentify(t *testing.T) {
	tests := []struct {
		userAgent string
		bot       bool
		name      string
		tokens    []string
	}{
		{"", true, "", nil},
		{" \t", true, "", nil},
		{chrome, false, "", nil},
		{"Googlebot-News/1.0", true, "Googlebot-News", []string{"Googlebot-News", "Googlebot"}},
		{"Mozilla/5.0 (compatible; Example Finder/2.0)", true, "Example Finder", []string{"Example Finder", "Finder"}},
		{chrome + " (compatible; Acme/1.0)", true, "Acme", []string{"Acme"}},
		{"Mozilla/5.0", true, "", nil},
		{strings.Repeat("x", MaxExamined) + "bot", true, "", nil},
	}
	for _, tt := range tests {
		a := Identify(tt.userAgent)
		if a.Bot != tt.bot || a.Name != tt.name || !slices.Equal(a.Tokens(), tt.tokens) {
			t.Errorf("Identify(%q) = %v %q %q, want %v %q %q", tt.userAgent, a.Bot, a.Name, a.Tokens(), tt.bot, tt.name, tt.tokens)
		}
		if len(Explain(tt.userAgent)) == 0 {
			t.Errorf("Explain(%q) gives no reason", tt.userAgent)
		}
	}
}

func TestOperatorsWords(t *testing.T) {
	id := NewIdentifier([]string{"acme desk", "", "BÜro"}, []string{"HANDSET"})
	tests := []struct {
		userAgent string
		bot       bool
		why       string
	}{
		{chrome + " Acme Desk", true, `"acme desk", one of the operator's bot words`},
		{"Handset/1.0", false, `"handset", one of the operator's not_bot words`},
		{"handset acme desk", false, "not_bot"},
		{chrome + " BÜRO", true, `"bÜro"`},
		{"curl/8.5.0", true, "crawler-user-agents lists"},
		{"", true, "missing or has no word"},
	}
	for _, tt := range tests {
		if a := id.Identify(tt.userAgent); a.Bot != tt.bot {
			t.Errorf("Identify(%q).Bot = %v", tt.userAgent, a.Bot)
		}
		if why := strings.Join(id.Explain(tt.userAgent), "; "); !strings.Contains(why, tt.why) {
			t.Errorf("Explain(%q) = %s, want %s in it", tt.userAgent, why, tt.why)
		}
	}
	var none *Identifier
	if a := none.Identify("curl/8.5.0"); !a.Bot || a.Name != "curl" {
		t.Errorf("nil Identifier: %+v", a)
	}
}

// TestNoAllocations holds that a header with a name that came before costs no
// memory, whether the header itself came before or not.
func TestNoAllocations(t *testing.T) {
	for _, h := range headers {
		Identify(h.userAgent)
		if n := testing.AllocsPerRun(100, func() { sink += len(Identify(h.userAgent).Tokens()) }); n != 0 {
			t.Errorf("a repeated header of kind %s costs %v allocations", h.name, n)
		}
		if n := testing.AllocsPerRun(100, func() { sink += len(plain.examine(h.userAgent).Tokens()) }); n != 0 {
			t.Errorf("a new header of kind %s costs %v allocations", h.name, n)
		}
	}
}

// TestConcurrentUse is for the race detector: more headers than the caches
// hold, asked for from several sides, get the answers they get alone.
func TestConcurrentUse(t *testing.T) {
	id := NewIdentifier([]string{"desk"}, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 6 * answerSets * ways {
				n := i / 3 % (answerSets * ways * 2) // three times each, to get into the cache
				ua := fmt.Sprintf("Acme%dbot/1.0", n)
				if a := id.Identify(ua); !a.Bot || a.Name != ua[:len(ua)-4] || len(a.Tokens()) != 1 {
					t.Errorf("Identify(%q) = %+v", ua, a)
					return
				}
			}
		})
	}
	wg.Wait()
}
