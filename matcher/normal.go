package matcher

import (
	"unsafe"

	"github.com/robotsgate/robotsgate/parser"
)

// Normalize returns the form F1 of a path and query; see [parser.Normalize].
func Normalize(pathQuery string) string { return parser.Normalize(pathQuery) }

// shortForm is the length in octets up to which a form finds room on the stack.
const shortForm = 512

// normalIn returns the form F1 of a path and query, in room if it is large
// enough. The string must not outlive the use of room.
func normalIn(room []byte, pathQuery string) string {
	form := parser.AppendNormal(room, pathQuery)
	return unsafe.String(unsafe.SliceData(form), len(form))
}
