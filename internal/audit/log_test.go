package audit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// logOf makes a log of text.
func logOf(text string) Log {
	return Log{Name: "test.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

func summarise(t *testing.T, logs ...Log) *Report {
	t.Helper()
	r, err := Summarise(t.Context(), logs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

const aRecord = `{"ts":1772366400.5,"request":{"method":"GET","headers":{}},"robots":{"v":1,"decision":"allow","enforced":true,"reason":"no_rule"}}` + "\n"

// TestLogForms: the same lines count however they are stored, and whatever
// stands between them.
func TestLogForms(t *testing.T) {
	text := strings.Repeat(aRecord, 20_000)
	mixed := "\xff\xfe\n\r\n" + aRecord + "Nov 20 12:00:00 host sshd: hello\n" + `{"level":"info","msg":"other"}` + "\n" + aRecord + aRecord[:60]
	tests := map[string]struct {
		logs []Log
		want Lines
	}{
		"plain":                {[]Log{logOf(text)}, Lines{Records: 20_000}},
		"no last line end":     {[]Log{logOf(strings.TrimSpace(text))}, Lines{Records: 20_000}},
		"carriage returns":     {[]Log{logOf(strings.ReplaceAll(text, "\n", "\r\n"))}, Lines{Records: 20_000}},
		"gzip":                 {[]Log{logOf(gzipped(t, text))}, Lines{Records: 20_000}},
		"two gzip members":     {[]Log{logOf(gzipped(t, text) + gzipped(t, text))}, Lines{Records: 40_000}},
		"zstd":                 {[]Log{logOf(zstandard(t, text))}, Lines{Records: 20_000}},
		"rotated":              {[]Log{logOf(gzipped(t, text)), logOf(text), logOf("")}, Lines{Records: 40_000}},
		"foreign lines, a cut": {[]Log{logOf(mixed)}, Lines{Records: 2, Foreign: 3, Damaged: 1}},
		"a line too long":      {[]Log{logOf(aRecord + "{" + strings.Repeat("x", 3*maxLine) + "\n" + aRecord)}, Lines{Records: 2, Damaged: 1}},
		"too long at the end":  {[]Log{logOf(aRecord + "{" + strings.Repeat("x", 2*maxLine))}, Lines{Records: 1, Damaged: 1}},
		"a long line":          {[]Log{logOf(`{"x":"` + strings.Repeat("x", 3<<20) + `",` + aRecord[1:])}, Lines{Records: 1}},
		"an odd record":        {[]Log{logOf(`{"robots":{"v":"one"}}`)}, Lines{Damaged: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := summarise(t, tt.logs...)
			if r.Lines != tt.want || len(r.Damage) > 0 {
				t.Errorf("lines %+v, damage %v; want %+v", r.Lines, r.Damage, tt.want)
			}
			if r.Total.Requests != tt.want.Records {
				t.Errorf("%d requests, want %d", r.Total.Requests, tt.want.Records)
			}
		})
	}
}

// TestCutCompression: what can be read of a cut log counts, and the rest is
// told.
func TestCutCompression(t *testing.T) {
	var text strings.Builder
	for i := range 50_000 {
		text.WriteString(strings.Replace(aRecord, "no_rule", fmt.Sprintf("reason_%d", i*7919%50_000), 1))
	}
	for name, packed := range map[string]string{"gzip": gzipped(t, text.String()), "zstd": zstandard(t, text.String())} {
		t.Run(name, func(t *testing.T) {
			r := summarise(t, logOf(packed[:len(packed)*2/3]), logOf(aRecord))
			if len(r.Damage) != 1 || r.Damage[0].Log != "test.log" {
				t.Errorf("damage %v, want one", r.Damage)
			}
			if r.Lines.Records < 10_000 || r.Lines.Records > 45_000 {
				t.Errorf("%d records of about 33,333", r.Lines.Records)
			}
		})
	}
}

// TestLineNumbers: each line keeps its number over blocks, blank lines and
// lines that are too long.
func TestLineNumbers(t *testing.T) {
	var text strings.Builder
	number, want := 0, 0
	for number < 60_000 {
		number++
		switch {
		case number == 30_000:
			text.WriteString(strings.Repeat("x", maxLine+blockSize*3) + "\n")
		case number%7 == 0:
			text.WriteString("\n")
		default:
			want++
			fmt.Fprintf(&text, "line %d %s\n", number, strings.Repeat(".", 1+number%100))
		}
	}
	seen := 0
	p := pipeline[int]{
		logs: []Log{logOf(text.String())},
		worker: func() func(*block, *int) {
			return func(b *block, out *int) {
				*out = 0
				b.lines(func(number int, text []byte) {
					*out++
					if !bytes.HasPrefix(text, fmt.Appendf(nil, "line %d ", number)) {
						t.Errorf("line %d is %.20s", number, text)
					}
				})
			}
		},
		merge:  func(_ *block, out *int) { seen += *out },
		damage: func(d Damage) { t.Error(d) },
	}
	if err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen != want {
		t.Errorf("%d lines, want %d", seen, want)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "access.log")
	if err := os.WriteFile(file, []byte(aRecord), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := Files([]string{file, "-"}, strings.NewReader(aRecord+aRecord))
	if err != nil {
		t.Fatal(err)
	}
	if r := summarise(t, logs...); r.Total.Requests != 3 {
		t.Errorf("%d requests, want 3", r.Total.Requests)
	}
	for _, name := range []string{dir, filepath.Join(dir, "nothing")} {
		if _, err := Files([]string{name}, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names it", name, err)
		}
	}
}
