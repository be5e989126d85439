package cache

import "github.com/robotsgate/robotsgate/parser"

// NewCopy makes a copy that was not fetched: of a file named on the command
// line or in an override. Its times stay zero.
func NewCopy(state State, status int, body []byte) *Copy {
	return &Copy{content: &content{Robots: parser.Parse(body)}, State: state, Status: status}
}
