// Package agent answers the gate's first question: who is asking? From a
// User-Agent header it says whether the request comes from a bot, what the bot
// is called, and which groups of a robots.txt it has to obey.
//
// # The rule
//
// A User-Agent is a bot's if one of these holds, and a browser's otherwise.
// [Explain] names those that hold.
//
//  1. It is missing, or has no word in it.
//  2. It has a name that crawler-user-agents lists.
//  3. It has a word, or a part of a word, that only bots, automation, HTTP
//     libraries and command-line tools use of themselves: "bot", "crawl",
//     "spider", "headless", "http", "python", "monitor"…
//  4. It carries a URL, an e-mail address, or a bare domain name.
//  5. The first name behind "compatible;" is no browser's.
//  6. The comment on the layout engine, "(KHTML, like Gecko; …)", has a name
//     that is no browser's.
//  7. It is a desktop browser's header with something added: a name that speaks
//     of a bot's work ("Agent", "Audit", "Link", "Scan"…); or any name that
//     opens an item among the systems ("X11; Linux x86_64; Foo"); or any name
//     that follows the complete header ("… Safari/537.36 Foo"), unless Foo is
//     a browser built on the one before it: it says so ("FooBrowser"), has the
//     same version, or a version of four numbers.
//  8. It does not have the shape of a browser's: "Mozilla/" or "Opera/" first,
//     "Mozilla/5.0" with a comment behind it, then an engine or a system, and
//     both where unknown names stand.
//
// An operator's words come before all that: a header with a not_bot word is no
// bot's, else one with a bot word is. A missing header is a bot's in any case.
//
// Case does not matter. At most [MaxExamined] bytes are looked at. Words of
// browsers, engines and systems, and the word behind "like", are never a
// reason. On phones, tablets, television sets and consoles apps add names of
// every kind, so that points 5 and 6 hold there and 7 does not, and a listed
// name counts among the devices' names only if it stands alone. In headers of
// browsers before AppleWebKit and Firefox 4, whose extensions wrote what they
// liked, bare domain names and additions count in the first comment at most.
//
// The lists that this speaks of are the files in the folder words.
//
// A header can be made up: a bot that sends a browser's User-Agent is a browser
// to this package, as are headed Chromium and every Firefox under Playwright or
// Selenium. Conversely, headers of old handsets and of apps that are not shaped
// like a browser's are a bot's.
//
// # The name and the product tokens
//
// Candidates for a bot's name are the phrases of the header that are no
// browser's words, up to the next version, separator or such word. The best one
// is, in this order: the first behind "compatible;", the first product of the
// header, a later product outside comments, a versioned item of a comment, any
// other item. With a listed name or a bot's word in it (points 2 and 3), the
// first product comes before a name behind "compatible;" that has none, and a
// versioned item before a later product that has none. URLs and e-mail
// addresses have no candidates, nor have the word behind "like", the models of
// handsets, phrases of generic words alone ("Web Crawler"), and sentences.
//
// The product tokens (RFC 9309 §2.2.1) are, in order of preference:
//
//  1. the name, as a phrase;
//  2. the word in it that names the bot by itself: one with a bot's word in it,
//     else the only one that is not generic, else the second of two;
//  3. their documented parents, such as Googlebot for Googlebot-News and Yandex
//     for YandexImages;
//  4. if the name stands outside comments, the further products outside
//     comments: aiohttp for "Python/3.11 aiohttp/3.9".
//
// Group names are compared whole, so that a group named after a generic or a
// browser's word ("bot", "Mozilla", "compatible") captures nobody. A browser
// has no token: it obeys "*".
//
// # Updating
//
// The list words/crawlers.txt is generated from the npm package that
// crawlers.json pins by version and content. To pin and check the newest one:
//
//	go -C agent run ./internal/crawlers -update
//
// It measures the figures of the development sets before and after, and puts
// back what was there and fails if one falls.
package agent

//go:generate go run ./internal/crawlers
