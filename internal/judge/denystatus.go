package judge

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/robotsgate/robotsgate/internal/decision"
)

// DenyStatus is the status of denials instead of each reason's own.
type DenyStatus struct {
	// Status is an error status from 400 to 599.
	Status int `json:"status"`
	// Reasons are those it is for. Without any it is for all whose own
	// status is 403.
	Reasons []decision.Reason `json:"reasons,omitempty"`
}

// StatusOf is the status of a denial for that reason under this policy.
func (c *Compiled) StatusOf(reason decision.Reason) int {
	if status := c.denyStatus[reason]; status != 0 {
		return status
	}
	return reason.Status()
}

// compileDenyStatus spreads the statuses over the reasons; one that is named
// wins over a status for all.
func compileDenyStatus(list []DenyStatus) (map[decision.Reason]int, error) {
	var general int
	named := make(map[decision.Reason]int)
	for _, d := range list {
		switch {
		case d.Status < 400 || d.Status > 599:
			return nil, fmt.Errorf("deny_status: %d is no error status from 400 to 599", d.Status)
		case d.Status == http.StatusProxyAuthRequired:
			return nil, fmt.Errorf("deny_status: 407 asks clients for proxy credentials; use another status")
		case len(d.Reasons) == 0 && general != 0:
			return nil, fmt.Errorf("'deny_status' without reasons is given twice; keep one, or name the reasons of each")
		case len(d.Reasons) == 0:
			general = d.Status
		}
		for _, reason := range d.Reasons {
			switch {
			case !slices.Contains(decision.Denials(), reason):
				return nil, fmt.Errorf("deny_status: %q is no reason of a denial; those are %v", reason, decision.Denials())
			case named[reason] != 0:
				return nil, fmt.Errorf("deny_status: %s is named twice", reason)
			}
			named[reason] = d.Status
		}
	}
	for _, reason := range decision.Denials() {
		if general != 0 && named[reason] == 0 && reason.Status() == http.StatusForbidden {
			named[reason] = general
		}
	}
	return named, nil
}
