"""The worker in a browser of docs/workers.md, from another origin that is listed: `event_source.py PORT`."""

import http.server
import json
import pathlib
import sys
import threading
import time
import urllib.request

from chromium import Page, browser

PORT = int(sys.argv[1])
PAGE = pathlib.Path(__file__).parent / "../../../docs/workers/worker.html"
PATIENCE_S = 60
MESSAGES = 100


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves the page."""

    def do_GET(self):
        body = PAGE.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def command(*words):
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/v1/command", json.dumps(words).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def until(true, what):
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.02)


def work(tab, first):
    """Has the page do some messages, the last of which is a text that is not in ASCII."""
    bodies = [f"message{number}" for number in range(first, first + MESSAGES)] + [f"gr\u00f6\u00dfe{first}"]
    for body in bodies:
        command("Q.PUT", "{jobs}", body)
    until(lambda: command("Q.LEN", "{jobs}") == 0, f"{bodies[0]} and those behind it")
    results = command("HMGET", "{jobs}:results", *bodies)
    assert results == [body.upper() for body in bodies[:-1]] + [f"GR\u00d6SSE{first}"], results
    tab.until(f"document.getElementById('done').value >= {first + MESSAGES}")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = f"http://127.0.0.1:{server.server_address[1]}"
    with browser() as chromium:
        # A page of an origin that is not listed gets nothing.
        command("Q.PUT", "{jobs}", "first")
        tab = Page(chromium)
        tab.open(f"{page}/?api=http://127.0.0.1:{PORT}/v1")
        tab.until("performance.getEntriesByType('resource').some((it) => it.name.includes('/v1/queues/'))")
        command("CONFIG", "SET", "http-cors-origins", page)
        assert command("Q.PEEK", "{jobs}")[0]["deliveries"] == 0
        tab.open(f"{page}/?api=http://127.0.0.1:{PORT}/v1")
        until(lambda: command("Q.LEN", "{jobs}") == 0, "the first message")
        work(tab, 0)
        # Its connection is lost while a message is held: it comes again by itself, and gets that once more.
        command("CLIENT", "KILL", "TYPE", "normal")
        work(tab, MESSAGES)


main()
