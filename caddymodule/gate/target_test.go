package gate

import "testing"

// TestCheckTarget has the templates that must load; the scripts of the command
// have those that must not.
func TestCheckTarget(t *testing.T) {
	for _, template := range []string{
		"https://books.example.com{http.request.uri}",
		"http://books.example.com:8080{http.request.uri}",
		"http://[2001:db8::1]:8080{http.request.uri}",
		"http://[{http.request.host.labels.0}]/",
		"https://{http.request.host.labels.2}.example.com/x{http.request.uri}",
		"https://xn--{http.request.host.labels.2}/",
		"https://books.{http.request.host.labels.2}:8443/",
		"https://books.example.com:{http.request.port}{http.request.uri}",
		"{http.request.scheme}://{http.request.host}{http.request.uri}",
		"HTTPS://BOOKS.example.com",
		"https://books.example.com?q={http.request.uri.query}",
	} {
		if err := checkTarget(template); err != nil {
			t.Errorf("%s is refused: %v", template, err)
		}
	}
}
