package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/integration_test/repo"
)

// seed makes a run repeatable: it chooses sites, crawlers and targets.
const seed = 9309

// size is how many sites are served and how many requests each client sends.
type size struct{ sites, requests int }

func realSize(t *testing.T) size {
	t.Helper()
	switch chosen := os.Getenv("ROBOTSGATE_REAL"); {
	case chosen == "full":
		return size{sites: 1 << 20, requests: 5000}
	case chosen == "small" || testing.Short():
		return size{sites: 500, requests: 100}
	case chosen == "":
		return size{sites: 700, requests: 1000}
	default:
		t.Fatalf("ROBOTSGATE_REAL is %q: set it to full or small, or leave it out", chosen)
		return size{}
	}
}

// TestRealInput sends the requests of real clients for sites with real
// robots.txt files through the gate.
func TestRealInput(t *testing.T) {
	sites := readSites(t, repo.Shared(t, "robots-real"))
	want := realSize(t)
	sites = sites[:min(want.sites, len(sites))]
	runTrial(t, gateBinary, sites, want.requests, clients())
}

// TestOwnInput is the same on files of our own, for checkouts without the real
// ones.
func TestOwnInput(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 50
	}
	runTrial(t, gateBinary, readSites(t, filepath.Join("testdata", "sites")), n, clients())
}

// TestModes is the same under the settings that change what is passed on.
func TestModes(t *testing.T) {
	for name, m := range map[string]mode{"paths rfc": {rfc: true}, "mode report": {report: true}} {
		t.Run(name, func(t *testing.T) {
			rig := newRig(t, gateBinary, readSites(t, filepath.Join("testdata", "sites")), m)
			for _, c := range clients() {
				if c.name == "go" || c.name == "socket" {
					rig.send(t, c, 200)
				}
			}
			_, wrong := rig.finish()
			report(t, wrong)
		})
	}
}

func runTrial(t *testing.T, binary string, sites []site, requests int, clients []client) {
	t.Helper()
	rig := newRig(t, binary, sites, mode{})
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			c.available(t)
			rig.send(t, c, requests)
		})
	}
	got, wrong := rig.finish()
	report(t, wrong)
	t.Logf("%d requests of %d hosts: %d denied, %d of them by a path rule other than \"/\" (%d in a normal form beside the first); %d judged by a named group",
		got.sent, len(got.hosts), got.denied, got.byPath, got.normalised, got.named)
	if got.byPath*10 < got.sent*3 {
		t.Errorf("%d of %d requests are denied by a path rule other than \"/\", want 30 %%: the trial proves too little", got.byPath, got.sent)
	}
	if got.named*10 < got.sent || got.normalised == 0 {
		t.Errorf("%d of %d requests meet a named group and %d a normal form beside the first: the trial proves too little", got.named, got.sent, got.normalised)
	}
}

// report fails the test for differences, and shows the first of them.
func report(t *testing.T, wrong []string) {
	t.Helper()
	const shown = 20
	if len(wrong) > shown {
		t.Errorf("%d differences, the first %d:\n%s", len(wrong), shown, strings.Join(wrong[:shown], "\n"))
	} else if len(wrong) > 0 {
		t.Errorf("%d differences:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
}

// rig is a gate between clients and an origin.
type rig struct {
	t       *testing.T
	origin  *origin
	gate    *gate
	planner *planner
	trial   trial
}

func newRig(t *testing.T, binary string, sites []site, m mode) *rig {
	t.Helper()
	o := newOrigin(t, sites)
	paths, report := "strict", "enforce"
	if m.rfc {
		paths = "rfc"
	}
	if m.report {
		report = "report"
	}
	return &rig{
		t:       t,
		origin:  o,
		gate:    startGate(t, binary, rigOptions(t, o), proxySite("paths "+paths, "mode "+report)),
		planner: newPlanner(sites, o.Port, seed),
		trial:   trial{sites: o.sites, mode: m},
	}
}

// rigOptions are the options of a gate that finds every name at the origin.
func rigOptions(t *testing.T, o *origin) string {
	t.Helper()
	return fmt.Sprintf("resolvers %s\n\t\tallow_ranges 127.0.0.0/8\n\t\tports %s", newDNS(t), o.Port)
}

// send has a client send n requests and keeps what it got.
func (r *rig) send(t *testing.T, c client, n int) {
	t.Helper()
	var plans [][]request
	if c.single {
		// Crawlers whose documentation names no other group to fall back to.
		for i, token := range []string{"Googlebot", "ExampleBot", "AhrefsBot", "MJ12bot", "CCBot"} {
			plans = append(plans, r.planner.plan(n/5, fmt.Sprintf("%s%d", c.name, i), token, c.exact))
		}
	} else {
		plans = append(plans, r.planner.plan(n, c.name, "", c.exact))
	}
	for _, plan := range plans {
		answers := c.send(t, r.gate.Addr, plan)
		if len(answers) != len(plan) {
			t.Fatalf("%s was given %d requests and answers for %d", c.name, len(plan), len(answers))
		}
		r.trial.requests = append(r.trial.requests, plan...)
		r.trial.answers = append(r.trial.answers, answers...)
	}
}

// finish stops the gate and compares.
func (r *rig) finish() (tally, []string) {
	r.t.Helper()
	r.gate.stop()
	r.trial.records = readLog(r.t, r.gate.log)
	r.trial.exchanges, r.trial.robots = r.origin.exchanges()
	r.trial.junk = r.origin.junk
	return r.trial.compare()
}
