package integration_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSeededDefects proves that the comparison can fail: it runs on binaries
// that were broken on purpose, and each must be found out.
func TestSeededDefects(t *testing.T) {
	const judge = "internal/judge/judge.go"
	defects := map[string]patch{
		"decision inverted": {
			judge, "v, form = m.MatchStrict(path)\n",
			"v, form = m.MatchStrict(path)\n\t\tv.Allowed = !v.Allowed\n",
		},
		"query dropped before matching": {judge, "path := target.PathQuery()\n", "path := target.Path\n"},
		"named group ignored":           {judge, "m := c.Matcher(rec.Tokens...)\n", "m := c.Matcher()\n"},
	}
	for name, defect := range defects {
		t.Run(name, func(t *testing.T) {
			rig := newRig(t, buildBroken(t, defect), readSites(t, filepath.Join("testdata", "sites")), mode{})
			for _, c := range clients() {
				if c.name == "socket" {
					rig.send(t, c, 200)
				}
			}
			_, wrong := rig.finish()
			if len(wrong) == 0 {
				t.Fatal("the comparison finds no difference: it cannot tell this binary from a sound one")
			}
			if all := strings.Join(wrong, "\n"); !strings.Contains(all, "is to be recorded as") {
				t.Errorf("no difference is about a decision:\n%s", all)
			}
			t.Logf("%d differences, the first: %s", len(wrong), wrong[0])
		})
	}
}
