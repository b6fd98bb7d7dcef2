"""A headless Chromium over its debugging protocol, by pipes: no port, no package.

Messages are JSON, each ended by a zero byte, on the file descriptors 3 and 4 of the browser.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 60
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Backspace": 8, "End": 35, " ": 32}
# Browsers answer to themselves as much as to pages.
QUIET = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars",
    "--disable-features=Translate,OptimizationHints,MediaRouter", "--force-color-profile=srgb", "--remote-debugging-pipe",
]


def find():
    """The browser's path; None if there is none."""
    named = os.environ.get("BASALT_CHROMIUM")
    return named or next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


class Browser:
    def __init__(self, path, options):
        self.folder = tempfile.mkdtemp(prefix="basalt-chromium-")
        (commands, self.writer), (self.reader, answers) = os.pipe(), os.pipe()
        # The browser expects exactly these numbers.
        shell = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        words = ["bash", "-c", shell, "bash", str(commands), str(answers), path, *QUIET, *options, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(words, pass_fds=[commands, answers], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer, self.count, self.events = b"", 0, []

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.writer)
        os.close(self.reader)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, deadline):
        """The next message; None if there is none in time."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                return None
            part = os.read(self.reader, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, session=None, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        deadline = time.monotonic() + PATIENCE_S
        while (answer := self.receive(deadline)) is not None:
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError(f"{method}: no answer")


class Page:
    """A tab, which notes what goes wrong and where it asks."""

    def __init__(self, browser):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.troubles, self.requests = [], []
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility", "DOM"]:
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        result = self.browser.send(method, self.session, **params)
        self.take_events()
        return result

    def take_events(self):
        for event in self.browser.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.troubles.append(details.get("exception", {}).get("description", details["text"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                self.troubles.append(f"console.{params['type']}: {params['args']}")
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                self.troubles.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
            elif method == "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
        self.browser.events.clear()

    def run(self, script):
        """The value of a script's expression."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, script, what=None):
        """Waits until an expression is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > deadline:
                raise AssertionError(f"not in time: {what or script}\n{self.run('document.body.innerText')}\n{self.troubles}")
            time.sleep(0.02)

    def open(self, url):
        self.send("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def press(self, key, modifiers=0):
        """A key, by its name or character; 8 is Shift, 2 is Control."""
        code = KEYS.get(key, ord(key.upper()) if key.isalnum() and len(key) == 1 else 0)
        text = "\r" if key == "Enter" else key if len(key) == 1 and modifiers in (0, 8) else ""
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        for character in text:
            self.press(character)

    def tab_to(self, script, most=60):
        """Presses Tab until an expression about the element with the focus, `e`, is true."""
        for _ in range(most):
            self.press("Tab")
            if self.run(f"((e) => {script})(document.activeElement)"):
                return
        raise AssertionError(f"Tab does not lead to {script}")

    def click(self, name, within="document"):
        """Clicks the button or link with this text."""
        script = (
            f"[...{within}.querySelectorAll('button, a')].find((e) => e.offsetParent !== null && "
            f"(e.textContent.trim() === {json.dumps(name)} || e.getAttribute('aria-label') === {json.dumps(name)}))"
        )
        self.until(f"Boolean({script})", f"a button {name}")
        self.run(f"{script}.click()")

    def screenshot(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def nameless(self):
        """Controls and pictures that the accessibility tree has no name for."""
        named = {"button", "link", "textbox", "searchbox", "combobox", "spinbutton", "checkbox", "tab", "listbox", "option", "image", "img",
                 "dialog", "region", "log", "navigation", "table", "columnheader"}
        found = []
        for node in self.send("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if node.get("ignored") or role not in named or role == "table":
                continue
            if not node.get("name", {}).get("value", "").strip():
                found.append(f"{role} {node.get('backendDOMNodeId')}")
        return found


@contextlib.contextmanager
def browser(options=()):
    path = find()
    if path is None:
        raise SystemExit("there is no chromium in the path (Debian's package chromium); BASALT_CHROMIUM names another one")
    one = Browser(path, options)
    try:
        yield one
    finally:
        one.close()
