"""The web console in a browser: `console.py PORT [FOLDER]`, the port of HTTP, and where screenshots go."""

import json
import sys
import urllib.error
import urllib.request

from chromium import Page, browser

PORT = int(sys.argv[1])
FOLDER = sys.argv[2] if len(sys.argv) > 2 else None
BASE = f"http://127.0.0.1:{PORT}"
PAGES = ["overview", "keys", "queues", "live", "clients", "slowlog", "storage", "configuration", "commands"]
SIZES = [(360, 800), (1280, 800)]
HOSTILE = "<script>window.stolen = 1</script><img src=x onerror='window.stolen = 2'>"
CONTRAST = 4.5

# The least contrast of text against what is behind it, and where.
LEAST_CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
  const light = ([r, g, b]) => [r, g, b].map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  let least = [99, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.offsetParent || ["SCRIPT", "NOSCRIPT", "OPTION"].includes(element.tagName)) continue;
    let behind = element;
    while (behind && rgb(getComputedStyle(behind).backgroundColor)[3] < 255) behind = behind.parentElement;
    const ground = light(rgb(getComputedStyle(behind ?? document.documentElement).backgroundColor));
    const text = light(rgb(getComputedStyle(element).color));
    const ratio = (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
    if (ratio < least[0]) least = [ratio, `${element.tagName}.${element.className}: ${node.data.slice(0, 40)}`];
  }
  return least;
})()"""


def command(*words, password=None):
    headers = {"Content-Type": "application/json"}
    if password:
        import base64
        headers["Authorization"] = "Basic " + base64.b64encode(f"default:{password}".encode()).decode()
    request = urllib.request.Request(f"{BASE}/v1/command", json.dumps(words).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def fill():
    """Keys of every type, with names and values that are no plain text."""
    command("SET", "greeting", "hello")
    command("SET", "settings:billing", '{"currency":"EUR","limits":{"daily":12345678901234567890,"empty":[]},"active":true}', "EX", "86400")
    command("SET", "image:logo", {"b64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAP/+"})
    command("SET", {"b64": "/wD+"}, "bytes")
    command("HSET", "user:7", "name", "Ada Lovelace", "email", "ada@example.org", "markup", HOSTILE)
    command("RPUSH", "jobs", *[f"job-{at}" for at in range(250)])
    command("SADD", "tags", "red", "green", HOSTILE)
    command("ZADD", "scores", "1.5", "ada", "2", "grace", "inf", "nobody")
    for at in range(5):
        command("XADD", "events", "*", "kind", "login", "user", str(at))
    command("XGROUP", "CREATE", "events", "workers", "0")
    command("Q.CONFIG", "SET", "mail", "deliveries-max", "1")
    command("Q.PUT", "mail", HOSTILE)
    [[_, token, *_]] = command("Q.GET", "QUEUES", "mail")
    command("Q.NACK", "mail", token, "DEAD")
    command("Q.PUT", "mail", "to ada", "DELAY", "1000000")
    command("Q.PUT", "mail", "to grace", "PRIORITY", "3")
    command("SET", HOSTILE, HOSTILE)
    for at in range(120):
        command("SET", f"session:{at:04}", "x" * at, "EX", str(600 + at))
    command("CONFIG", "SET", "slowlog-log-slower-than", "0")
    command("GET", "greeting")
    command("CONFIG", "SET", "slowlog-log-slower-than", "10000")


def check(page, what):
    """Nothing has gone wrong, nothing was asked of others, and each control has a name."""
    assert not page.troubles, f"{what}: {page.troubles}"
    foreign = [url for url in page.requests if not url.startswith((BASE, "about:", "data:"))]
    assert not foreign, f"{what} asks {foreign}"
    nameless = page.nameless()
    assert not nameless, f"{what} has controls without a name: {nameless}"
    assert page.run("window.stolen") is None, f"{what}: a stored script has run"
    assert page.run("document.querySelectorAll('main img, main script').length") == 0, f"{what}: a value became markup"


def show(page, path):
    change = f"(done) => {{ addEventListener('hashchange', done, {{ once: true }}); location.hash = '#/{path}'; }}"
    page.run(f"location.hash === '#/{path}' || new Promise({change}).then(() => true)")
    page.until(f"document.querySelector('nav a[aria-current]')?.dataset.path === '{path.split('?')[0]}'")
    ready = {
        "overview": "document.querySelectorAll('.tile').length > 4 && document.querySelector('canvas').getAttribute('aria-label').includes('now')",
        "keys": "document.querySelector('.split [role=status]').textContent.includes('key')",
        "live": "document.querySelector('[role=log]')",
        "storage": "document.querySelectorAll('dl.facts').length > 3",
        "commands": "document.querySelector('.hint').textContent !== ''",
    }
    page.until(ready.get(path.split("?")[0], "document.querySelector('tbody tr')"))


def each_page_in_each_form(page):
    for name in PAGES:
        show(page, name)
        check(page, name)
    show(page, "keys?match=user*&key=t%3Auser%3A7")
    page.until("document.querySelectorAll('main tbody tr').length === 3")
    check(page, "a key")
    for width, height in SIZES:
        page.size(width, height)
        for scheme in ["light", "dark"]:
            page.scheme(scheme)
            for name in [*PAGES, "keys?key=t%3Auser%3A7"]:
                show(page, name)
                if "key=" in name:
                    page.until("document.querySelectorAll('main tbody tr').length === 3")
                short = "key" if "key=" in name else name
                wide = page.run("document.scrollingElement.scrollWidth")
                assert wide <= width, f"{short} is {wide} pixels wide of {width}"
                ratio, where = page.run(LEAST_CONTRAST)
                assert ratio >= CONTRAST, f"{short}, {scheme}: contrast {ratio:.2f} of {where}"
                if FOLDER:
                    page.run("new Promise((done) => setTimeout(done, 150))")
                    page.screenshot(f"{FOLDER}/{short}-{width}-{scheme}.png")
    page.size(1280, 800)


def types_of_values(page):
    for key, wanted in [("greeting", "hello"), ("settings:billing", "12345678901234567890"), ("image:logo", "89 50 4e 47"), ("jobs", "job-99"),
                        ("tags", "green"), ("scores", "inf"), ("events", "workers"), ("mail", "to grace"), (HOSTILE, "<script>")]:
        show(page, f"keys?key={urllib.request.quote('t:' + key, safe='')}")
        page.until(f"document.querySelector('.split > :last-child').innerText.includes({json.dumps(wanted)})", f"{key}: {wanted}")
        check(page, key)
    show(page, "keys?key=b%3A%2FwD%2B")
    page.until("document.querySelector('.keyname').textContent === '\\\\xff\\\\x00\\\\xfe'")
    page.until("document.querySelector('pre.value')?.textContent === 'bytes'")


def keyboard_only(page):
    page.open(f"{BASE}/")
    page.until("document.querySelectorAll('.tile').length > 4")
    page.press("?", 8)
    page.until("document.querySelector('dialog[open]')")
    check(page, "help")
    page.press("Escape")
    page.until("!document.querySelector('dialog')")
    page.type("gk")
    page.until("document.querySelector('.keys a')")
    page.press("/")
    page.type("greet*")
    page.press("Enter")
    page.until("document.querySelectorAll('.keys a').length === 1")
    page.tab_to("e.closest('.keys') !== null")
    page.press("Enter")
    page.until("document.querySelector('pre.value')?.textContent === 'hello'")
    page.tab_to("e.textContent === 'Unlock editing'")
    page.press("Enter")
    page.until("document.querySelector('textarea')")
    page.tab_to("e.tagName === 'TEXTAREA'")
    page.press("End")
    page.type("!")
    page.press("Enter", 2)
    page.until("document.body.innerText.includes('Saved.')")
    assert command("GET", "greeting") == "hello!", command("GET", "greeting")
    page.run("document.activeElement.blur()")
    page.type("gt")
    page.until("document.activeElement.getAttribute('role') === 'combobox'")
    page.until("document.querySelector('.hint').textContent.includes('Tab')")
    page.type("hgeta")
    page.until("document.querySelectorAll('.choices li').length === 1")
    page.press("Tab")
    page.type("user:7")
    page.until("document.querySelector('.hint').textContent.startsWith('HGETALL key')")
    page.press("Enter")
    page.until("document.querySelector('.log').innerText.includes('Ada Lovelace')")
    page.press("ArrowUp")
    assert page.run("document.activeElement.value") == "HGETALL user:7"
    check(page, "the command line")


def a_dangerous_command_asks(page):
    page.run("const e = document.querySelector('[role=combobox]'); e.value = 'FLUSHALL'; e.form.requestSubmit()")
    page.until("document.querySelector('dialog[open]')?.innerText.includes('FLUSHALL')")
    check(page, "the question")
    page.click("Cancel", "document.querySelector('dialog')")
    page.until("!document.querySelector('dialog')")
    assert command("GET", "greeting") == "hello!"


def an_edit_conflict_shows_both_values(page):
    for choice, kept, said in [("Keep the server's", "theirs", "The server's value was kept."),
                               ("Overwrite with mine", "mine", "Saved.")]:
        command("SET", "shared", "first", "EX", "1000")
        show(page, f"keys?key=t%3Ashared&match={kept}")
        page.click("Unlock editing")
        page.until("document.querySelector('textarea')?.value === 'first'")
        page.run("document.querySelector('textarea').value = 'mine'")
        command("SET", "shared", "theirs", "KEEPTTL")
        page.click("Save")
        page.until("document.querySelector('dialog[open]')")
        both = page.run("[...document.querySelectorAll('dialog pre')].map((e) => e.textContent)")
        assert both == ["theirs", "mine"], both
        assert command("GET", "shared") == "theirs", "it was written before the question"
        check(page, "the conflict")
        page.click(choice)
        page.until("!document.querySelector('dialog')")
        # The dialog closes before the answer to the writing comes.
        page.until(f"document.body.innerText.includes({json.dumps(said)})")
        assert command("GET", "shared") == kept
        assert command("TTL", "shared") > 0, "saving has taken the expiry away"


# Holds the next request of a command back until it is told to go on.
HOLD = """(() => {
  const real = window.fetch;
  window.fetch = (path, asked) => {
    if (!asked?.body?.startsWith('["%s"')) return real(path, asked);
    window.fetch = real;
    return new Promise((go) => { window.release = go; }).then(() => real(path, asked));
  };
})()"""


def a_late_answer_takes_nothing_away(page):
    command("SET", "late", "first")
    show(page, "keys?match=late")
    page.run(HOLD % "TYPE")
    show(page, "keys?match=late&key=t%3Alate")
    page.until("window.release")
    page.click("Unlock editing")
    page.until("document.querySelector('textarea')?.value === 'first'")
    page.run("document.querySelector('textarea').value = 'mine'")
    page.run("window.release()")
    page.run("new Promise((done) => setTimeout(done, 500))")
    assert page.run("document.querySelector('textarea').value") == "mine"
    page.run(HOLD % "SCAN")
    page.run("document.querySelector('form[role=search]').requestSubmit()")
    page.run("document.querySelector('form[role=search]').requestSubmit()")
    page.until("document.querySelectorAll('.keys a').length > 0")
    page.run("window.release()")
    page.run("new Promise((done) => setTimeout(done, 500))")
    assert page.run("document.querySelectorAll('.keys a').length") == 1
    command("DEL", "late")


def elements_are_edited_as_carefully(page):
    show(page, "keys?key=t%3Auser%3A7")
    page.click("Unlock editing")
    page.click("Edit name")
    page.until("document.querySelector('dialog textarea')?.value === 'Ada Lovelace'")
    page.run("document.querySelector('dialog textarea').value = 'Ada King'")
    command("HSET", "user:7", "name", "Countess")
    page.click("Save", "document.querySelector('dialog')")
    page.until("document.querySelectorAll('dialog pre').length === 2")
    page.click("Overwrite with mine")
    page.until("document.body.innerText.includes('Saved.')")
    assert command("HGET", "user:7", "name") == "Ada King"


def dead_messages_are_revived(page):
    show(page, "queues")
    page.click("mail", "document.querySelector('main')")
    page.click("Unlock editing")
    page.until("document.body.innerText.includes('Put a message')")
    page.click("dead 1")
    page.until("document.querySelector('main tbody')?.innerText.includes('<script>')")
    check(page, "dead messages")
    page.click("Revive all")
    page.click("Revive", "document.querySelector('dialog')")
    page.until("document.body.innerText.includes('ready 2')")
    assert command("Q.STAT", "mail")["dead"] == 0
    page.click("Purge ready ones")
    page.until("document.querySelector('dialog[open] input')")
    page.type("mail")
    page.click("Purge", "document.querySelector('dialog')")
    page.until("document.body.innerText.includes('ready 0')")
    assert command("Q.STAT", "mail")["delayed"] == 1


def what_happens_is_shown_as_it_happens(page):
    show(page, "live?kind=stream&name=events")
    page.until("document.querySelector('main [role=status]').textContent === 'Following events'")
    entry = "document.querySelector('.event pre')?.textContent"
    # What it sees begins when the server has the request.
    while page.run(entry) is None:
        command("XADD", "events", "*", "data", HOSTILE)
        page.run("new Promise((done) => setTimeout(done, 50))")
    assert page.run(entry) == HOSTILE
    page.run("document.querySelector('main input[type=text]').value = 'from the page'")
    page.click("Send")
    page.until(f"{entry} === 'from the page'")
    assert command("XREVRANGE", "events", "+", "-", "COUNT", "1")[0][1] == ["data", "from the page"]
    check(page, "a stream")
    show(page, "live?kind=channel&name=news")
    page.until("document.querySelector('main [role=status]').textContent === 'Following news'")
    while page.run(entry) is None:
        command("PUBLISH", "news", "something new")
        page.run("new Promise((done) => setTimeout(done, 50))")
    assert page.run(entry) == "something new"
    page.click("Stop")
    page.until("document.querySelector('main [role=status]').textContent === 'Stopped'")
    check(page, "a channel")


# Counts requests of INFO, and how many are under way at once; `slow` and `failing` are what becomes of them.
WATCH = """(() => {
  const real = window.fetch;
  let flying = 0;
  Object.assign(window, { asked: 0, most: 0, slow: 0, failing: false, isHidden: false });
  window.fetch = async (path, options) => {
    if (!options?.body?.startsWith('["INFO"')) return real(path, options);
    window.asked += 1;
    window.most = Math.max(window.most, ++flying);
    try {
      await new Promise((done) => setTimeout(done, window.slow));
      if (window.failing) throw new TypeError("failing");
      return await real(path, options);
    } finally { flying -= 1; }
  };
  Object.defineProperty(document, "hidden", { get: () => window.isHidden, configurable: true });
  window.hide = (isHidden) => { window.isHidden = isHidden; document.dispatchEvent(new Event("visibilitychange")); };
})()"""


def asks_only_while_somebody_looks(page):
    def asked_in(ms):
        before = page.run("window.asked")
        page.run(f"new Promise((done) => setTimeout(done, {ms}))")
        return page.run("window.asked") - before

    show(page, "overview")
    page.run(WATCH)
    assert asked_in(3500) >= 2
    page.run("window.hide(true)")
    asked_in(500)
    assert asked_in(3000) == 0, "it asks though nobody sees it"
    before = page.run("window.asked")
    page.run("window.hide(false)")
    page.until(f"window.asked > {before}", "it goes on when it is seen again")
    page.run("window.slow = 1200; window.most = 0")
    for name in ["storage", "overview", "storage", "overview"]:
        show(page, name)
        page.run("new Promise((done) => setTimeout(done, 300))")
    assert page.run("window.most") == 1, "a request has overtaken another"
    page.run("window.slow = 0; window.failing = true")
    asked_in(1000)
    seldom = asked_in(7000)
    assert 1 <= seldom <= 3, f"{seldom} requests in 7 s that all fail"
    page.run("window.failing = false; window.hide(false)")
    page.until("document.querySelector('.tile')")
    assert asked_in(3500) >= 2, "it does not come back"
    check(page, "the overview, again")
    page.open("about:blank")
    page.open(f"{BASE}/")


def deleting_asks_for_the_name(page):
    show(page, "keys?match=shared&key=t%3Ashared")
    page.click("Unlock editing")
    page.click("Delete")
    page.until("document.querySelector('dialog[open] input')")
    page.click("Delete", "document.querySelector('dialog')")
    page.until("document.querySelector('dialog').innerText.includes('not the name')")
    assert command("EXISTS", "shared") == 1
    page.type("shared")
    page.click("Delete", "document.querySelector('dialog')")
    page.until("document.body.innerText.includes('There is no such key')")
    assert command("EXISTS", "shared") == 0


def a_reader_changes_nothing(page):
    command("CONFIG", "SET", "console", "read-only")
    page.open("about:blank")
    page.open(f"{BASE}/#/keys?key=t%3Agreeting")
    page.until("document.querySelector('pre.value')?.textContent === 'hello!'")
    assert "read-only" in page.run("document.querySelector('header').innerText")
    assert not page.run("[...document.querySelectorAll('button')].some((e) => /Unlock|New key|Delete/.test(e.textContent))")
    show(page, "commands")
    page.run("const e = document.querySelector('[role=combobox]'); e.value = 'SET greeting changed'; e.form.requestSubmit()")
    page.until("document.querySelector('.log').innerText.includes('read-only')")
    assert command("GET", "greeting") == "hello!"
    command("CONFIG", "SET", "console", "no")
    try:
        urllib.request.urlopen(f"{BASE}/", timeout=30)
        raise AssertionError("the page is there without a console")
    except urllib.error.HTTPError as error:
        assert error.code == 404
    command("CONFIG", "SET", "console", "yes")


def a_password_is_asked_for(page):
    command("CONFIG", "SET", "requirepass", "sésame")
    page.open("about:blank")
    page.open(f"{BASE}/#/keys")
    for attempt in ["wrong", "sésame"]:
        page.until("document.querySelector('dialog[open] input[type=password]')")
        page.run(f"document.querySelector('dialog input').value = '{attempt}'")
        page.click("Sign in", "document.querySelector('dialog')")
        if attempt == "wrong":
            page.until("document.querySelector('dialog')?.innerText.includes('not the password')")
    page.until("document.querySelector('.keys a')")
    kept = page.run("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert "sésame" not in kept, kept
    # The browser itself notes each 401.
    page.troubles = [trouble for trouble in page.troubles if "401" not in trouble]
    check(page, "signed in")
    show(page, "configuration")
    assert "sésame" not in page.run("document.body.innerText"), "the password is shown"
    command("CONFIG", "SET", "requirepass", "", password="sésame")


def main():
    fill()
    with browser() as one:
        page = Page(one)
        page.size(1280, 800)
        page.open(f"{BASE}/")
        tests = [each_page_in_each_form, types_of_values, keyboard_only, a_dangerous_command_asks, an_edit_conflict_shows_both_values,
                 a_late_answer_takes_nothing_away, elements_are_edited_as_carefully, dead_messages_are_revived, what_happens_is_shown_as_it_happens,
                 asks_only_while_somebody_looks, deleting_asks_for_the_name, a_reader_changes_nothing, a_password_is_asked_for]
        for test in tests:
            test(page)
            print(f"{test.__name__}: ok", flush=True)


main()
