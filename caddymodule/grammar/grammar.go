// Package grammar reads Caddyfile blocks alike for every directive of ours: an
// option stands once, unknown and surplus words are refused, and every refusal
// names the line and the word.
package grammar

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"
)

// Block reads the options of a directive that takes no arguments of its own,
// the dispenser standing on the directive. After each option it asks check, so
// that a wrong value is refused with the line it stands on; check must leave
// what it checks as it is, and may be nil.
func Block(d *caddyfile.Dispenser, check func() error, options map[string]func() error) error {
	return block(d, check, options, nil)
}

// BlockRepeating is Block where the options named in repeatable may stand more
// than once.
func BlockRepeating(d *caddyfile.Dispenser, check func() error, options map[string]func() error, repeatable ...string) error {
	return block(d, check, options, repeatable)
}

func block(d *caddyfile.Dispenser, check func() error, options map[string]func() error, repeatable []string) error {
	directive := d.Val()
	if d.NextArg() {
		return d.Errf("surplus argument '%s'; write %s's options in a block behind it", d.Val(), directive)
	}
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		read, known := options[name]
		if !known {
			return d.Errf("unrecognized subdirective '%s'; known here: %s", name, names(options))
		}
		if seen[name] && !slices.Contains(repeatable, name) {
			return d.Errf("subdirective '%s' is given twice; keep one", name)
		}
		seen[name] = true
		if err := read(); err != nil {
			return err
		}
		if check == nil {
			continue
		}
		if err := check(); err != nil {
			return d.WrapErr(err)
		}
	}
	return nil
}

func names(options map[string]func() error) string {
	return strings.Join(slices.Sorted(maps.Keys(options)), ", ")
}

// What stands for a value in the advice on how to write an option.
const (
	anyValue      = "<value>"
	anyValues     = "<value...>"
	someSize      = "256MiB"
	someNumber    = "10"
	someDuration  = "30s"
	someDurations = "30s 15m"
)

// missing refuses an option without a value and shows one that has it.
func missing(d *caddyfile.Dispenser, name, example string) error {
	return d.Errf("'%s' lacks a value; write: %s %s", name, name, example)
}

// noMore refuses what follows the last value of an option.
func noMore(d *caddyfile.Dispenser, name string) error {
	if d.NextArg() {
		return d.Errf("surplus argument '%s' to '%s'; put a value with spaces in quotes", d.Val(), name)
	}
	return nil
}

// Word reads exactly one word.
func Word(d *caddyfile.Dispenser, value *string) error {
	name := d.Val()
	if !d.NextArg() || d.Val() == "" {
		return missing(d, name, anyValue)
	}
	*value = d.Val()
	return noMore(d, name)
}

// Words reads one word or more.
func Words(d *caddyfile.Dispenser, values *[]string) error {
	*values = nil
	return MoreWords(d, values)
}

// MoreWords reads one word or more and adds them to those read before.
func MoreWords(d *caddyfile.Dispenser, values *[]string) error {
	name := d.Val()
	args := d.RemainingArgs()
	if len(args) == 0 || slices.Contains(args, "") {
		return missing(d, name, anyValues)
	}
	*values = append(*values, args...)
	return nil
}

// Size reads a size such as 256MiB as bytes.
func Size(d *caddyfile.Dispenser, value *int64) error {
	name := d.Val()
	if !d.NextArg() {
		return missing(d, name, someSize)
	}
	n, err := humanize.ParseBytes(d.Val())
	if err != nil || n == 0 || n > 1<<62 {
		return d.Errf("%s: '%s' is no size such as %s", name, d.Val(), someSize)
	}
	*value = int64(n)
	return noMore(d, name)
}

// Number reads a whole number above 0.
func Number(d *caddyfile.Dispenser, value *int) error {
	name := d.Val()
	if !d.NextArg() {
		return missing(d, name, someNumber)
	}
	n, err := strconv.Atoi(d.Val())
	if err != nil || n < 1 {
		return d.Errf("%s: '%s' is no whole number above 0", name, d.Val())
	}
	*value = n
	return noMore(d, name)
}

// Duration reads exactly one duration above 0.
func Duration(d *caddyfile.Dispenser, value *caddy.Duration) error {
	name := d.Val()
	if err := nextDuration(d, name, someDuration, value); err != nil {
		return err
	}
	return noMore(d, name)
}

// Durations reads exactly two durations above 0, a smallest and a largest.
func Durations(d *caddyfile.Dispenser, least, most *caddy.Duration) error {
	name := d.Val()
	if err := nextDuration(d, name, someDurations, least); err != nil {
		return err
	}
	if err := nextDuration(d, name, someDurations, most); err != nil {
		return err
	}
	return noMore(d, name)
}

// nextDuration reads a duration above 0 and leaves the rest of the line.
func nextDuration(d *caddyfile.Dispenser, name, example string, value *caddy.Duration) error {
	if !d.NextArg() {
		return missing(d, name, example)
	}
	parsed, err := caddy.ParseDuration(d.Val())
	if err != nil || parsed <= 0 {
		return d.Errf("%s: '%s' is no duration above 0, such as 30s or 24h", name, d.Val())
	}
	*value = caddy.Duration(parsed)
	return nil
}

// OneOf reads exactly one word out of those that are allowed.
func OneOf(d *caddyfile.Dispenser, value *string, allowed ...string) error {
	name := d.Val()
	if !d.NextArg() {
		return d.Errf("'%s' lacks a value; write one of: %s", name, strings.Join(allowed, ", "))
	}
	if !slices.Contains(allowed, d.Val()) {
		return d.Errf("%s: '%s' is not one of: %s", name, d.Val(), strings.Join(allowed, ", "))
	}
	*value = d.Val()
	return noMore(d, name)
}

// Switch reads on or off.
func Switch(d *caddyfile.Dispenser, value **bool) error {
	var word string
	if err := OneOf(d, &word, "on", "off"); err != nil {
		return err
	}
	on := word == "on"
	*value = &on
	return nil
}
