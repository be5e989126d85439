// Asks for URLs through a proxy with undici, trusting one root. Arguments:
// proxy, PEM file of the root, URLs. Output: a JSON line for each URL.
const fs = require("fs");
const { ProxyAgent, request } = require("undici");

const [proxy, root, ...urls] = process.argv.slice(2);
const dispatcher = new ProxyAgent({ uri: proxy, requestTls: { ca: fs.readFileSync(root) } });

(async () => {
  for (const url of urls) {
    try {
      const answer = await request(url, { dispatcher, headers: { "user-agent": "ExampleBot/1.0" } });
      const body = await answer.body.text();
      const gate = answer.headers["x-robots-gate"] || "";
      console.log(JSON.stringify({ status: answer.statusCode, gate, body }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) + " " + String(error.cause || "") }));
    }
  }
  await dispatcher.close();
})();
