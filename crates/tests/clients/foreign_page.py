"""A page of another site in a browser, which tries to read and to change what is in Basalt: `foreign_page.py PORT`.

The page tries everything that browsers let a page send to another host. A server that takes everything says first what
arrives there, so that nothing is thought to be refused which the browser has never sent.
"""

import http.server
import json
import sys
import threading
import time
import urllib.request

from chromium import Page, browser

PORT = int(sys.argv[1])
SECRET = "the-secret"
# Names of which the browser's own resolver says that they are this machine: that of a rebound page, and one in a network
# at home, to which browsers do not tell where a request comes from.
NAMES = ["evil.test", "db.home"]
PATIENCE_S = 20

PAGE = """<!doctype html><title>harmless</title><body><script>
const base = new URLSearchParams(location.search).get("base");
window.seen = [];
const see = (what) => window.seen.push(String(what));
const frame = (name) => document.body.appendChild(Object.assign(document.createElement("iframe"), { name }));
const form = (path, type, text) => {
  frame("f" + path.length);
  const form = document.body.appendChild(document.createElement("form"));
  Object.assign(form, { method: "post", action: base + path, enctype: type, target: "f" + path.length });
  const input = form.appendChild(document.createElement("input"));
  Object.assign(input, { name: text, value: "" });
  form.submit();
};
const write = JSON.stringify(["SET", "secret", "stolen"]);
const tries = async () => {
  for (const path of ["/v1/strings/secret", "/hustdb/put?key=stolen&val=1", "/put?key=stolen&val=1", "/cache/put?key=stolen&val=1",
    "/hustmq/put?queue=stolen&item=1", "/hustdb/del?key=secret", "/metrics"]) {
    document.body.append(Object.assign(new Image(), { src: base + path + (path.includes("?") ? "&" : "?") + "image" }));
    document.body.append(Object.assign(document.createElement("script"), { src: base + path }));
    frame("x").src = base + path;
    for (const mode of ["cors", "no-cors"]) {
      await fetch(base + path, { mode, credentials: "include" }).then((answer) => answer.text()).then(see, () => {});
    }
  }
  form("/v1/strings/stolen?op=append", "text/plain", "stolen");
  form("/v1/command", "text/plain", write);
  form("/v1/queues/stolen/messages", "multipart/form-data", "stolen");
  for (const [path, body] of [["/v1/command", write], ["/v1/batch", `[${write}]`], ["/v1/strings/stolen?op=append", "x"]]) {
    for (const type of ["text/plain", "application/json"]) {
      for (const mode of ["cors", "no-cors"]) {
        const headers = { "Content-Type": type };
        await fetch(base + path, { method: "POST", mode, body, headers, credentials: "include" }).then((answer) => answer.text()).then(see, () => {});
      }
    }
    navigator.sendBeacon(base + path, body);
  }
  for (const method of ["PUT", "DELETE", "PATCH"]) {
    await fetch(base + "/v1/strings/secret", { method, body: method === "DELETE" ? null : "stolen" }).then((answer) => answer.text()).then(see, () => {});
  }
  for (const path of ["/v1/channels/news", "/v1/streams/log", "/v1/queues/mail"]) {
    const events = new EventSource(base + path);
    events.onopen = () => see("events of " + path + " are open");
    events.onmessage = (event) => see(event.data);
    const socket = new WebSocket(base.replace("http", "ws") + path);
    socket.onopen = () => { see("a socket to " + path + " is open"); socket.send('{"put":"stolen"}'); };
    socket.onmessage = (event) => see(event.data);
  }
  await new Promise((done) => setTimeout(done, 500));
  window.done = true;
};
tries();
</script>"""


class Foreign(http.server.BaseHTTPRequestHandler):
    """Serves the page."""

    def do_GET(self):
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Credulous(http.server.BaseHTTPRequestHandler):
    """Takes everything, and notes it."""

    arrived = set()

    def note(self):
        upgrade = self.headers.get("Upgrade", "")
        self.arrived.add(f"{self.command} {self.path.split('?')[0]} {upgrade}".strip())
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.send_header("Access-Control-Allow-Origin", self.headers.get("Origin", "*"))
        self.send_header("Access-Control-Allow-Credentials", "true")
        self.send_header("Access-Control-Allow-Headers", "Content-Type")
        self.send_header("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, PATCH")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = note

    def log_message(self, *_):
        pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def command(*words):
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/v1/command", json.dumps(words).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def content():
    """All that there is, by key."""
    return {key: command("OBJECT", "DESCRIBE", key) for key in sorted(command("KEYS", "*"))}


def attack(tab, page, base):
    """What the page at this address has seen of the server at `base`."""
    tab.open(f"{page}/?base={base}")
    tab.until("window.done", f"{page} against {base}")
    return tab.run("window.seen.filter((text) => text !== '').join('\\n')")


def main():
    foreign, credulous = serve(Foreign), serve(Credulous)
    command("SET", "secret", SECRET)
    command("XADD", "log", "1-1", "data", SECRET)
    command("Q.PUT", "mail", SECRET)
    before = content()
    rules = ", ".join(f"MAP {name} 127.0.0.1" for name in NAMES)
    with browser([f"--host-resolver-rules={rules}"]) as chromium:
        tab = Page(chromium)
        attack(tab, f"http://evil.test:{foreign}", f"http://127.0.0.1:{credulous}")
        wanted = {"GET /hustdb/put", "POST /v1/command", "POST /v1/strings/stolen", "PUT /v1/strings/secret", "POST /v1/queues/stolen/messages",
                  "GET /v1/channels/news websocket", "GET /v1/channels/news"}
        missing = wanted - Credulous.arrived
        assert not missing, f"the browser has not sent {missing}: it has {sorted(Credulous.arrived)}"
        for page in [f"http://evil.test:{foreign}", f"http://localhost:{foreign}", f"http://127.0.0.1:{foreign}"]:
            for host in ["127.0.0.1", "localhost", "db.home", "evil.test"]:
                seen = attack(tab, page, f"http://{host}:{PORT}")
                assert SECRET not in seen and "open" not in seen, f"{page} has read of {host}: {seen}"
                now = content()
                assert now == before, f"{page} has changed, by {host}, {before} to {now}"
        # A page whose name has been rebound to this server asks as one of its own.
        tab.open(f"http://evil.test:{PORT}/v1/strings/secret")
        assert SECRET not in tab.run("document.documentElement.innerText"), "a rebound name is answered"
        tab.open(f"http://evil.test:{PORT}/")
        script = "fetch('/v1/strings/secret').then((answer) => answer.text())"
        assert SECRET not in tab.run(script), "a rebound page reads"
        # Nor does following a link show anything.
        tab.open(f"http://localhost:{foreign}/?base=http://127.0.0.1:{credulous}")
        tab.run(f"location.href = 'http://127.0.0.1:{PORT}/v1/strings/secret'")
        time.sleep(0.5)
        assert SECRET not in (tab.run("document.documentElement.innerText") or ""), "a link shows a value"
        assert content() == before


main()
