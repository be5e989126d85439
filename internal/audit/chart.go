package audit

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// The size of the chart over time, in the units of its own drawing.
const (
	chartWidth  = 1000.0
	chartHeight = 240.0
	chartLeft   = 64.0
	chartRight  = 976.0
	chartBottom = 26.0
	chartTop    = 10.0
	// maxBars is how many bars stand side by side and are told apart.
	maxBars = 120
)

// part is one kind of decision in a chart: the parts of a bar add up to its
// requests.
type part struct {
	class, label string
	value        func(Counts) int64
}

// parts are in the order in which they are stacked, from below.
var parts = []part{
	{"allowed", "allowed", func(c Counts) int64 { return c.Allowed }},
	{"denied", "denied", func(c Counts) int64 { return c.Denied }},
	{"would", "would be denied", func(c Counts) int64 { return c.WouldBeDenied }},
}

// span is one bar's time.
type span struct {
	begin time.Time
	label string // below the bar
	title string
	Counts
}

// unit is how long one bar lasts.
type unit struct {
	name string
	next func(time.Time) time.Time
	trim func(time.Time) time.Time
	// label stands below a bar, title above the numbers on hovering.
	label, title string
}

var units = []unit{
	{"hour", func(t time.Time) time.Time { return t.Add(time.Hour) }, func(t time.Time) time.Time { return t }, "15:04", "2006-01-02 15:04"},
	{"day", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}, "2 Jan", "2006-01-02"},
	{"month", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }, func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	}, "Jan 06", "2006-01"},
	{"year", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }, func(t time.Time) time.Time {
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}, "2006", "2006"},
}

// spans divides the hours into as many bars as can be told apart, empty ones
// included: hours for a few days, else days, months or years.
func spans(hours []hour) (unit, []span) {
	if len(hours) == 0 {
		return units[0], nil
	}
	for _, u := range units {
		if out, ok := u.spans(hours); ok {
			return u, out
		}
	}
	return units[0], nil
}

func (u unit) spans(hours []hour) ([]span, bool) {
	var out []span
	end := hours[len(hours)-1].begin
	i := 0
	for t := u.trim(hours[0].begin); !t.After(end); t = u.next(t) {
		if len(out) == maxBars {
			return nil, false
		}
		s := span{begin: t, label: t.Format(u.label), title: t.Format(u.title)}
		for ; i < len(hours) && hours[i].begin.Before(u.next(t)); i++ {
			s.add(hours[i].Counts)
		}
		out = append(out, s)
	}
	return out, true
}

// timeChart draws decisions over time as stacked bars.
func timeChart(hours []hour) template.HTML {
	u, bars := spans(hours)
	if len(bars) == 0 {
		return ""
	}
	var top int64
	for _, s := range bars {
		top = max(top, s.Requests)
	}
	step := gridStep(top)
	top = (top + step - 1) / step * step
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="time" viewBox="0 0 %g %g" role="img" aria-label="Requests per %s by decision; the table by day has the numbers">`, chartWidth, chartHeight, u.name)
	y := func(n int64) float64 {
		return chartTop + (chartHeight-chartTop-chartBottom)*(1-float64(n)/float64(top))
	}
	for n := int64(0); n <= top; n += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/><text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`,
			chartLeft, chartRight, y(n), y(n), chartLeft-8, y(n)+4, short(n))
	}
	width := (chartRight - chartLeft) / float64(len(bars))
	for i, s := range bars {
		drawBar(&b, s, chartLeft+float64(i)*width, width, y)
		if every := max(1, (len(bars)+11)/12); i%every == 0 {
			fmt.Fprintf(&b, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, chartLeft+(float64(i)+0.5)*width, chartHeight-8, s.label)
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers and dates of our own making
}

func drawBar(b *strings.Builder, s span, x, width float64, y func(int64) float64) {
	if s.Requests == 0 {
		return
	}
	gap := min(width*0.2, 6)
	fmt.Fprintf(b, `<g><title>%s: %s requests, %s allowed, %s denied, %s would be denied, robots.txt unreachable for %s</title>`,
		s.title, number(s.Requests), number(s.Allowed), number(s.Denied), number(s.WouldBeDenied), number(s.Unreachable))
	var below int64
	for _, p := range parts {
		n := p.value(s.Counts)
		if n == 0 {
			continue
		}
		fmt.Fprintf(b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"/>`,
			p.class, x+gap/2, y(below+n), width-gap, y(below)-y(below+n))
		below += n
	}
	b.WriteString("</g>")
}

// gridStep is the round distance of about four grid lines.
func gridStep(top int64) int64 {
	step := int64(1)
	for {
		for _, m := range []int64{1, 2, 5} {
			if step*m*4 >= top {
				return step * m
			}
		}
		step *= 10
	}
}

// short writes n in few characters.
func short(n int64) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return fmt.Sprintf("%gM", float64(n)/1e6)
	case n >= 10_000 && n%100 == 0:
		return fmt.Sprintf("%gk", float64(n)/1e3)
	default:
		return number(n)
	}
}

// shareBar draws one row's decisions as a bar whose length is its share of the
// largest row.
func shareBar(c Counts, largest int64) template.HTML {
	const width, height = 140.0, 10.0
	if largest == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="share" viewBox="0 0 %g %g" aria-hidden="true" preserveAspectRatio="none">`, width, height)
	x := 0.0
	for _, p := range parts {
		w := width * float64(p.value(c)) / float64(largest)
		if w == 0 {
			continue
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%.2f" y="0" width="%.2f" height="%g"/>`, p.class, x, max(w, 0.7), height)
		x += w
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers of our own making
}
