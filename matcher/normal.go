package matcher

import "github.com/robotsgate/robotsgate/parser"

// Normalize returns the form F1 of a path and query; see [parser.Normalize].
func Normalize(pathQuery string) string { return parser.Normalize(pathQuery) }
