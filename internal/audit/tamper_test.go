package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// others are values that a field could have as well, besides those that stand
// in other records of the log.
var others = map[string][]any{
	"v":                {2, 0, "1"},
	"decision":         {"allow", "deny", ""},
	"enforced":         {true, false},
	"reason":           {"disallowed", "no_rule", "override", "unreachable", "loop", "address_denied", "port_denied", "bad_target", "internal", "overloaded", "unavailable", "not_bot", "nonsense"},
	"job":              {"somebody"},
	"url":              {"https://a.example/private", "https://other.example/x", "https://a.example/%zz", "HTTPS://a.example/x"},
	"origin":           {"https://b.example", "http://a.example", "https://a.exam"},
	"form":             {"F1", "F3"},
	"bot":              {true, false},
	"agent":            {"Googlebot", "examplebot"},
	"tokens":           {[]string{"Googlebot"}, []string{}, []string{"ExampleBot", "Googlebot"}, "ExampleBot"},
	"token":            {"*", "ExampleBot", "Googlebot"},
	"token_source":     {"config", "user_agent", "x"},
	"rule":             {"Disallow: /", "Allow: /"},
	"line":             {1, 3, 99},
	"robots_url":       {"https://b.example/robots.txt", "https://a.example/robots.txt"},
	"robots_final_url": {"https://b.example/robots.txt", "https://a.example/robots.txt"},
	"robots_status":    {200, 404, 503, 206, 404.5},
	"robots_sha256":    {strings.Repeat("0", 64), "x"},
	"robots_size":      {0, 7},
	"truncated":        {true, false},
	"fetched_at":       {"2026-03-01T10:30:00Z", "2026-04-01T00:00:00Z", "2026-02-30T00:00:00Z", "yesterday"},
	"validated_at":     {"2026-03-01T11:30:00Z", "2026-04-01T00:00:00Z", "2020-01-01T00:00:00Z"},
	"expires_at":       {"2026-03-01T11:59:00Z", "2026-03-02T07:00:00Z", "2027-03-01T08:00:00Z"},
	"age":              {0, 3500, 3700, 1e12},
	"fetch_user_agent": {"Somebody/1.0"},
	"source":           {"memory", "stale", "override", "nowhere"},
	"archived":         {true, false},
	"override":         {map[string]string{"origin": "a.example"}, map[string]string{"origin": "b.example", "owner": "x"}, 5},
	"policy":           {strings.Repeat("0", 64), "x"},
	"error":            {"another"},
	"engine":           {"2.0.0"},
	"gate":             {"fedcba9876543210", "x"},
	"seq":              {0, 2, 3, 1000, -1},
}

// changed is the line with one field of its record set, or taken away where
// value is nil; "" where that changes nothing.
func changed(t *testing.T, line, field string, value any) string {
	t.Helper()
	var entry map[string]json.RawMessage
	var record map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(entry["robots"], &record); err != nil {
		t.Fatal(err)
	}
	before := string(record[field])
	delete(record, field)
	if value != nil {
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		record[field] = encoded
	}
	if string(record[field]) == before {
		return ""
	}
	robots, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	entry["robots"] = robots
	out, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// summary is everything that verify says of a log, less the fields not covered.
func summary(v *Verification) string {
	said := *v
	said.NotCovered = nil
	return fmt.Sprintf("%+v", said)
}

// TestTamper changes one field of one record after the other: each change is
// contradicted or otherwise told, or stands in the list of what is not covered.
func TestTamper(t *testing.T) {
	s := newShelf()
	all := requests()
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = all[i].line(t, s, i+1)
	}
	sound := verify(t, s, strings.Join(lines, "\n"))
	if sound.Contradicted > 0 {
		t.Fatalf("the sound log has contradictions: %v", sound.Contradictions)
	}
	listed := func(field string) bool {
		return slices.ContainsFunc(sound.NotCovered, func(u Uncovered) bool { return u.Field == field })
	}
	contradicted, told, unnoticed := 0, 0, map[string]int{}
	for i, line := range lines {
		// Its neighbours are enough to see that a number is missing.
		near := lines[max(0, i-1):min(len(lines), i+2)]
		before := summary(verify(t, s, strings.Join(near, "\n")))
		for _, field := range fieldNames {
			for _, value := range append([]any{nil}, others[field]...) {
				change := changed(t, line, field, value)
				if change == "" {
					continue
				}
				v := verify(t, s, strings.ReplaceAll(strings.Join(near, "\n"), line, change))
				switch {
				case v.Contradicted == 1:
					contradicted++
				case summary(v) != before:
					told++
				case all[i].want == Impossible:
					// What lacks its evidence is counted as such anyway.
				default:
					unnoticed[field]++
					if !listed(field) {
						t.Errorf("%s: %s set to %v goes unnoticed and is not listed", all[i].name, field, value)
					}
				}
			}
		}
	}
	t.Logf("%d changes contradicted, %d told otherwise, unnoticed and listed: %v", contradicted, told, unnoticed)
	if contradicted < 3000 {
		t.Errorf("only %d changes are contradicted", contradicted)
	}
}

// TestTamperDerived: of a record that can be derived, no change of what was
// decided goes without a contradiction.
func TestTamperDerived(t *testing.T) {
	for _, q := range requests() {
		if q.want != Rederived {
			continue
		}
		s := newShelf()
		line := q.line(t, s, 1)
		for _, field := range []string{
			"v", "decision", "enforced", "reason", "origin", "form", "bot", "agent", "token_source", "token", "rule", "line",
			"robots_url", "robots_size", "override",
		} {
			for _, value := range append([]any{nil}, others[field]...) {
				if q.method == "CONNECT" && value == "internal" {
					continue // a refused tunnel and a failure leave the same evidence: none
				}
				if change := changed(t, line, field, value); change != "" && verify(t, s, change).Contradicted != 1 {
					t.Errorf("%s: %s set to %v is not contradicted\n%s", q.name, field, value, change)
				}
			}
		}
	}
}
