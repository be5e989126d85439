package audit

import (
	"net/url"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// sameTarget reports whether a request target as it was received comes to the
// URL that was judged: in absolute form to the whole, else to its path and query.
func sameTarget(uri, judged, path string) bool {
	if uri[0] != '/' {
		target, err := origin.ParseTarget(uri)
		return err == nil && target.URL() == judged
	}
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return false
	}
	got := u.EscapedPath()
	if u.RawQuery != "" || u.ForceQuery {
		got += "?" + u.RawQuery
	}
	return got == path
}
