package intercept

import (
	"fmt"
	"strings"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// pattern names one host, or all hosts below a suffix.
type pattern struct {
	host   string
	suffix bool
}

// parsePatterns reads hosts and `*.suffix` into the normal form of hosts.
func parsePatterns(words []string) ([]pattern, error) {
	patterns := make([]pattern, 0, len(words))
	for _, word := range words {
		name, suffix := strings.CutPrefix(word, "*.")
		authority := name
		if strings.Count(name, ":") > 1 && !strings.HasPrefix(name, "[") {
			authority = "[" + name + "]"
		}
		o, err := origin.New("https", authority)
		if err != nil {
			return nil, fmt.Errorf("%q is no host: %w", word, err)
		}
		if o.Port != 443 || strings.HasSuffix(authority, ":443") {
			return nil, fmt.Errorf("%q names a port; write the host alone, it is skipped on every port", word)
		}
		patterns = append(patterns, pattern{host: o.Host, suffix: suffix})
	}
	return patterns, nil
}

func (p pattern) matches(host string) bool {
	if !p.suffix {
		return host == p.host
	}
	below, ok := strings.CutSuffix(host, p.host)
	return ok && len(below) > 1 && below[len(below)-1] == '.'
}
