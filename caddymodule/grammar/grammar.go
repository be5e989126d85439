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
	if d.NextArg() {
		return d.Errf("surplus argument '%s'", d.Val())
	}
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		read, known := options[name]
		if !known {
			return d.Errf("unrecognized subdirective '%s'; known here: %s", name, names(options))
		}
		if seen[name] && !slices.Contains(repeatable, name) {
			return d.Errf("subdirective '%s' is given twice", name)
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

// Word reads exactly one word.
func Word(d *caddyfile.Dispenser, value *string) error {
	if !d.NextArg() || d.Val() == "" {
		return d.ArgErr()
	}
	*value = d.Val()
	return noMore(d)
}

// Words reads one word or more.
func Words(d *caddyfile.Dispenser, values *[]string) error {
	*values = d.RemainingArgs()
	if len(*values) == 0 {
		return d.ArgErr()
	}
	return nil
}

// Size reads a size such as 256MiB as bytes.
func Size(d *caddyfile.Dispenser, value *int64) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	n, err := humanize.ParseBytes(d.Val())
	if err != nil || n == 0 || n > 1<<62 {
		return d.Errf("'%s' is no size such as 256MiB", d.Val())
	}
	*value = int64(n)
	return noMore(d)
}

// Number reads a whole number above 0.
func Number(d *caddyfile.Dispenser, value *int) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	n, err := strconv.Atoi(d.Val())
	if err != nil || n < 1 {
		return d.Errf("'%s' is no whole number above 0", d.Val())
	}
	*value = n
	return noMore(d)
}

// Duration reads exactly one duration above 0.
func Duration(d *caddyfile.Dispenser, value *caddy.Duration) error {
	if err := NextDuration(d, value); err != nil {
		return err
	}
	return noMore(d)
}

// NextDuration reads a duration above 0 and leaves the rest of the line.
func NextDuration(d *caddyfile.Dispenser, value *caddy.Duration) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	parsed, err := caddy.ParseDuration(d.Val())
	if err != nil || parsed <= 0 {
		return d.Errf("'%s' is no duration above 0, such as 30s or 24h", d.Val())
	}
	*value = caddy.Duration(parsed)
	return nil
}

func noMore(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("surplus argument '%s'", d.Val())
	}
	return nil
}

// OneOf reads exactly one word out of those that are allowed.
func OneOf(d *caddyfile.Dispenser, value *string, allowed ...string) error {
	name := d.Val()
	if !d.NextArg() {
		return d.Errf("%s wants one of: %s", name, strings.Join(allowed, ", "))
	}
	if !slices.Contains(allowed, d.Val()) {
		return d.Errf("%s: '%s' is not one of: %s", name, d.Val(), strings.Join(allowed, ", "))
	}
	*value = d.Val()
	return noMore(d)
}

// MoreWords reads one word or more and adds them to those read before.
func MoreWords(d *caddyfile.Dispenser, values *[]string) error {
	args := d.RemainingArgs()
	if len(args) == 0 || slices.Contains(args, "") {
		return d.ArgErr()
	}
	*values = append(*values, args...)
	return nil
}
