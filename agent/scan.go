package agent

import "strings"

// kind is the lexical role of a byte.
type kind uint8

const (
	other     kind = iota // ends a word and a phrase
	wordByte              // part of a word
	separator             // ends an item: ; and ,
	space
	opening
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
			t[c] = opening
		case b == ')':
			t[c] = closing
		}
	}
	return t
}()

// scanner walks a header once, reads it as products with versions and as
// comments in parentheses with their items, and tells the report what it finds.
type scanner struct {
	r *report
	h string

	depth      int   // of parentheses
	comments   int   // opened so far
	compatible int   // depth+1 at which "compatible" was read, 0 outside its scope
	named      bool  // a word has followed "compatible"
	layout     bool  // the comment opened with "KHTML": it is not for apps
	words      int   // words read so far
	skip       bool  // the last word was "like"
	last       class // of the last word
	major      int   // version of the browser that a product may be built on
	phrase     phrase
	item       phrase // the first unknown name among the systems
	brief      bool   // stop at done
	done       bool   // the best name that there can be is found
}

// What most browsers, and the bots that copy them, have in their headers. Read
// word by word it would come to the same.
const (
	commonStart  = "Mozilla/5.0 ("
	commonEngine = "AppleWebKit/537.36 (KHTML, like Gecko)"
	commonEnd    = "Safari/537.36"
)

// phrase is a run of words of one item that are not a browser's, such as
// "Screaming Frog SEO Spider".
type phrase struct {
	start, end int
	words      int
	class      class // of all its words together, and of the phrase
	named      bool  // one word at least is not generic
	first      bool  // it opens the header
}

// scan walks the header and reports whether it came to the end.
func (s *scanner) scan() bool {
	h := s.h
	i := 0
	if strings.HasPrefix(h, commonStart) {
		s.r.seen, s.words = browser, 1
		s.depth, s.comments = 1, 1
		i = len(commonStart)
	}
	for i < len(h) {
		if s.done {
			return false
		}
		switch kinds[h[i]] {
		case wordByte:
			i = s.word(i)
			continue
		case space:
		case opening:
			s.flush(false)
			s.depth++
			s.comments++
			s.layout = false
		case closing:
			s.flush(false)
			s.layout = false
			if s.depth > 0 {
				s.depth--
			}
			if s.compatible > s.depth+1 {
				s.compatible, s.named = 0, false
			}
		default:
			s.flush(false)
		}
		i++
	}
	s.flush(false)
	return true
}

// word reads the word, URL or e-mail address that starts at i, with the
// version behind it, and returns the index of what follows.
func (s *scanner) word(i int) int {
	h, start := s.h, i
	if c := h[i]; (c == 'A' || c == 'S') && !s.skip && s.compatible == 0 {
		if end := s.common(i); end > i {
			return end
		}
	}
	for i < len(h) && kinds[h[i]] == wordByte {
		i++
	}
	if i < len(h) && (h[i] == ':' || h[i] == '@') {
		if rule := addressRule(h[i:]); rule != 0 {
			s.flush(false)
			end := addressEnd(h, i)
			s.r.find(rule, start, end)
			return end
		}
	}
	s.words++
	if i == start+1 && !letter(h[start]) && !isDigit(h[start]) && h[start] < 0x80 {
		s.flush(false) // a dash between two names
		return i
	}
	if s.skip {
		s.skip = false
		s.r.seen |= lookupIn(h, start, i) & (engine | browser)
		return versionEnd(h, i)
	}
	if b := h[start] | 0x20; (isDigit(b) || b == 'v') && isVersion(h[start:i]) {
		s.flush(true)
		return versionEnd(h, i)
	}
	s.classify(start, i)
	end := versionEnd(h, i)
	if s.last&browser != 0 && end == i {
		if end = detailEnd(h, i); end > i {
			s.r.seen |= lookupIn(h, i+1, end) & handset
		}
	}
	if end != i {
		s.r.modern = s.r.modern || s.last&engine != 0 && h[i+1:end] == "20100101"
		if s.last&base != 0 {
			s.major = major(h[i+1 : end])
		}
		s.flush(true)
	}
	return end
}

