// A stream or a channel, as it goes on.

import { button, field, fill, h, notice } from "../dom.js";
import { command, session } from "../client.js";
import { follow } from "../feed.js";

const SHOWN_MAX = 200;
const AGAIN_MS = 1000;
const AGAIN_LONGEST_MS = 30_000;
const KINDS = { stream: "Stream", channel: "Channel", pattern: "Channels by pattern" };
// What the server has refused for good.
const FINAL = new Set([400, 401, 403, 404, 409]);

export const page = { title: "Live", path: "live", key: "v", render };

function render(root, params) {
  let following;
  let last;
  const kind = h("select", { onchange: change }, Object.entries(KINDS).map(([value, text]) => h("option", { value }, text)));
  kind.value = params.get("kind") in KINDS ? params.get("kind") : "stream";
  const name = h("input", { type: "search", "data-search": true, placeholder: "name", value: params.get("name") ?? "", onkeydown: (event) => event.key === "Enter" && start() });
  const database = h("input", { type: "number", min: "0", value: params.get("db") ?? "0" });
  const toggle = button("Follow", () => (following ? stop("Stopped") : start()), { kind: "primary" });
  const status = h("span.soft", { role: "status" }, "Not following");
  const events = h("div.panel.mono.events", { role: "log", tabindex: "0", "aria-label": "Events" });
  const text = h("input", { type: "text", placeholder: "text", onkeydown: (event) => event.key === "Enter" && send() });
  const sender = button("Send", send);
  const writing = h("div.tools", {}, field("Message", text, true), sender);
  const trouble = h("div");
  root.append(h("div.head", {}, h("h1", {}, "Live"), status),
    h("div.stack", {}, h("div.tools", {}, field("What", kind), field("Name", name, true), field("Database", database), toggle), trouble, events, writing));
  change();
  if (name.value) start();

  function change() {
    database.closest("label").hidden = kind.value !== "stream";
    writing.hidden = session.isReadOnly || kind.value === "pattern";
  }

  function path() {
    const quoted = encodeURIComponent(name.value);
    if (kind.value !== "stream") return `/v1/channels/${quoted}${kind.value === "pattern" ? "?pattern=1" : ""}`;
    const after = last ? `&after=${encodeURIComponent(last)}` : "";
    return `/v1/streams/${quoted}?db=${Number(database.value)}${after}`;
  }

  async function start() {
    stop("Not following");
    fill(trouble);
    if (!name.value) return name.focus();
    last = undefined;
    const own = new AbortController();
    following = own;
    toggle.textContent = "Stop";
    fill(events, h("p.empty", {}, "Nothing has come yet."));
    for (let failures = 0; following === own; failures += 1) {
      const begun = performance.now();
      try {
        status.textContent = `Following ${name.value}`;
        await follow(path(), show, own.signal);
      } catch (error) {
        if (following !== own) return;
        if (FINAL.has(error.status)) {
          stop("Not following");
          fill(trouble, notice(error.message, "bad"));
          return;
        }
      }
      status.textContent = "The connection has ended; trying again";
      // One that has lasted is no failure.
      if (performance.now() - begun > AGAIN_LONGEST_MS) failures = 0;
      await new Promise((done) => setTimeout(done, Math.min(AGAIN_MS * 2 ** failures, AGAIN_LONGEST_MS)));
    }
  }

  function stop(said) {
    following?.abort();
    following = undefined;
    toggle.textContent = "Follow";
    status.textContent = said;
  }

  function show({ id, name: kindOfEvent, data }) {
    last = id ?? last;
    events.querySelector(".empty")?.remove();
    const label = kindOfEvent === "b64" ? "bytes, base64" : kindOfEvent === "message" ? "" : kindOfEvent;
    events.prepend(h("div.event", {}, h("span.soft", {}, `${id ?? new Date().toLocaleTimeString()} ${label}`), h("pre.value", {}, data)));
    while (events.childElementCount > SHOWN_MAX) events.lastElementChild.remove();
  }

  async function send() {
    if (!name.value) return name.focus();
    const words = kind.value === "stream" ? ["XADD", name.value, "*", "data", text.value] : ["PUBLISH", name.value, text.value];
    try {
      await command(words, { db: kind.value === "stream" ? Number(database.value) : 0 });
      fill(trouble);
      text.value = "";
    } catch (error) {
      fill(trouble, notice(error.message, "bad"));
    }
  }

  return () => stop("Not following");
}
