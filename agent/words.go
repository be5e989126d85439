package agent

import (
	"embed"
	"math/bits"
	"strings"
)

// class says what a word of a User-Agent means to the rules.
type class uint32

const (
	// browser words are the vocabulary of people's browsers, the four classes
	// below it included: never a reason, never a token.
	browser class = 1 << iota
	engine
	platform
	handset // phones, tablets, television sets, consoles
	app     // apps that show pages
	// generic words say nothing of whose bot it is: never a token.
	generic
	// automated words give a bot away: bot words, automation, HTTP libraries.
	automated
	// listed words and phrases come from crawler-user-agents.
	listed
	// hinting words are unknown ones with a weak fragment.
	hinting
	// browserly words are unknown ones that browsers' names are made of.
	browserly
	// ending words are the two after which a browser's header is complete.
	ending
	// special words change how what follows is read: compatible, like, KHTML and
	// AppleWebKit.
	compat
	like
	khtml
	webkit
	// base words have the version of the browser that others are built on.
	base
	// domain marks a phrase with a bare domain name in it.
	domain
	// whole marks a phrase of one word, or one that a list has as a phrase.
	whole
)

const special = compat | like | khtml | webkit

//go:embed words/*.txt
var wordFiles embed.FS

// slot is one place of the hash table: a lower-case word or phrase.
type slot struct {
	key   key
	text  string
	class class
}

// vocabulary is an open-addressing hash table of every word that a list has.
// It is built once and only read afterwards.
var vocabulary, vocabularyMask = buildVocabulary()

func buildVocabulary() ([]slot, uint64) {
	classes := make(map[string]class)
	for _, file := range []struct {
		name  string
		class class
	}{
		{"browser", browser},
		{"apps", browser | app},
		{"engine", browser | engine},
		{"platform", browser | platform},
		{"handset", browser | platform | handset},
		{"generic", generic},
		{"automated", automated},
		{"crawlers", listed},
	} {
		class := file.class
		for line := range wordLines(file.name) {
			if section, ok := strings.CutPrefix(line, "["); ok {
				class = file.class
				if section == "generic]" {
					class |= generic
				}
				continue
			}
			if file.class == listed { // one word or phrase a line
				classes[line] |= class
				continue
			}
			for word := range strings.FieldsSeq(line) {
				classes[word] |= class
			}
		}
	}
	classes["compatible"] |= compat
	classes["like"] |= like
	classes["khtml"] |= khtml
	classes["applewebkit"] |= webkit
	classes["safari"] |= ending | browser
	classes["firefox"] |= ending
	for _, word := range []string{"chrome", "chromium", "firefox", "version"} {
		classes[word] |= base
	}
	table := make([]slot, 1<<bits.Len(uint(len(classes)*2)))
	mask := uint64(len(table) - 1)
	for text, class := range classes {
		k := keyOf(text, 0, len(text))
		i := k.hash() & mask
		for table[i].text != "" {
			i = (i + 1) & mask
		}
		table[i] = slot{k, text, class}
	}
	return table, mask
}

// wordLines yields the lines of a word list without comments and blank lines.
func wordLines(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		text, err := wordFiles.ReadFile("words/" + name + ".txt")
		if err != nil {
			panic("agent: " + err.Error()) // the lists are compiled in
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// key is the first and the last eight bytes of a word without the bit that
// tells capitals from small letters; no two bytes of words differ in that bit
// alone but for it. Up to sixteen bytes a word is its key and its length.
type key struct{ head, tail, length uint64 }

const lower = 0x2020202020202020

// keyOf returns the key of h[start:end], which is not empty.
func keyOf(h string, start, end int) key {
	n := end - start
	if n >= 8 {
		return key{load(h[start:]) | lower, load(h[end-8:]) | lower, uint64(n)}
	}
	var w uint64
	if start+8 <= len(h) {
		w = load(h[start:]) & (1<<(8*n) - 1)
	} else {
		for i := end - 1; i >= start; i-- {
			w = w<<8 | uint64(h[i])
		}
	}
	return key{head: w | lower, length: uint64(n)}
}

// load returns the first eight bytes of s.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func (k key) hash() uint64 {
	h := (k.head^k.length)*0x9e3779b97f4a7c15 ^ k.tail*0xd6e8feb86659fd93
	return h ^ h>>29 ^ h>>47
}

// lookup returns the class of a word or phrase, 0 for one that no list has.
func lookup(s string) class {
	if s == "" {
		return 0
	}
	return lookupIn(s, 0, len(s))
}

// lookupIn is lookup of h[start:end], which is not empty.
func lookupIn(h string, start, end int) class {
	k := keyOf(h, start, end)
	for i := k.hash() & vocabularyMask; ; i = (i + 1) & vocabularyMask {
		switch slot := &vocabulary[i]; {
		case slot.class == 0:
			return 0
		case slot.key == k && (end-start <= 16 || foldEqual(h[start:end], slot.text)):
			return slot.class
		}
	}
}

// foldEqual compares s with a lower-case text, ignoring the case of ASCII
// letters in s.
func foldEqual(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		if s[i] != lower[i] && folded[s[i]] != lower[i] {
			return false
		}
	}
	return true
}

// hasPrefix reports whether s has a lower-case prefix, in any case.
func hasPrefix(s, lower string) bool {
	return len(s) >= len(lower) && foldEqual(s[:len(lower)], lower)
}

// folded maps ASCII capitals to small letters and every other byte to itself.
var folded = func() (t [256]byte) {
	for c := range 256 {
		t[c] = byte(c)
		if 'A' <= c && c <= 'Z' {
			t[c] += 'a' - 'A'
		}
	}
	return t
}()
