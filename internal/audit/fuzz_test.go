package audit

import (
	"io"
	"testing"
)

// FuzzVerify feeds lines that no gate has written: each is counted as what it
// is, and none brings the audit down.
func FuzzVerify(f *testing.F) {
	s := newShelf()
	for i, q := range requests() {
		f.Add(q.line(f, s, i+1))
	}
	for _, text := range seedLines {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Verify(t.Context(), []Log{logOf(text)}, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Records != v.Lines.Records || v.Records != v.Rederived+v.Attested+v.Impossible+v.Contradicted {
			t.Errorf("lines %+v, outcomes %+v", v.Lines, v)
		}
		r, err := Summarise(t.Context(), []Log{logOf(text)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WriteHTML(io.Discard); err != nil {
			t.Error(err)
		}
		if err := r.WriteText(io.Discard); err != nil {
			t.Error(err)
		}
		if err := v.WriteText(io.Discard); err != nil {
			t.Error(err)
		}
	})
}
