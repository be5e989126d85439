package agent_test

import (
	"fmt"

	"github.com/robotsgate/robotsgate/agent"
)

func ExampleIdentify() {
	for _, userAgent := range []string{
		"Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)",
		"Screaming Frog SEO Spider/5.1",
		"Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
		"",
	} {
		a := agent.Identify(userAgent)
		fmt.Printf("%v %q %q\n", a.Bot, a.Name, a.Tokens())
	}
	// Output:
	// true "YandexImages" ["YandexImages" "Yandex"]
	// true "Screaming Frog SEO Spider" ["Screaming Frog SEO Spider" "Googlebot"]
	// false "" []
	// true "" []
}

func ExampleExplain() {
	for _, why := range agent.Explain("Mozilla/5.0 (compatible; Acme/1.0; +https://acme.example)") {
		fmt.Println(why)
	}
	// Output:
	// a bot, since the unknown name "Acme" follows "compatible;"
	// a bot, since it carries the address "https://acme.example"
	// a bot, since the header does not have the shape of a browser's
}

func ExampleNewIdentifier() {
	id := agent.NewIdentifier([]string{"kiosk"}, []string{"acme handset"})
	fmt.Println(id.Identify("Mozilla/5.0 (X11; Linux x86_64; Kiosk) Gecko/20100101 Firefox/132.0").Bot)
	fmt.Println(id.Identify("ACME Handset 7").Bot)
	// Output:
	// true
	// false
}
