package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// isRedirect reports whether a status moves a GET elsewhere. 300, 305, 306 and
// unassigned 3xx do not.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// nextHop resolves the Location of a redirect and judges it. The authority is
// brought to its normal form, so that what is checked is what is dialled.
func (f *Fetcher) nextHop(from *url.URL, header http.Header) (*url.URL, Cause, error) {
	location := header.Get("Location")
	if location == "" {
		return nil, CauseRedirectRefused, errors.New("it names no Location")
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, CauseRedirectRefused, err
	}
	if to.Scheme != "http" && to.Scheme != "https" {
		return nil, CauseRedirectRefused, fmt.Errorf("scheme %q is neither http nor https", to.Scheme)
	}
	if from.Scheme == "https" && to.Scheme == "http" {
		return nil, CauseRedirectRefused, fmt.Errorf("from https to http, where anybody on the way could write the rules: %s", to.Redacted())
	}
	// A redirect gives us no credentials to send.
	to.User = nil
	target, err := origin.FromURL(to)
	if err != nil {
		return nil, CauseRedirectRefused, err
	}
	if err := f.config.CheckOrigin(target.Origin); err != nil {
		return nil, CauseDialDenied, err
	}
	next, err := url.Parse(target.URL())
	if err != nil {
		return nil, CauseRedirectRefused, err
	}
	return next, "", nil
}
