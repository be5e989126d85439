package parser

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzParse holds for any octets what Parse and Inspect promise.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\r\nDisallow: /private # not here\rAllow: /\nSitemap: https://e/s.xml"))
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		r := Parse(body)
		if !bytes.Equal(body, given) {
			t.Fatal("Parse changed its input")
		}
		if size := r.Size(); size > 2*len(body)+2*slack {
			t.Errorf("%d octets kept of %d", size, len(body))
		}
		var groups []ReportGroup
		last := 0
		for g := range r.Groups() {
			group := ReportGroup{Line: g.Line(), Agents: slices.Collect(g.Agents()), Rules: slices.AppendSeq([]Rule{}, g.Rules())}
			groups = append(groups, group)
			if g.Line() <= last || len(group.Agents) == 0 || g.RuleCount() != len(group.Rules) {
				t.Fatalf("group %+v after line %d, %d rules counted", group, last, g.RuleCount())
			}
			last = group.Agents[len(group.Agents)-1].Line
			for _, rule := range group.Rules {
				if rule.Line <= last || rule.Pattern == "" || trim(rule.Pattern) != rule.Pattern {
					t.Fatalf("rule %+v after line %d", rule, last)
				}
				last = rule.Line
			}
		}
		report := Inspect(body)
		if !slices.EqualFunc(report.Groups, groups, func(a, b ReportGroup) bool {
			return a.Line == b.Line && slices.Equal(a.Agents, b.Agents) && slices.Equal(a.Rules, b.Rules)
		}) {
			t.Errorf("Inspect sees other groups: %+v, want %+v", report.Groups, groups)
		}
		for _, w := range report.Warnings {
			if w.Line < 1 || w.Code == "" || w.Message == "" || w.Line > max(report.Lines, 1) {
				t.Errorf("warning %+v in a file of %d lines", w, report.Lines)
			}
		}
		sameLines(t, decode(body))
	})
}

// sameLines compares the fast way to read a file with the other.
func sameLines(t *testing.T, body []byte) {
	var fast, slow writer
	if !fast.readLF(body) {
		return
	}
	slow.read(body)
	if !bytes.Equal(fast.buf[:fast.n], slow.buf[:slow.n]) {
		t.Errorf("read fast: %q, else %q", fast.buf[:fast.n], slow.buf[:slow.n])
	}
}

// FuzzNormalize holds for any octets what Normalize promises.
func FuzzNormalize(f *testing.F) {
	f.Add("/a%2fb%61?c=d*$ \xe9")
	f.Fuzz(func(t *testing.T, path string) {
		form := Normalize(path)
		if len(form) > 3*len(path) {
			t.Errorf("%q became %q", path, form)
		}
		for i := range len(form) {
			if form[i] != '%' && octets[form[i]]&plain == 0 {
				t.Errorf("%q has an octet that is no part of a normal form: %q", path, form)
			}
		}
		if got := string(AppendNormal([]byte("x"), path)); got != "x"+form {
			t.Errorf("appended: %q, want %q", got, "x"+form)
		}
		text, atEnd := NormalizePattern(path)
		if _, want := NormalizePattern(path + "$"); !want || atEnd != (path != "" && path[len(path)-1] == '$') {
			t.Errorf("end of %q: %t", path, atEnd)
		}
		for i := range len(text) {
			if text[i] != '%' && text[i] != '*' && octets[text[i]]&plain == 0 {
				t.Errorf("%q has an octet that is no part of a pattern: %q", path, text)
			}
		}
	})
}
