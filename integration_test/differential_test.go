package integration_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotsgate/robotsgate/agent"
	"github.com/robotsgate/robotsgate/integration_test/oracle"
	"github.com/robotsgate/robotsgate/integration_test/repo"
	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
)

// TestMatcherAgainstOracle asks the library and the oracle the same questions
// without the gate between, and so many more of them.
func TestMatcherAgainstOracle(t *testing.T) {
	t.Run("own", func(t *testing.T) {
		differ(t, readSites(t, filepath.Join("testdata", "sites")), 20_000)
	})
	t.Run("real", func(t *testing.T) {
		n := realSize(t)
		differ(t, readSites(t, repo.Shared(t, "robots-real")), 20*n.requests)
	})
}

func differ(t *testing.T, sites []site, n int) {
	t.Helper()
	bySite := map[string]site{}
	parsed := map[string]*parser.Robots{}
	for _, s := range sites {
		bySite[s.Host+":80"] = s
	}
	var wrong []string
	denied := 0
	for _, req := range newPlanner(sites, "80", seed+1).plan(n, "differ", "", true) {
		s := bySite[req.Host]
		robots := parsed[s.Host]
		if robots == nil {
			robots = parser.Parse(oracle.Cut(s.Robots, maxBody))
			parsed[s.Host] = robots
		}
		m := matcher.New(robots, agent.Identify(req.Agent).Tokens()...)
		for _, strict := range []bool{false, true} {
			got, form := m.Match(req.Target), matcher.Form(0)
			if strict {
				got, form = m.MatchStrict(req.Target)
			}
			want := s.rules.Judge([]string{req.Token}, req.Target, strict)
			if !want.Allowed {
				denied++
			}
			same := got.Allowed == want.Allowed && strings.EqualFold(m.Token(), want.Token) &&
				got.Matched == (len(want.Lines) > 0) && (!got.Matched || slices.Contains(want.Lines, got.Rule.Line)) &&
				(!strict || form.String() == want.Form)
			if !same {
				wrong = append(wrong, fmt.Sprintf("%s asks %s for %s (strict %v): got %+v in form %q for token %q, want %+v",
					req.Token, s.Host, req.Target, strict, got, form, m.Token(), want))
			}
		}
	}
	report(t, wrong)
	t.Logf("%d questions, %d denied", 2*n, denied)
}
