package agent

// kind is the lexical role of a byte.
type kind uint8

const (
	other     kind = iota // ends a word and a phrase
	wordByte              // part of a word
	separator             // ends an item: ; and ,
	space
	open
	closing
)

var kinds = func() (t [256]kind) {
	for c := range 256 {
		switch b := byte(c); {
		case 'a' <= b|0x20 && b|0x20 <= 'z', '0' <= b && b <= '9', b >= 0x80:
			t[c] = wordByte
		case b == '_' || b == '.' || b == '-' || b == '!' || b == '\'' || b == '&':
			t[c] = wordByte
		case b == ';' || b == ',':
			t[c] = separator
		case b == ' ' || b == '\t':
			t[c] = space
		case b == '(':
			t[c] = open
		case b == ')':
			t[c] = closing
		}
	}
	return t
}()

// scanner walks a header once and hands its words to the report.
type scanner struct {
	r *report

	depth      int  // of parentheses
	comments   int  // opened so far
	compatible int  // depth+1 at which "compatible" was read, 0 outside its scope
	named      bool // a word has followed "compatible"
	words      int  // words read so far
	like       bool // the last word was "like"
	phrase     phrase
}

// phrase is a run of words that no list explains, such as "Screaming Frog".
type phrase struct {
	start, end int
	words      int
	class      class // of all its words together
	bare       bool  // generic words only
	first      bool  // opens the header
}

func (s *scanner) scan(h string) {
	for i := 0; i < len(h); {
		switch kinds[h[i]] {
		case wordByte:
			i = s.word(h, i)
			continue
		case open:
			s.flush(false)
			s.depth++
			s.comments++
		case closing:
			s.flush(false)
			if s.depth > 0 {
				s.depth--
			}
			if s.compatible > s.depth+1 {
				s.compatible, s.named = 0, false
			}
		case separator, other:
			s.flush(false)
		}
		i++
	}
	s.flush(false)
}

// word reads the word, URL or e-mail address that starts at h[i], with the
// version behind it, and returns the index of what follows.
func (s *scanner) word(h string, i int) int {
	start := i
	for i < len(h) && kinds[h[i]] == wordByte {
		i++
	}
	switch {
	case hasPrefix(h, i, "://"), hasPrefix(h, start, "www."):
		s.flush(false)
		end := addressEnd(h, i)
		s.r.find(ruleURL, start, end)
		return end
	case i+1 < len(h) && h[i] == '@' && kinds[h[i+1]] == wordByte:
		s.flush(false)
		end := addressEnd(h, i)
		s.r.find(ruleEmail, start, end)
		return end
	}
	s.words++
	if s.like {
		s.like = false
		return versionEnd(h, i)
	}
	if isVersion(h[start:i]) {
		s.flush(true)
		return versionEnd(h, i)
	}
	s.classify(h, start, i)
	if end := versionEnd(h, i); end != i {
		s.flush(true)
		return end
	}
	return i
}

// classify looks the word up and adds it to the phrase or ends the phrase.
func (s *scanner) classify(h string, start, end int) {
	c := lookup(h[start:end])
	r := s.r
	if c&browser != 0 {
		s.flush(false)
		r.seen |= c
		if s.comments == 1 && s.depth == 1 && c&platform != 0 {
			r.platform = true
		}
		s.named = s.compatible > 0
		switch w := h[start:end]; {
		case foldEqual(w, "like"):
			s.like = true
		case foldEqual(w, "compatible"):
			s.compatible, s.named = s.depth+1, false
		}
		return
	}
	if c == 0 && fragment(h[start:end]) {
		c = automated
	}
	if c&automated != 0 {
		r.find(ruleWord, start, end)
	}
	if s.phrase.words > 0 && (s.phrase.end+1 != start || h[s.phrase.end] != ' ') {
		s.flush(false)
	}
	if s.phrase.words == 0 {
		s.phrase = phrase{start: start, bare: true, first: s.words == 1}
	}
	s.phrase.words++
	s.phrase.end = end
	s.phrase.class |= c
	if c&generic == 0 {
		s.phrase.bare = false
	}
}

// flush ends the phrase and rates it as a name.
func (s *scanner) flush(versioned bool) {
	p := s.phrase
	if p.words == 0 {
		return
	}
	s.phrase = phrase{}
	score := 0
	switch {
	case s.compatible > 0 && s.depth+1 == s.compatible:
		score = 90
		if s.named {
			score = 60
		} else if !p.bare {
			s.r.find(ruleCompatible, p.start, p.end)
		}
		s.named = true
	case s.depth == 0 && p.first:
		score = 85
	case s.depth == 0:
		score = 75
	case versioned:
		score = 65
	default:
		score = 40
	}
	if p.class&automated != 0 {
		score += 15
	}
	if p.bare || p.end-p.start > maxToken || p.words > maxPhrase {
		return
	}
	s.r.propose(candidate{start: p.start, end: p.end, words: p.words, score: score, outside: s.depth == 0})
}

// versionEnd returns the end of the version that follows a word ending at i:
// "/1.0", "/v2". A slash before anything else separates words.
func versionEnd(h string, i int) int {
	if i+1 >= len(h) || h[i] != '/' || !versionStart(h[i+1:]) {
		return i
	}
	for i++; i < len(h) && (kinds[h[i]] == wordByte || h[i] == '/'); i++ {
	}
	return i
}

func versionStart(s string) bool {
	return isDigit(s[0]) || len(s) > 1 && s[0]|0x20 == 'v' && isDigit(s[1])
}

// isVersion reports whether a word is a number rather than a name: "10.0",
// "v1.5". A name may start with digits ("360Spider").
func isVersion(w string) bool {
	if !versionStart(w) {
		return false
	}
	letters := 0
	for i := range len(w) {
		if 'a' <= w[i]|0x20 && w[i]|0x20 <= 'z' {
			letters++
		}
	}
	return letters <= 1
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// addressEnd returns the end of the URL or e-mail address that h[i] is inside.
func addressEnd(h string, i int) int {
	for i < len(h) {
		switch h[i] {
		case ' ', '\t', ')', ';', ',', '"', '<', '>':
			return i
		}
		i++
	}
	return i
}

func hasPrefix(h string, i int, prefix string) bool {
	return len(h)-i >= len(prefix) && foldEqual(h[i:i+len(prefix)], prefix)
}

// foldEqual compares s with a lower-case ASCII word.
func foldEqual(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		if fold(s[i]) != lower[i] {
			return false
		}
	}
	return true
}

func fold(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b | 0x20
	}
	return b
}

// lookup returns the class of a word, 0 for one that no list has.
func lookup(w string) class {
	var buf [maxToken]byte
	if len(w) > len(buf) {
		return 0
	}
	for i := range len(w) {
		buf[i] = fold(w[i])
	}
	return vocabulary[string(buf[:len(w)])]
}

var fragments = []string{
	"bot", "crawl", "spider", "scrap", "slurp", "headless", "phantom", "fetch",
	"monitor", "archive", "validator", "scanner", "preview", "feed", "http",
	"check", "curl", "python", "agent", "audit", "uptime", "webdriver",
}

// fragment reports whether an unknown word contains one of the fragments.
func fragment(w string) bool {
	for i := range len(w) {
		for _, f := range fragments {
			if hasPrefix(w, i, f) {
				return true
			}
		}
	}
	return false
}
