"""Asks for URLs through a proxy with a library of Python's, trusting one root.

Arguments: library, proxy, PEM file of the root, URLs. Output: a JSON line for
each URL.
"""

import asyncio
import json
import ssl
import sys

library, proxy, root, urls = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
AGENT = {"User-Agent": "ExampleBot/1.0"}


def say(status, headers, body, version=""):
    gate = headers.get("X-Robots-Gate", "")
    print(json.dumps({"status": status, "gate": gate, "body": body, "proto": version}), flush=True)


def fail(error):
    print(json.dumps({"error": repr(error)}), flush=True)


def ask_requests():
    import requests

    with requests.Session() as session:
        session.trust_env = False
        session.proxies = {"https": proxy}
        session.verify = root
        for url in urls:
            try:
                answer = session.get(url, headers=AGENT, timeout=60)
                say(answer.status_code, answer.headers, answer.text)
            except requests.RequestException as error:
                fail(error)


def ask_httpx():
    import httpx

    with httpx.Client(proxies=proxy, verify=root, trust_env=False, timeout=60) as client:
        for url in urls:
            try:
                answer = client.get(url, headers=AGENT)
                say(answer.status_code, answer.headers, answer.text, answer.http_version)
            except httpx.HTTPError as error:
                fail(error)


async def ask_aiohttp():
    import aiohttp

    trusted = ssl.create_default_context(cafile=root)
    async with aiohttp.ClientSession() as session:
        for url in urls:
            try:
                async with session.get(url, headers=AGENT, proxy=proxy, ssl=trusted) as answer:
                    say(answer.status, answer.headers, await answer.text())
            except aiohttp.ClientError as error:
                fail(error)


def ask_scrapy():
    import scrapy
    from scrapy.crawler import CrawlerProcess

    class Spider(scrapy.Spider):
        name = "intercept"
        custom_settings = {
            "ROBOTSTXT_OBEY": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 1,
            "DOWNLOAD_TIMEOUT": 60,
            "LOG_LEVEL": "CRITICAL",
            # Scrapy checks no certificates otherwise. The root is the one
            # that SSL_CERT_FILE names.
            "DOWNLOADER_CLIENTCONTEXTFACTORY": "scrapy.core.downloader.contextfactory.BrowserLikeContextFactory",
            "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
        }

        def start_requests(self):
            for url in urls:
                meta = {"proxy": proxy, "handle_httpstatus_all": True}
                yield scrapy.Request(url, headers=AGENT, meta=meta, callback=self.answered, errback=self.failed)

        def answered(self, response):
            headers = {k.decode().title(): v[0].decode() for k, v in response.headers.items()}
            say(response.status, headers, response.text)

        def failed(self, failure):
            fail(failure.value)

    process = CrawlerProcess()
    process.crawl(Spider)
    process.start()


if library == "requests":
    ask_requests()
elif library == "httpx":
    ask_httpx()
elif library == "aiohttp":
    asyncio.run(ask_aiohttp())
elif library == "scrapy":
    ask_scrapy()
