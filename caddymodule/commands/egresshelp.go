package commands

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
)

// authorityFile is where the default storage keeps the root of an authority.
func authorityFile(id string) string {
	return filepath.Join(caddy.AppDataDir(), "pki", "authorities", certmagic.StorageKeys.Safe(id), "root.crt")
}

// printIntercepted says how clients come to trust the gate.
func printIntercepted(out io.Writer, proxy, file string) {
	fmt.Fprintf(out, `
HTTPS is intercepted. Clients must trust this certificate, which was installed
nowhere:

  %[2]s

What to set, besides the proxy, for

  curl             export CURL_CA_BUNDLE=%[2]s
  wget             wget --ca-certificate=%[2]s URL
  Python requests  export REQUESTS_CA_BUNDLE=%[2]s
  httpx, aiohttp   export SSL_CERT_FILE=%[2]s
  Scrapy           export SSL_CERT_FILE=%[2]s
  Node             export NODE_EXTRA_CA_CERTS=%[2]s
  undici           new ProxyAgent({uri: "%[1]s", requestTls: {ca: fs.readFileSync("%[2]s")}})
  Go               export SSL_CERT_FILE=%[2]s
  Chromium         mkdir -p ~/.pki/nssdb
                   certutil -d sql:$HOME/.pki/nssdb -A -n robotsgate -t C,, -i %[2]s
                   chromium --proxy-server=%[1]s

'robots ca' prints the certificate itself.
`, proxy, file)
}

func printNotIntercepted(out io.Writer) {
	fmt.Fprint(out, `
HTTPS is not intercepted: every CONNECT tunnel is refused, because the requests
inside cannot be judged.
`)
}
