"""Sends the requests of standard input through a proxy with Python requests.

Input and output are JSON lines, one for each request.
"""

import base64
import json
import sys

import requests

proxy = sys.argv[1]
session = requests.Session()
session.trust_env = False
session.proxies = {"http": proxy}

for line in sys.stdin:
    job = json.loads(line)
    said = {"id": job["id"]}
    try:
        answer = session.request(
            job["method"],
            job["url"],
            headers={"User-Agent": job["agent"]},
            data=base64.b64decode(job["body"]) or None,
            allow_redirects=False,
            timeout=60,
        )
        said["status"] = answer.status_code
        said["gate"] = answer.headers.get("X-Robots-Gate", "")
        said["proxy"] = answer.headers.get("Proxy-Status", "")
        said["type"] = answer.headers.get("Content-Type", "")
        said["body"] = base64.b64encode(answer.content).decode()
    except requests.RequestException as error:
        said["error"] = repr(error)
    print(json.dumps(said))
