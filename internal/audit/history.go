package audit

import (
	"cmp"
	"slices"
	"strconv"
)

// maxVersions bounds the versions of one robots.txt that a report tells apart.
const maxVersions = 32

// RobotsFiles are the robots.txt files that decided, and how they changed.
type RobotsFiles struct {
	// Files is how many were seen, Changed how many of them changed.
	Files   int `json:"files"`
	Changed int `json:"changed"`
	// Changes are in the order of their time.
	Changes []RobotsChange `json:"changes"`
	// Complete: no file was left out for lack of memory.
	Complete bool `json:"complete"`
}

// RobotsChange is one change of one robots.txt within the logs.
type RobotsChange struct {
	RobotsURL string `json:"robots_url"`
	// At is when the new version was fetched, RFC 3339.
	At     string        `json:"at"`
	Before RobotsVersion `json:"before"`
	After  RobotsVersion `json:"after"`
}

// RobotsVersion is one state of a robots.txt.
type RobotsVersion struct {
	// SHA256 and Size are those of the file; empty where there was none.
	SHA256 string `json:"sha256,omitempty"`
	Size   int    `json:"size,omitempty"`
	// Status is the answer's, of versions without a file.
	Status int `json:"status,omitempty"`
	// Requests were decided by it.
	Requests int64 `json:"requests"`
}

func (v RobotsVersion) same(other RobotsVersion) bool {
	return v.SHA256 == other.SHA256 && v.Status == other.Status
}

// String names the version for people: a short hash and size, or the status.
func (v RobotsVersion) String() string {
	if v.SHA256 == "" {
		return "no file (status " + strconv.Itoa(v.Status) + ")"
	}
	return v.SHA256[:min(len(v.SHA256), 12)] + " (" + strconv.Itoa(v.Size) + " bytes)"
}

// robotsFile is one robots.txt over time: its versions by when they were
// fetched. Logs are written when requests end, so they come in any order.
type robotsFile struct {
	versions []fetchedVersion
	requests int64
	crowded  bool
}

type fetchedVersion struct {
	RobotsVersion
	first, last string // when it was fetched, RFC 3339 in UTC
}

// robotsHistory is the files that decided, the most used ones where there are
// too many.
type robotsHistory struct {
	files map[string]*robotsFile
	full  bool
}

// see notes what a record was decided by. Records without a usable copy say
// nothing about the file.
func (h *robotsHistory) see(e *entry) {
	if len(e.fetchedAt) == 0 || len(e.robotsURL) == 0 {
		return
	}
	f := h.files[string(e.robotsURL)]
	if f == nil {
		if len(h.files) >= 2*maxRobots {
			h.prune()
		}
		f = new(robotsFile)
		h.files[string(e.robotsURL)] = f
	}
	f.see(e)
}

func (f *robotsFile) see(e *entry) {
	f.requests++
	for i := len(f.versions) - 1; i >= 0; i-- {
		v := &f.versions[i]
		if v.first <= view(e.fetchedAt) && view(e.fetchedAt) <= v.last && v.matches(e) {
			v.Requests++
			return
		}
	}
	if len(f.versions) >= maxVersions {
		f.crowded = true
		return
	}
	next := fetchedVersion{first: string(e.fetchedAt), last: string(e.fetchedAt)}
	next.Requests = 1
	if len(e.version) > 0 {
		next.SHA256, next.Size = string(e.version), int(e.size)
	} else {
		next.Status = int(e.status)
	}
	f.insert(next)
}

func (v *fetchedVersion) matches(e *entry) bool {
	if len(e.version) > 0 {
		return v.SHA256 == string(e.version)
	}
	return v.SHA256 == "" && v.Status == int(e.status)
}

// insert keeps the versions in the order of their fetches and joins neighbours
// that are the same.
func (f *robotsFile) insert(next fetchedVersion) {
	i, _ := slices.BinarySearchFunc(f.versions, next, func(a, b fetchedVersion) int { return cmp.Compare(a.first, b.first) })
	f.versions = slices.Insert(f.versions, i, next)
	for i := len(f.versions) - 1; i > 0; i-- {
		before, after := &f.versions[i-1], &f.versions[i]
		if before.same(after.RobotsVersion) {
			before.last = max(before.last, after.last)
			before.Requests += after.Requests
			f.versions = slices.Delete(f.versions, i, i+1)
		}
	}
}

func (h *robotsHistory) prune() {
	h.full = true
	urls := make([]string, 0, len(h.files))
	for url := range h.files {
		urls = append(urls, url)
	}
	slices.SortFunc(urls, func(a, b string) int {
		return cmp.Or(cmp.Compare(h.files[b].requests, h.files[a].requests), cmp.Compare(a, b))
	})
	for _, url := range urls[maxRobots:] {
		delete(h.files, url)
	}
}

// changes lists every change, in the order of time.
func (h *robotsHistory) changes() RobotsFiles {
	out := RobotsFiles{Files: len(h.files), Changes: []RobotsChange{}, Complete: !h.full}
	for url, f := range h.files {
		if len(f.versions) > 1 {
			out.Changed++
		}
		out.Complete = out.Complete && !f.crowded
		for i := 1; i < len(f.versions); i++ {
			out.Changes = append(out.Changes, RobotsChange{
				RobotsURL: url, At: f.versions[i].first,
				Before: f.versions[i-1].RobotsVersion, After: f.versions[i].RobotsVersion,
			})
		}
	}
	slices.SortFunc(out.Changes, func(a, b RobotsChange) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.RobotsURL, b.RobotsURL))
	})
	return out
}
