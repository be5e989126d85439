package decision_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/parser"
)

func full(t testing.TB) *decision.Record {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rec := &decision.Record{
		Enforced: true, Job: "prices", Bot: true, Agent: "ExampleBot", Tokens: []string{"ExampleBot", "Example"},
		Token: "Example", TokenSource: decision.TokenFromUserAgent,
		Rule:      parser.Rule{Pattern: "/private", Line: 3},
		RobotsURL: "https://example.com/robots.txt", RobotsFinalURL: "https://www.example.com/robots.txt",
		RobotsStatus: 200, RobotsSHA256: strings.Repeat("ab", 32), RobotsSize: 41, Truncated: true,
		FetchedAt: at, ValidatedAt: at.Add(time.Hour), ExpiresAt: at.Add(24 * time.Hour), Age: 60,
		FetchUserAgent: "ExampleBot/1.0", Source: decision.SourceMemory, Archived: true,
		Override: &decision.Override{Origin: "example.com", Owner: "legal", Reason: "contract", Until: "2027-01-01"},
		Policy:   strings.Repeat("cd", 32), Error: "none", Engine: "1.0.0", Gate: "0123456789abcdef", Seq: 7,
	}
	target, err := origin.ParseTarget("https://Example.com:443/private/a?key=value")
	if err != nil {
		t.Fatal(err)
	}
	rec.Aim(target)
	rec.Form = "F3"
	rec.Denied(decision.DisallowedNormalized)
	return rec
}

// BenchmarkRecord measures what the record adds to an access log entry.
func BenchmarkRecord(b *testing.B) {
	rec := full(b)
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{})
	entry := []zapcore.Field{{Key: "robots", Type: zapcore.ObjectMarshalerType, Interface: rec}}
	b.ReportAllocs()
	for b.Loop() {
		buf, err := encoder.EncodeEntry(zapcore.Entry{}, entry)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(buf.Len()), "octets")
		buf.Free()
	}
}

// TestRecordFields pins names, order and values of a record that has them all.
func TestRecordFields(t *testing.T) {
	const want = `{"v":1,"decision":"deny","enforced":true,"reason":"disallowed_normalized","job":"prices",` +
		`"url":"https://example.com/private/a?key=value","origin":"https://example.com","form":"F3","bot":true,` +
		`"agent":"ExampleBot","tokens":["ExampleBot","Example"],"token":"Example","token_source":"user_agent",` +
		`"rule":"Disallow: /private","line":3,"robots_url":"https://example.com/robots.txt",` +
		`"robots_final_url":"https://www.example.com/robots.txt","robots_status":200,` +
		`"robots_sha256":"abababababababababababababababababababababababababababababababab","robots_size":41,"truncated":true,` +
		`"fetched_at":"2026-03-01T12:00:00Z","validated_at":"2026-03-01T13:00:00Z","expires_at":"2026-03-02T12:00:00Z","age":60,` +
		`"fetch_user_agent":"ExampleBot/1.0","source":"memory","archived":true,` +
		`"override":{"origin":"example.com","owner":"legal","reason":"contract","until":"2027-01-01"},` +
		`"policy":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","error":"none","engine":"1.0.0",` +
		`"gate":"0123456789abcdef","seq":7}`
	if got := string(full(t).JSON()); got != want {
		t.Errorf("record\n got %s\nwant %s", got, want)
	}
}

func TestRecordLeavesOutWhatHasNoValue(t *testing.T) {
	rec := &decision.Record{Enforced: true}
	rec.Allowed(decision.NotBot)
	const want = `{"v":1,"decision":"allow","enforced":true,"reason":"not_bot","bot":false}`
	if got := string(rec.JSON()); got != want {
		t.Errorf("record\n got %s\nwant %s", got, want)
	}
}

func TestRecordCutsTextButNotTheURL(t *testing.T) {
	rec := full(t)
	rec.Agent = strings.Repeat("é", 2000)
	rec.URL = "https://example.com/" + strings.Repeat("a", 5000)
	var got struct{ URL, Agent string }
	if err := json.Unmarshal(rec.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.URL) != 5020 {
		t.Errorf("url has %d octets, want all 5020", len(got.URL))
	}
	if got.Agent != strings.Repeat("é", 512) {
		t.Errorf("agent has %d octets, want 1024 without half a character", len(got.Agent))
	}
}

func TestFieldByName(t *testing.T) {
	rec := full(t)
	for name, want := range map[string]any{
		"reason": "disallowed_normalized", "line": 3, "bot": true, "rule": "Disallow: /private",
	} {
		if got, ok := rec.Field(name); !ok || got != want {
			t.Errorf("Field(%q) = %v, %v; want %v", name, got, ok, want)
		}
	}
	if got, ok := (&decision.Record{}).Field("rule"); !ok || got != "" {
		t.Errorf("a field without a value is %v, %v; want the empty string", got, ok)
	}
	if _, ok := rec.Field("nonsense"); ok {
		t.Error("a field that does not exist was found")
	}
}

func TestRedactQuery(t *testing.T) {
	for in, want := range map[string]string{
		"https://h/p":              "https://h/p",
		"https://h/p?":             "https://h/p?",
		"https://h/p?a=1&b=2":      "https://h/p?a=REDACTED&b=REDACTED",
		"https://h/p?secret":       "https://h/p?REDACTED",
		"https://h/p?a=1?x=2&&c=":  "https://h/p?a=REDACTED&&c=REDACTED",
		"https://h/p?a=b=c;d=e&f#": "https://h/p?a=REDACTED&REDACTED",
	} {
		if got := decision.RedactQuery(in); got != want {
			t.Errorf("RedactQuery(%q) = %q, want %q", in, got, want)
		}
	}
	rec := full(t)
	rec.Redact = true
	if got := string(rec.JSON()); strings.Contains(got, "value") {
		t.Errorf("a redacted record has the query's value: %s", got)
	}
	if got, _ := rec.Field("url"); got != "https://example.com/private/a?key=REDACTED" {
		t.Errorf("the placeholder of a redacted record is %v", got)
	}
}
