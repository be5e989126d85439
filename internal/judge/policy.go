// Package judge decides one request: who asks, which robots.txt holds, what it
// says. It knows neither Caddy nor HTTP servers, so that the gate, the admin
// API and the command line all ask the same code.
package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robotsgate/robotsgate/agent"
	"github.com/robotsgate/robotsgate/internal/decision"
)

// Words of a policy.
const (
	AgentsBots  = "bots"
	AgentsAll   = "all"
	ModeEnforce = "enforce"
	ModeReport  = "report"
	PathsStrict = "strict"
	PathsRFC    = "rfc"
	// TunnelsRefuse and TunnelsHost say what becomes of a CONNECT that is
	// not intercepted.
	TunnelsRefuse = "refuse"
	TunnelsHost   = "host"
	WordAllow     = "allow"
	WordDeny      = "deny"
	// WordUnreachable treats a status as if robots.txt could not be reached.
	WordUnreachable = "unreachable"
)

// Policy is what one gate is configured to do. Its JSON form is canonical: it
// is hashed into the record's field policy. A Policy does not change once it
// is compiled.
type Policy struct {
	// Agents is whose requests are judged: bots or all.
	Agents string `json:"agents"`
	// Bots and NotBots extend the identification, as substrings.
	Bots    []string `json:"bot,omitempty"`
	NotBots []string `json:"not_bot,omitempty"`
	// Tokens are the configured product tokens, placeholders unreplaced.
	Tokens []string `json:"token,omitempty"`
	// Job and Target are templates, placeholders unreplaced.
	Job    string `json:"job,omitempty"`
	Target string `json:"target,omitempty"`
	Mode   string `json:"mode"`
	Paths  string `json:"paths"`
	// Tunnels is refuse or host. Default: refuse.
	Tunnels string `json:"tunnels"`
	// OnStatus replaces the access results of single statuses or classes.
	OnStatus []StatusRule `json:"on_status,omitempty"`
	// Unreachable says what holds where no usable copy exists.
	Unreachable string `json:"unreachable"`
	// Overrides replace the robots.txt of single origins.
	Overrides []Override `json:"override,omitempty"`
	// DenyStatus are the statuses of denials that are not the reasons' own.
	DenyStatus []DenyStatus `json:"deny_status,omitempty"`
	// Redact is query where records carry no query values.
	Redact string `json:"redact,omitempty"`
}

// StatusRule says what a status of robots.txt means instead of the RFC's access
// result.
type StatusRule struct {
	// Code is a status (403) or a class (4xx).
	Code string `json:"code"`
	// Action is allow, deny or unreachable.
	Action string `json:"action"`
}

// Default is the policy of a gate without subdirectives.
func Default() Policy {
	return Policy{Agents: AgentsBots, Mode: ModeEnforce, Paths: PathsStrict, Unreachable: WordDeny}
}

// Compiled is a policy ready for use by many requests at once.
type Compiled struct {
	Policy
	// Hash is the hex SHA-256 of the policy's canonical JSON.
	Hash       string
	canonical  []byte
	identifier *agent.Identifier
	onStatus   map[int]string
	onClass    [10]string
	overrides  *overrides
	denyStatus map[decision.Reason]int
}

// Compile checks a policy and prepares it. Errors name the field and the word.
func (p Policy) Compile() (*Compiled, error) {
	if p.Tunnels == "" {
		p.Tunnels = TunnelsRefuse
	}
	for _, w := range []struct{ field, word, a, b string }{
		{"agents", p.Agents, AgentsBots, AgentsAll},
		{"mode", p.Mode, ModeEnforce, ModeReport},
		{"paths", p.Paths, PathsStrict, PathsRFC},
		{"tunnels", p.Tunnels, TunnelsRefuse, TunnelsHost},
		{"unreachable", p.Unreachable, WordDeny, WordAllow},
	} {
		if w.word != w.a && w.word != w.b {
			return nil, fmt.Errorf("%s: %q is neither %s nor %s", w.field, w.word, w.a, w.b)
		}
	}
	for _, token := range p.Tokens {
		if err := checkToken(token); err != nil {
			return nil, err
		}
	}
	for _, w := range []struct {
		field string
		words []string
	}{{"bot", p.Bots}, {"not_bot", p.NotBots}} {
		if slices.ContainsFunc(w.words, func(word string) bool { return strings.TrimSpace(word) == "" }) {
			return nil, fmt.Errorf("%s: an empty substring is part of every User-Agent; name what sets the bot apart", w.field)
		}
	}
	c := &Compiled{Policy: p, onStatus: map[int]string{}}
	for _, rule := range p.OnStatus {
		if err := c.addStatus(rule); err != nil {
			return nil, err
		}
	}
	var err error
	if c.denyStatus, err = compileDenyStatus(p.DenyStatus); err != nil {
		return nil, err
	}
	if c.overrides, err = compileOverrides(p.Overrides); err != nil {
		return nil, err
	}
	c.identifier = agent.NewIdentifier(p.Bots, p.NotBots)
	if c.canonical, err = json.Marshal(p); err != nil {
		return nil, fmt.Errorf("encoding the policy: %w", err)
	}
	sum := sha256.Sum256(c.canonical)
	c.Hash = hex.EncodeToString(sum[:])
	return c, nil
}

// checkToken refuses a token that no group can name: it would leave the group
// of everyone without a word. Placeholders are known at the request alone.
func checkToken(token string) error {
	if strings.Contains(token, "{") {
		return nil
	}
	if strings.TrimSpace(token) == "" || strings.ContainsAny(token, "/#:\r\n\t") {
		return fmt.Errorf("token: %q is no product token; write the crawler's name alone, without version, such as examplebot", token)
	}
	return nil
}

func (c *Compiled) addStatus(rule StatusRule) error {
	switch rule.Action {
	case WordAllow, WordDeny, WordUnreachable:
	default:
		return fmt.Errorf("on_status %s: %q is not allow, deny or unreachable", rule.Code, rule.Action)
	}
	if len(rule.Code) == 3 && rule.Code[1:] == "xx" && rule.Code[0] >= '2' && rule.Code[0] <= '5' {
		class := rule.Code[0] - '0'
		if c.onClass[class] != "" {
			return fmt.Errorf("on_status %s: named twice", rule.Code)
		}
		c.onClass[class] = rule.Action
		return nil
	}
	code, err := strconv.Atoi(rule.Code)
	if err != nil || code < 200 || code > 599 || len(rule.Code) != 3 {
		return fmt.Errorf("on_status: %q is no status from 200 to 599 and no class such as 4xx", rule.Code)
	}
	if c.onStatus[code] != "" {
		return fmt.Errorf("on_status %s: named twice", rule.Code)
	}
	c.onStatus[code] = rule.Action
	return nil
}

// Canonical is the policy's JSON, whose hash is Hash.
func (c *Compiled) Canonical() []byte { return c.canonical }

// statusAction is the configured meaning of a status of robots.txt, "" where
// the access results of RFC 9309 hold.
func (c *Compiled) statusAction(status int) string {
	if action := c.onStatus[status]; action != "" {
		return action
	}
	if class := status / 100; class >= 0 && class < len(c.onClass) {
		return c.onClass[class]
	}
	return ""
}

// Judges reports whether requests of a are judged at all.
func (c *Compiled) Judges(a agent.Agent) bool {
	return c.Agents == AgentsAll || a.Bot
}

// Enforces reports whether robots decisions are enforced.
func (c *Compiled) Enforces() bool {
	return c.Mode == ModeEnforce
}
