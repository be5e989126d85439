package integration_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSeededDefects proves that the comparison can fail: it runs on binaries
// that were broken on purpose, and each must be found out.
func TestSeededDefects(t *testing.T) {
	const (
		judge = "internal/judge/judge.go"
		match = "v, form = m.MatchStrict(path)\n"
	)
	defects := map[string]patch{
		"decision inverted":             {judge, match, match + "v.Allowed = !v.Allowed\n"},
		"query dropped before matching": {judge, match, "for i, c := range path {\nif c == '?' {\npath = path[:i]\nbreak\n}\n}\n" + match},
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

// TestComparison falsifies the evidence of a sound run, one piece at a time:
// the comparison must miss none of it.
func TestComparison(t *testing.T) {
	rig := newRig(t, gateBinary, readSites(t, filepath.Join("testdata", "sites")), mode{})
	for _, c := range clients() {
		if c.name == "socket" {
			rig.send(t, c, 100)
		}
	}
	_, wrong := rig.finish()
	report(t, wrong)
	allowed := slices.IndexFunc(rig.trial.records, func(r record) bool {
		return r.Robots.Decision == "allow" && r.Request.Method == "POST"
	})
	denied := slices.IndexFunc(rig.trial.records, func(r record) bool {
		return r.Robots.Reason == "disallowed" && r.Request.Method == "GET"
	})
	normalised := slices.IndexFunc(rig.trial.records, func(r record) bool { return r.Robots.Form != "" })
	if allowed < 0 || denied < 0 || normalised < 0 {
		t.Fatal("the run lacks an allowed POST, a denied GET or a normal form")
	}
	// One connection carried everything, so all lists are in the same order.
	arrived := slices.IndexFunc(rig.trial.exchanges, func(e exchange) bool {
		return e.Agent == rig.trial.requests[allowed].Agent
	})
	falsify := map[string]func(*trial){
		"denied request arrives": func(tr *trial) {
			tr.exchanges = append(tr.exchanges, exchange{Agent: tr.requests[denied].Agent, Host: tr.requests[denied].Host})
		},
		"allowed request does not arrive": func(tr *trial) { tr.exchanges = slices.Delete(tr.exchanges, arrived, arrived+1) },
		"target changed on the way": func(tr *trial) {
			tr.exchanges[arrived].Head = strings.Replace(tr.exchanges[arrived].Head, " /", " /x", 1)
		},
		"request body changed":       func(tr *trial) { tr.exchanges[arrived].Body[0]++ },
		"another host":               func(tr *trial) { tr.exchanges[arrived].Host = "elsewhere" },
		"octets that are no request": func(tr *trial) { tr.junk = append(tr.junk, "x") },
		"answer's body changed":      func(tr *trial) { tr.answers[allowed].Body[0]++ },
		"answer's status changed":    func(tr *trial) { tr.answers[allowed].Status++ },
		"origin's mark passed on":    func(tr *trial) { tr.answers[allowed].Gate = "forged" },
		"denial without its mark":    func(tr *trial) { tr.answers[denied].Gate = "" },
		"denial with another rule": func(tr *trial) {
			tr.answers[denied].Problem = strings.Replace(tr.answers[denied].Problem, `"rule":"`, `"rule":"x`, 1)
		},
		"record missing":          func(tr *trial) { tr.records = slices.Delete(tr.records, denied, denied+1) },
		"record of nobody":        func(tr *trial) { tr.records = append(tr.records, record{}) },
		"record of another line":  func(tr *trial) { tr.records[denied].Robots.Line += 100 },
		"record of another rule":  func(tr *trial) { tr.records[denied].Robots.Rule += "x" },
		"record of another form":  func(tr *trial) { tr.records[normalised].Robots.Form = "F1" },
		"record of another group": func(tr *trial) { tr.records[denied].Robots.Token += "x" },
		"record of another URL":   func(tr *trial) { tr.records[allowed].Robots.URL += "x" },
		"record's decision":       func(tr *trial) { tr.records[allowed].Robots.Decision = "deny" },
		"record's reason":         func(tr *trial) { tr.records[denied].Robots.Reason = "no_rule" },
		"gap in seq":              func(tr *trial) { tr.records[denied].Robots.Seq += 1000 },
		"robots.txt fetched twice": func(tr *trial) {
			i := slices.IndexFunc(tr.robots, func(e exchange) bool { return tr.sites[e.Host].Status < 500 })
			tr.robots = append(tr.robots, tr.robots[i])
		},
		"robots.txt not fetched": func(tr *trial) { tr.robots = nil },
	}
	for name, change := range falsify {
		t.Run(name, func(t *testing.T) {
			tr := rig.trial
			tr.records, tr.answers = slices.Clone(tr.records), slices.Clone(tr.answers)
			tr.exchanges, tr.robots = slices.Clone(tr.exchanges), slices.Clone(tr.robots)
			change(&tr)
			if _, wrong := tr.compare(); len(wrong) == 0 {
				t.Error("goes unnoticed")
			}
		})
	}
}
