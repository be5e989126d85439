package parser_test

import (
	"fmt"

	"github.com/robotsgate/robotsgate/parser"
)

func ExampleParse() {
	r := parser.Parse([]byte(`
# Nobody needs the drafts.
User-agent: *
Disallow: /drafts/

User-agent: ExampleBot/2.0
User-agent: otherbot
Allow: /drafts/public/
Disallow: /drafts/
Crawl-delay: 5

Sitemap: https://example.com/sitemap.xml
`))
	for group := range r.Groups() {
		for agent := range group.Agents() {
			fmt.Printf("line %d: group of %s\n", agent.Line, agent.Token)
		}
		for rule := range group.Rules() {
			fmt.Printf("line %d: %s\n", rule.Line, rule)
		}
	}
	for record := range r.Records() {
		fmt.Printf("line %d: %s is %s\n", record.Line, record.Key, record.Value)
	}
	// Output:
	// line 3: group of *
	// line 4: Disallow: /drafts/
	// line 6: group of ExampleBot
	// line 7: group of otherbot
	// line 8: Allow: /drafts/public/
	// line 9: Disallow: /drafts/
	// line 10: Crawl-delay is 5
	// line 12: Sitemap is https://example.com/sitemap.xml
}

func ExampleInspect() {
	report := parser.Inspect([]byte(`Disallow: /early
User-agent: *
Disalow: /private
Disallow: private/too
`))
	for _, w := range report.Warnings {
		fmt.Printf("line %d: %s\n", w.Line, w)
	}
	// Output:
	// line 1: the rule stands before the first User-agent line and is ignored; instead: put User-agent: * above it
	// line 3: "Disalow" is read as Disallow here, but other crawlers may ignore the line; instead: Disallow: /private
	// line 4: the pattern begins with neither / nor *, and every path begins with /, so it never matches; instead: Disallow: /private/too
}

func ExampleToken() {
	for _, name := range []string{"ExampleBot/2.0 (+https://example.com)", "*", "*bot*"} {
		fmt.Printf("%q\n", parser.Token(name))
	}
	// Output:
	// "ExampleBot"
	// "*"
	// ""
}
