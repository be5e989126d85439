package cache

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/robotsgate/robotsgate/parser"
)

// NewCopy makes a copy that was not fetched: of a file named on the command
// line or in an override. Its times stay zero.
func NewCopy(state State, status int, body []byte) *Copy {
	c := &content{Robots: parser.Parse(body)}
	if state == StateRules {
		sum := sha256.Sum256(body)
		c.SHA256, c.Size = hex.EncodeToString(sum[:]), len(body)
	}
	return &Copy{content: c, State: state, Status: status}
}

// MarkArchived notes that the body is safely in storage.
func (c *Copy) MarkArchived() { c.archived.Store(true) }