// common reads one of the common parts that may begin at i, and returns where
// it ends, or i.
func (s *scanner) common(i int) int {
	switch h := s.h; {
	case strings.HasPrefix(h[i:], commonEngine):
		s.flush(false)
		s.r.seen |= browser | engine
		s.r.modern = s.r.modern || s.depth == 0
		s.words += 4
		s.comments++
		return i + len(commonEngine)
	case strings.HasPrefix(h[i:], commonEnd) && (i+len(commonEnd) == len(h) || h[i+len(commonEnd)] == ' '):
		s.flush(false)
		s.r.seen |= browser | ending
		s.words++
		return i + len(commonEnd)
	}
	return i
}

// classify looks the word up and adds it to the phrase or ends the phrase.
func (s *scanner) classify(start, end int) {
	r, w := s.r, s.h[start:end]
	c := lookupIn(s.h, start, end)
	if c&app != 0 && (s.words == 1 || s.compatible > 0 && !s.named) {
		c &^= browser
	}
	s.last = c
	if c&browser != 0 {
		s.flush(false)
		r.seen |= c
		if s.compatible > 0 {
			s.named = true
		}
		if c&special != 0 {
			s.special(c, end < len(s.h) && kinds[s.h[end]] == separator)
		}
		return
	}
	if c&^generic == 0 {
		c = unlisted(w, c)
	}
	p := &s.phrase
	if p.words > 0 && (p.end+1 != start || s.h[p.end] != ' ') {
		s.flush(false)
	}
	if p.words == 0 {
		*p = phrase{start: start, first: s.words == 1}
	}
	p.words++
	p.end = end
	p.class |= c
	if c&generic == 0 {
		p.named = true
	}
}

// special handles the words that change how what follows is read. "compatible"
// does where a separator follows: not "compatible with".
func (s *scanner) special(c class, separated bool) {
	switch {
	case c&like != 0:
		s.skip = true
	case c&compat != 0:
		if separated {
			s.compatible, s.named = s.depth+1, false
		}
	case c&webkit != 0:
		s.r.modern = s.r.modern || s.depth == 0
	case c&khtml != 0:
		s.layout = s.depth > 0 && s.comments > 1
	}
}

// flush ends the phrase, if there is one.
func (s *scanner) flush(versioned bool) {
	if s.phrase.words > 0 {
		s.end(versioned)
	}
}

// end ends the phrase: it may be a reason, and it may be the sender's name.
func (s *scanner) end(versioned bool) {
	p := &s.phrase
	if p.words == 1 {
		p.class |= whole
	} else if p.end-p.start <= maxToken {
		if c := lookupIn(s.h, p.start, p.end); c != 0 {
			p.class |= c | whole
		}
	}
	s.judge(p)
	if p.named && p.words <= maxPhrase && p.end-p.start <= maxToken && (p.class&(automated|listed) != 0 || !s.device()) {
		c := candidate{
			start: uint16(p.start), end: uint16(p.end),
			score: s.score(p, versioned), outside: s.depth == 0,
		}
		s.r.propose(c)
		s.done = s.brief && s.r.bot && c.score == bestScore && !c.outside
	}
	if s.compatible > 0 {
		s.named = true
	}
	p.words = 0
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

// detailEnd returns the end of what a browser's word ending at i has behind its
// slash: "AlexaToolbar/alxg-3.1", "Debian/squeeze".
func detailEnd(h string, i int) int {
	if i+1 < len(h) && h[i] == '/' && kinds[h[i+1]] == wordByte {
		for i++; i < len(h) && kinds[h[i]] == wordByte; i++ {
		}
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
		if letter(w[i]) {
			letters++
		}
	}
	return letters <= 1
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func letter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
