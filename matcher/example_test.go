package matcher_test

import (
	"fmt"

	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
)

const file = `User-agent: *
Disallow: /

User-agent: examplebot
Disallow: /private
Allow: /private/press
Disallow: /*.pdf$
`

// Parse the file once, make a matcher for each crawler, and ask it for each URL.
func Example() {
	r := parser.Parse([]byte(file))
	m := matcher.New(r, "examplebot-news", "examplebot")
	for _, path := range []string{"/", "/private/x", "/private/press/2025", "/report.pdf", "/report.pdf?download"} {
		if v := m.Match(path); v.Matched {
			fmt.Printf("%s: allowed %t by line %d, %q\n", path, v.Allowed, v.Rule.Line, v.Rule)
		} else {
			fmt.Printf("%s: allowed, no rule matches\n", path)
		}
	}
	// Output:
	// /: allowed, no rule matches
	// /private/x: allowed false by line 5, "Disallow: /private"
	// /private/press/2025: allowed true by line 6, "Allow: /private/press"
	// /report.pdf: allowed false by line 7, "Disallow: /*.pdf$"
	// /report.pdf?download: allowed, no rule matches
}

// The first token with a group counts, then the global group.
func ExampleMatcher_Token() {
	r := parser.Parse([]byte(file))
	fmt.Println(matcher.New(r, "ExampleBot-News", "ExampleBot").Token())
	fmt.Println(matcher.New(r, "otherbot").Token())
	// Output:
	// ExampleBot
	// *
}

// Where the server behind the URL is not known, judge every form to which it may
// resolve the path.
func ExampleMatcher_MatchStrict() {
	m := matcher.New(parser.Parse([]byte(file)), "examplebot")
	for _, path := range []string{"/%70rivate", "/x/../private", "//private", "/x%2f..%2fprivate", "/;v=1/private", "/x"} {
		v, form := m.MatchStrict(path)
		fmt.Printf("%s: allowed %t %v\n", path, v.Allowed, form)
	}
	// Output:
	// /%70rivate: allowed false F1
	// /x/../private: allowed false F2
	// //private: allowed false F3
	// /x%2f..%2fprivate: allowed false F4
	// /;v=1/private: allowed false F5
	// /x: allowed true
}

func ExampleNormalize() {
	fmt.Println(matcher.Normalize("/caf\u00e9/%7ejoe/a%2fb?q=%41"))
	// Output: /caf%C3%A9/~joe/a%2Fb?q=A
}

func ExamplePathOf() {
	fmt.Println(matcher.PathOf("https://example.com?page=2#top"))
	// Output: /?page=2
}
