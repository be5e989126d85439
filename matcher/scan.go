package matcher

import (
	"slices"
	"strings"
)

// scanList holds rules that are tried one after the other, by falling
// precedence: all with wildcards, and those without where they are few.
type scanList struct {
	probes []probe // of the rules in the same places
	rules  []scanRule
}

// probe is the first octets of a pattern, up to eight and up to the first "*",
// as a little-endian number, the mask of where they stand in it, and the octets
// of the whole pattern, without all of which a URL need not be looked at.
type probe struct {
	first, mask uint64
	octets      octetSet
}

// scanRule is a rule with the places of its first and last "*", -1 without.
type scanRule struct {
	rule
	firstStar, lastStar int32
}

func newScanRule(r rule, wild bool) scanRule {
	s := scanRule{r, -1, -1}
	if wild {
		s.firstStar = int32(strings.IndexByte(r.text(), '*'))
		s.lastStar = int32(strings.LastIndexByte(r.text(), '*'))
	}
	return s
}

func newScanList(rules []scanRule) scanList {
	list := scanList{rules: slices.Clone(rules), probes: make([]probe, len(rules))}
	slices.SortFunc(list.rules, func(a, b scanRule) int {
		if a.rank > b.rank {
			return -1
		}
		return 1
	})
	for i := range list.rules {
		r := &list.rules[i]
		literal := r.text()
		if r.firstStar >= 0 {
			literal = literal[:r.firstStar]
		}
		list.probes[i] = probe{
			first:  load(literal),
			mask:   ^uint64(0) >> (64 - 8*min(len(literal), 8)),
			octets: octetsOf(r.text()) & present,
		}
	}
	return list
}

// load returns the first eight octets of s as a little-endian number, zeros
// following a shorter s.
func load(s string) uint64 {
	if len(s) >= 8 {
		return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	}
	var n uint64
	for i := range len(s) {
		n |= uint64(s[i]) << (8 * i)
	}
	return n
}

// best returns the rule of highest precedence that matches form and has more
// than rank, nil without one. octets are those of form.
func (l *scanList) best(form string, octets octetSet, rank uint64) *rule {
	if len(form) < longForm || len(l.rules) < manyScanned {
		return l.search(form, octets, rank, nil)
	}
	where := newPlaces(strings.Clone(form)) // which may be on the stack
	defer where.done()
	return l.search(form, octets, rank, where)
}

func (l *scanList) search(form string, octets octetSet, rank uint64, where *places) *rule {
	first := load(form)
	for i := range l.probes {
		p := &l.probes[i]
		if first&p.mask != p.first || p.octets&^octets != 0 {
			continue
		}
		r := &l.rules[i]
		if r.rank < rank {
			return nil
		}
		if r.matches(form, where) {
			return &r.rule
		}
	}
	return nil
}

// matches reports whether the pattern matches a form whose first octets fit. It
// never backtracks: the leftmost place for what stands between two "*" leaves
// the most room for the rest, so it costs at most the length of both. where is
// of the form, or nil.
func (r *scanRule) matches(form string, where *places) bool {
	text := r.text()
	if r.firstStar < 0 {
		return strings.HasPrefix(form, text) && (len(form) == len(text) || !r.atEnd())
	}
	prefix, last := int(r.firstStar), int(r.lastStar)
	if prefix > 8 && !strings.HasPrefix(form, text[:prefix]) {
		return false
	}
	end, segments := len(form), text[prefix+1:]
	if r.atEnd() {
		end -= len(text) - last - 1
		if end < prefix || form[end:] != text[last+1:] {
			return false
		}
		if last == prefix {
			return true
		}
		segments = text[prefix+1 : last]
	}
	if where != nil {
		return where.containsSegments(prefix, end, segments)
	}
	return containsSegments(form[prefix:end], segments)
}

// containsSegments reports whether what stands between the "*" of text occurs in
// form in this order, without overlap.
func containsSegments(form, text string) bool {
	for {
		segment, rest, more := strings.Cut(text, "*")
		i := strings.Index(form, segment)
		if i < 0 {
			return false
		}
		if !more {
			return true
		}
		form, text = form[i+len(segment):], rest
	}
}

func (l *scanList) size() int {
	size := 24*cap(l.probes) + 32*cap(l.rules)
	for i := range l.rules {
		size += l.rules[i].size()
	}
	return size
}
