"""A stand-in for Wikipedia's search on loopback: `WIKIPEDIA_API_URL=http://127.0.0.1:PORT/w/api.php`.

    with Wikipedia({"Tides": "The sea rises and falls twice a day."}) as wikipedia:
        settings.WIKIPEDIA_API_URL = wikipedia.url

As a process: `python -m tests.fakes.wikipedia --port 9100`.
"""

import argparse
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

ARTICLES = {
    "Billionaire": "A billionaire is a person with a net worth of at least one billion units of a currency. In 2024 "
    "there were 2,781 billionaires worldwide, who owned about 14.2 trillion dollars together.",
    "Wealth tax": "A wealth tax is a tax on a person's assets. In 1990 twelve countries of the OECD had one; by 2017 "
    "only four of them still did, because it was costly to collect.",
    "Economic inequality": "Economic inequality is the uneven distribution of income and wealth. The richest 10 "
    "percent of the world's people own about 76 percent of all wealth.",
    "Artificial intelligence": "Artificial intelligence is the capability of machines to perform tasks that are "
    "typically associated with human intelligence, such as learning and reasoning.",
}


class Wikipedia:
    """Every search finds the articles that share a word with it. `queries` holds what was searched."""

    def __init__(self, articles: Mapping[str, str] = ARTICLES, port: int = 0, *, finds_all: bool = False) -> None:
        self.articles, self.finds_all = articles, finds_all
        self.queries: list[str] = []
        self.agents: list[str] = []
        handler = type("Handler", (_Handler,), {"wikipedia": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/w/api.php"

    def found(self, query: str) -> list[dict[str, Any]]:
        self.queries.append(query)
        words = set(query.lower().split())
        titles = [t for t in self.articles if self.finds_all or words & set(f"{t} {self.articles[t]}".lower().split())]
        return [
            {
                "pageid": number,
                "ns": 0,
                "title": title,
                "index": number,
                "extract": self.articles[title],
                "fullurl": f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}",
            }
            for number, title in enumerate(titles, start=1)
        ]

    def run(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def __enter__(self) -> Self:
        threading.Thread(target=self.run, name="wikipedia", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    wikipedia: Wikipedia

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        self.wikipedia.agents.append(self.headers.get("User-Agent", ""))
        pages = self.wikipedia.found(asked.get("gsrsearch", [""])[0])
        query = {"searchinfo": {"totalhits": len(pages)}} | ({"pages": pages} if pages else {})
        body = json.dumps({"batchcomplete": True, "query": query}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--finds-all", action="store_true", help="every search finds every article")
    options = parser.parse_args()
    server = Wikipedia(port=options.port, finds_all=options.finds_all)
    print(server.url, flush=True)
    server.run()


if __name__ == "__main__":
    main()
