"""Sends the requests of standard input through a proxy with Scrapy.

Scrapy's own robots.txt check is off: the gate is to do its work. Input and
output are JSON lines, one for each request.
"""

import base64
import json
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

proxy = sys.argv[1]
jobs = [json.loads(line) for line in sys.stdin]


class Spider(scrapy.Spider):
    name = "rig"
    custom_settings = {
        "ROBOTSTXT_OBEY": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": 16,
        "DOWNLOAD_TIMEOUT": 60,
        "LOG_LEVEL": "ERROR",
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    }

    def start_requests(self):
        for job in jobs:
            yield scrapy.Request(
                job["url"],
                method=job["method"],
                headers={"User-Agent": job["agent"]},
                body=base64.b64decode(job["body"]),
                meta={"proxy": proxy, "handle_httpstatus_all": True, "id": job["id"]},
                dont_filter=True,
                callback=self.answered,
                errback=self.failed,
            )

    def answered(self, response):
        def header(name):
            return response.headers.get(name, b"").decode("latin-1")

        print(
            json.dumps(
                {
                    "id": response.meta["id"],
                    "status": response.status,
                    "gate": header("X-Robots-Gate"),
                    "proxy": header("Proxy-Status"),
                    "type": header("Content-Type"),
                    "body": base64.b64encode(response.body).decode(),
                }
            )
        )

    def failed(self, failure):
        print(json.dumps({"id": failure.request.meta["id"], "error": repr(failure.value)}))


process = CrawlerProcess()
process.crawl(Spider)
process.start()
