package audit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// oracle reads a line with encoding/json: slowly, and by the book.
func oracle(text []byte) (fields map[string]any, ok bool) {
	if !json.Valid(text) || json.Unmarshal(text, &fields) != nil || fields == nil {
		return nil, false
	}
	return fields, true
}

func lineOf(text string) *line {
	var r lineReader
	var l line
	r.read([]byte(text), &l)
	return &l
}

// checkLine compares what both readers make of a line. What encoding/json
// refuses, ours may accept, since it does not look into what it skips.
func checkLine(t *testing.T, text string) {
	t.Helper()
	l := lineOf(text)
	want, ok := oracle([]byte(text))
	if !ok || !utf8.ValidString(text) {
		return
	}
	if l.kind == KindDamaged || l.kind == KindForeign && strings.TrimSpace(text)[0] != '{' {
		t.Fatalf("%q is an object and is read as damaged", text)
	}
	robots, _ := want["robots"].(map[string]any)
	if l.record.present != (robots != nil) {
		t.Fatalf("%q: record %v, want %v", text, l.record.present, robots)
	}
	request, _ := want["request"].(map[string]any)
	if method, ok := request["method"].(string); ok && string(l.method) != method {
		t.Errorf("%q: method %q, want %q", text, l.method, method)
	}
	if robots == nil || l.record.flaw != "" {
		return
	}
	for f := range numFields {
		checkField(t, text, &l.record, f, robots[f.String()])
	}
}

func checkField(t *testing.T, text string, rec *record, f field, want any) {
	t.Helper()
	if !rec.had(f) {
		if want != nil {
			t.Errorf("%q: %s is %v and was not seen", text, f, want)
		}
		return
	}
	var got any
	switch want := want.(type) {
	case string:
		got = string(rec.text[f])
	case bool:
		got = rec.flag[f]
	case float64:
		if want > 1<<53 {
			return
		}
		got = float64(rec.number[f])
	case []any:
		tokens := []any{}
		for _, token := range rec.tokens {
			tokens = append(tokens, string(token))
		}
		got = tokens
	case map[string]any:
		return
	default:
		t.Errorf("%q: %s has the unknown kind %T and no flaw", text, f, want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q: %s is %v, want %v", text, f, got, want)
	}
}

// seedLines are lines in which a scanner can lose its way.
var seedLines = []string{
	`{"robots":{"v":1,"decision":"deny","enforced":true,"tokens":["A","B"],"line":3,"url":"https://h/\"}{"}}`,
	`{"msg":"\"robots\":{\"v\":9}","robots":{"v":1}}`,
	`{"resp_headers":{"X":["{\"robots\":{\"v\":2}}"]},"robots":{"v":1,"agent":"\u00e9\ud83d\ude00\\"}}`,
	`{"request":{"robots":{"v":7},"method":"GET","headers":{"User-Agent":["a","b"],"robots":[{}]}}}`,
	`{"request":{"method":"G\u0045T"},"r\u006fbots":{"\u0076":1}}`,
	`{"robots":{"v":1},"robots":{"reason":"no_rule"}}`,
	`{"robots":null,"request":[1,2,{"robots":{}}]}`,
	`{"robots":{"override":{"origin":"h","x":[1]},"new_field":{"a":[1,"]"]},"seq":18446744073709551615}}`,
	`{"robots":{"v":"1"}}`, `{"robots":{"tokens":[]},"ts":"x","duration":1e400}`,
	`{"robots":{"url":"\ud800\udc00 \ud800 \udc00 \u0000"}}`,
	` { "ts" : 1.5 , "robots" : { "age" : 0 } } `, `{}`, `{"a":`, `{"robots":{"v":1}`, `{"robots":{"v":1}} x`, `[]`, ``, `text`, `{"a":"\`, `{"a":{]}}`,
}

func TestScanner(t *testing.T) {
	for _, text := range seedLines {
		checkLine(t, text)
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range seedLines {
		f.Add(text)
	}
	f.Fuzz(checkLine)
}

// TestKinds says what each kind of line looks like.
func TestKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		`{"logger":"http.log.access.log0","request":{},"robots":{"v":1}}`: KindRecord,
		`{"robots":{"v":1}}`: KindRecord,
		`{"logger":"http.log.access","request":{},"status":200}`:                    KindUnjudged,
		`{"request":{},"status":200}`:                                               KindUnjudged,
		`{"logger":"http.handlers.robots_gate","msg":"request denied","robots":{}}`: KindRepeat,
		`{"logger":"http.handlers.reverse_proxy","request":{}}`:                     KindForeign,
		`{"level":"info"}`: KindForeign,
		`plain text`:       KindForeign,
		`{"level":"info`:   KindDamaged,
		`{"a":1}{"b":2}`:   KindDamaged,
		`{"a":[1,2}`:       KindDamaged,
	} {
		if got := lineOf(text).kind; got != want {
			t.Errorf("%s is of kind %d, want %d", text, got, want)
		}
	}
}

// TestTimes reads ts and duration in every format that Caddy writes.
func TestTimes(t *testing.T) {
	const want = "2026-03-01T12:00:00.5Z"
	for _, ts := range []string{
		`1772366400.5`, `1772366400500`, `1772366400500000000`, `"2026-03-01T12:00:00.5Z"`, `"2026-03-01T13:00:00.500+0100"`,
		`"2026/03/01 12:00:00.500"`, `1.7723664005e9`,
	} {
		if got := lineOf(`{"ts":` + ts + `}`).at.Format("2006-01-02T15:04:05.999Z07:00"); got != want {
			t.Errorf("ts %s is %s, want %s", ts, got, want)
		}
	}
	for _, ts := range []string{`"soon"`, `0`, `-5`, `null`, `99999999999999999999999`, `[]`, `1e300`} {
		if l := lineOf(`{"ts":` + ts + `}`); !l.at.IsZero() || l.kind == KindDamaged {
			t.Errorf("ts %s is %s, kind %d, want no time and an intact line", ts, l.at, l.kind)
		}
	}
	for duration, want := range map[string]string{`0.25`: "250ms", `"1.5s"`: "1.5s", `2`: "2s", `1e-3`: "1ms", `"x"`: "-1ns", `-4`: "-1ns"} {
		if got := lineOf(`{"duration":` + duration + `}`).took.String(); got != want {
			t.Errorf("duration %s is %s, want %s", duration, got, want)
		}
	}
}

// TestParseUTC holds the dates of records against time.Parse.
func TestParseUTC(t *testing.T) {
	at := time.Date(1970, 1, 1, 23, 59, 58, 0, time.UTC)
	for range 60_000 { // days, to the year 2134
		text := at.Format(time.RFC3339)
		if got, ok := parseUTC([]byte(text)); !ok || !got.Equal(at) {
			t.Fatalf("%s is %v, %v", text, got, ok)
		}
		at = at.AddDate(0, 0, 1)
	}
	for _, text := range []string{
		"", "2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+", "2026-01-01T00:00:0xZ",
	} {
		if got, ok := parseUTC([]byte(text)); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
