package matcher

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPlacesFindWhatStringsFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	random := func(letters, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + rng.IntN(letters))
		}
		return string(b)
	}
	for range 300 {
		letters := 1 + rng.IntN(4)
		form := random(letters, 1+rng.IntN(600))
		if rng.IntN(2) == 0 {
			form = strings.Repeat(random(letters, 1+rng.IntN(90)), 1+rng.IntN(30))
		}
		where := newPlaces(form)
		for range 100 {
			at := rng.IntN(len(form))
			segment := form[at : at+1+rng.IntN(len(form)-at)]
			if rng.IntN(2) == 0 {
				segment = random(letters, 1+rng.IntN(200))
			}
			from := rng.IntN(len(form) + 1)
			want := strings.Index(form[from:], segment)
			if want >= 0 {
				want += from
			}
			if got := where.next(segment, from); got != want {
				t.Fatalf("%q in %q from %d: got %d, want %d", segment, form, from, got, want)
			}
		}
		where.done()
	}
}
