package origin

import "strconv"

// A BadTargetError says why a target is refused with 400 bad_target. Its text
// never contains userinfo and may be shown to the client.
type BadTargetError struct {
	// Problem says what is wrong, lower case, e.g. `port "0" is not valid`.
	Problem string
	// Advice says what to send instead, e.g. `use a port from 1 to 65535`.
	Advice string
}

// Error returns problem and advice in one line.
func (e *BadTargetError) Error() string {
	return e.Problem + ": " + e.Advice
}

var (
	errNoHost   = bad("the target names no host", "send an absolute URL, or a Host header with every request")
	errUserinfo = bad("the target carries userinfo", "leave user:password@ out of the URL and send an Authorization header")
)

func bad(problem, advice string) *BadTargetError {
	return &BadTargetError{Problem: problem, Advice: advice}
}

// maxQuoted bounds how much of the client's text a message repeats, in octets.
const maxQuoted = 80

func quote(text string) string {
	if len(text) > maxQuoted {
		return strconv.QuoteToASCII(text[:maxQuoted]) + "…"
	}
	return strconv.QuoteToASCII(text)
}
