package intercept

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func TestSkip(t *testing.T) {
	patterns, err := parsePatterns([]string{"Pinned.Example.", "*.bank.test", "192.0.2.1", "::1", "[2001:db8::1]", "bücher.test"})
	if err != nil {
		t.Fatal(err)
	}
	i := &Intercept{skip: patterns}
	for host, want := range map[string]bool{
		"pinned.example": true, "sub.pinned.example": false, "a.bank.test": true, "a.b.bank.test": true, "bank.test": false,
		"xbank.test": false, "192.0.2.1": true, "::1": true, "2001:db8::1": true, "xn--bcher-kva.test": true,
	} {
		if got := i.skips(host); got != want {
			t.Errorf("%s: skipped %v, want %v", host, got, want)
		}
	}
	for _, word := range []string{"", "*.", "a.*.test", "https://a.test", "a.test:443", "a.test:8443", "a.test/x", "user@a.test", "[a.test]"} {
		if got, err := parsePatterns([]string{word}); err == nil {
			t.Errorf("%q was accepted as %v", word, got)
		}
	}
}

// TestCaddyfile: wrong words are refused where they stand.
func TestCaddyfile(t *testing.T) {
	for text, want := range map[string]string{
		"tls_intercept {\n ca mine\n skip a.test *.b.test\n skip c.test\n leaf_lifetime 1h\n max_leaves 5\n}": "",
		"tls_intercept":                                "",
		"tls_intercept {\n ca local\n}":                "ca: local",
		"tls_intercept {\n ca a\n ca b\n}":             "given twice",
		"tls_intercept {\n ca a b\n}":                  "surplus argument 'b'",
		"tls_intercept {\n skip\n}":                    "lacks a value",
		"tls_intercept {\n skip a.test:443\n}":         "names a port",
		"tls_intercept {\n leaf_lifetime never\n}":     "'never' is no duration",
		"tls_intercept {\n max_leaves -1\n}":           "'-1' is no whole number",
		"tls_intercept {\n trust everyone\n}":          "unrecognized subdirective 'trust'",
		"tls_intercept here":                           "surplus argument 'here'",
		"tls_intercept {\n max_leaves 5\n ca local\n}": ":3",
	} {
		err := new(Intercept).UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want))):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
