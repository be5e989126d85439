package agent

import "strings"

// class says what a word of a User-Agent means to the rules.
type class uint8

const (
	// browser words name browsers, engines, platforms, and what both append:
	// never a reason, never a token.
	browser class = 1 << iota
	// engine words are the browser words without which no browser's header is
	// complete.
	engine
	// platform words are those one of which opens a browser's first comment.
	platform
	// generic words say nothing of whose bot it is: never a token by themselves.
	generic
	// automated words give a bot away wherever they stand as a whole word.
	automated
)

// vocabulary maps lower-case words to their classes.
var vocabulary = buildVocabulary()

func buildVocabulary() map[string]class {
	m := make(map[string]class)
	for _, list := range []struct {
		class class
		words string
	}{
		{browser, browserWords},
		{browser | engine, engineWords},
		{browser | platform, platformWords},
		{generic, genericWords},
		{generic | automated, automatedWords},
		{automated, toolWords},
	} {
		for w := range strings.FieldsSeq(list.words) {
			m[w] |= list.class
		}
	}
	return m
}

const engineWords = `applewebkit gecko khtml trident msie presto goanna
	konqueror opera servo icab omniweb netfront ibrowse netpositive mspie
	webkit kaios`

const platformWords = `windows macintosh x11 linux android iphone ipad ipod
	compatible mac os os/2 win98 win95 winnt winnt4.0 win16 win32 win64 wow64
	cros freebsd openbsd netbsd sunos solaris beos haiku amigaos symbianos symbian
	series40 series60 series80 s60 blackberry bb10 playbook playstation nintendo
	wii xbox tizen smart-tv smarttv web0s webos hpwos meego maemo bada mobile tablet
	phone kaios fuchsia ubuntu wayland j2me maui danger pda palm palmos qnx aix
	irix hp-ux osf1 morphos risc dragonfly darwin u unknown ppc cpu touch kbd
	nokian9 kindle mobile; series70 pspp pspvita vita nx switch`

const browserWords = `mozilla chrome chromium safari firefox version mobile edge edg edga edgios
	opr opios opx opt opera mini mobi crios fxios focus klar gsa like u en us intel
	silk ucbrowser ubrowser uc ucweb samsungbrowser netscape netscape6 navigator
	iceweasel seamonkey epiphany maxthon mxbrowser yabrowser yowser brave waterfox
	palemoon puffin coc_coc_browser camino iron vivaldi coolnovo whale mqqbrowser
	qqbrowser lbbrowser icedragon comodo_dragon nokiabrowser mrchrome fennec arora
	corom flock swing duckduckgo ddg dooble rockmelt qihu mercury browser
	baiduboxapp sleipnir midori theworld browserng cometbird k-meleon rekonq
	huaweibrowser crosswalk vivobrowser heytapbrowser miuibrowser rocket electron
	lunascape qtwebengine core metasr se chromeplus qupzilla falkon otter min
	otherbrowser avast avg ccleaner aol herring agency atomicbrowser dolphin
	skyfire minimo bonecho granparadiso shiretoko namoroka minefield phoenix
	firebird galeon kazehakase conkeror iceape icecat swiftfox swiftweasel
	basilisk librefox librewolf floorp mypal k-ninja tor wyzo flashpeak slimjet
	slimboat cliqz citrio amigo sputnik orbitum nichrome kinza iridium superbird
	beamrise epic torch coast ghostery aloha ecosia qwant seznam
	wow64 win64 x64 x86_64 i686 i586 i386 amd64 aarch64 arm arm64 armv7l armv8l
	ppc64 ia64 nt rv build wv os x cpu intel ppc mac .net clr net net4.0c net4.0e
	media center pc infopath tablet slcc1 slcc2 ms-rtc lm sv1 tob touch
	fedora debian suse gentoo centos hat red mint arch slackware mandriva mandrake
	raspbian elementary cyanogenmod lightning thunderbird
	webview instagram snapchat pinterest flipboard kakaotalk naver line viber
	micromessenger wechat windowswechat nettype language fban fbav fbios fb_iab
	fbsv fbcr twitter fb4a messenger whatsapp telegram spotify stumbleupon
	alexatoolbar gtb6 gtb7.0 gtb7.1 mnenhy quicklook bmid u3 s40ovibrowser mms
	profile configuration midp-2.0 cldc-1.1 midp-1.0 cldc-1.0 up.browser up.link mmp
	release dalvik java symbian`

const genericWords = `bot robot crawler spider web search seo http https client agent the
	and for of a an by at in on from to with user useragent user-agent ua app
	service server site internet page link links news image images video
	library lib sdk api engine tool tools test tester testing www url pro plus
	free beta dev development version v default engine exporter insights checker
	check monitor monitoring validator analyzer fetcher reader feed rss preview
	archiver scraper scanner project open source open-source program software
	component class script request requests
	googlebot-like compatible; unknown none null undefined contact email info`

// automatedWords are generic words that only bots use of themselves.
const automatedWords = `bot robot bots robots crawler crawlers crawling spider spiders
	scraper scrapers scraping harvester indexer headless crawl`

const toolWords = `curl wget libwww-perl lwp python python-requests python-urllib
	aiohttp httpx okhttp axios node-fetch undici got guzzle scrapy java
	httpclient go-http-client ruby perl php playwright puppeteer selenium
	webdriver phantomjs slimerjs casperjs headlesschrome headlessedg
	electron-fetch jsdom nightmare splash cypress wkhtmltopdf wkhtmltoimage
	heritrix nutch httrack chrome-lighthouse lighthouse ptst zombie.js testcafe
	nikto nmap openvas sqlmap`
