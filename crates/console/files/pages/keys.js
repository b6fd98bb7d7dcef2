// The keys of a database, and the one that is chosen.

import { button, field, fill, h, notice } from "../dom.js";
import { command, session } from "../client.js";
import { createKey, showKey } from "../key.js";
import { expiry } from "../format.js";
import { fromAddress, same, show, toAddress, toWord } from "../bytes.js";

const TYPES = ["string", "hash", "list", "set", "zset", "stream", "queue"];
// Keys that one step of the search shows, and how many may be looked at for it.
const PART = 100;
const STEPS_MAX = 20;
const COUNT = "500";
// Type and expiry of all keys of a part at once.
const DESCRIBE = "local out = {} for at, key in ipairs(KEYS) do out[at] = {redis.call('TYPE', key).ok, redis.call('PTTL', key)} end return out";

export const page = { title: "Keys", path: "keys", key: "k", render };

function render(root, params) {
  const db = Math.max(0, Number(params.get("db")) || 0);
  const match = params.get("match") ?? "";
  const wantedType = params.get("type") ?? "";
  let chosen = params.get("key") === null ? undefined : fromAddress(params.get("key"));
  let cursor = "0";
  let found = 0;
  let searches = 0;

  const pattern = h("input", { type: "search", value: match, "data-search": true, placeholder: "user:*", autocomplete: "off", spellcheck: "false" });
  const type = h("select", {}, h("option", { value: "" }, "any"), TYPES.map((one) => h("option", {}, one)));
  type.value = TYPES.includes(wantedType) ? wantedType : "";
  const database = h("input", { type: "number", min: "0", value: String(db) });
  const list = h("ul.keys", { "aria-label": "Keys" });
  const status = h("p.soft", { role: "status" });
  const more = button("More", search);
  const detail = h("div", {}, h("div.panel", {}, h("p.empty", {}, "Choose a key, or search for one.")));
  const form = h("form.tools", { role: "search", onsubmit }, field("Pattern", pattern, true), field("Type", type), field("Database", database),
    h("button.primary", { type: "submit" }, "Search"), session.isReadOnly ? null : button("New key", create));
  root.append(h("div.head", {}, h("h1", {}, "Keys")),
    h("div.stack", {}, form, h("div.split", {},
      h("div.panel", {}, list, h("div.body", {}, h("div.tools", {}, more, status))), detail)));

  function address(key) {
    const query = new URLSearchParams();
    if (db > 0) query.set("db", db);
    if (match !== "") query.set("match", match);
    if (wantedType !== "") query.set("type", wantedType);
    if (key !== undefined) query.set("key", toAddress(key));
    return `#/keys?${query}`;
  }
  function onsubmit(event) {
    event.preventDefault();
    const query = new URLSearchParams();
    if (Number(database.value) > 0) query.set("db", database.value);
    if (pattern.value !== "") query.set("match", pattern.value);
    if (type.value !== "") query.set("type", type.value);
    const next = `#/keys?${query}`;
    if (next === location.hash) restart();
    else location.hash = next;
  }
  function restart() {
    [cursor, found] = ["0", 0];
    searches += 1;
    fill(list);
    search();
  }
  async function search() {
    more.disabled = true;
    const turn = searches;
    const keys = [];
    let from = cursor;
    let facts;
    try {
      for (let step = 0; step < STEPS_MAX && keys.length < PART; step += 1) {
        const words = ["SCAN", from, "COUNT", COUNT, ...(match === "" ? [] : ["MATCH", match]), ...(wantedType === "" ? [] : ["TYPE", wantedType])];
        const [next, part] = await command(words, { db });
        keys.push(...part);
        from = next;
        if (from === "0" || turn !== searches) break;
      }
      // The order of SCAN means nothing to a reader.
      keys.sort((one, other) => (show(one) < show(other) ? -1 : 1));
      facts = await describe(keys);
    } catch (error) {
      return turn === searches ? fill(status, notice(error.message, "bad")) : undefined;
    }
    if (turn !== searches) return;
    list.append(...keys.map((key, at) => item(key, facts[at])));
    cursor = from;
    found += keys.length;
    const isOver = cursor === "0";
    more.hidden = isOver;
    more.disabled = false;
    status.textContent = isOver ? `${found} keys${match || wantedType ? " fit" : ""}` : `${found} keys so far`;
    mark();
  }
  async function describe(keys) {
    const facts = [];
    for (let at = 0; at < keys.length; at += PART) {
      const part = keys.slice(at, at + PART).map(toWord);
      // Who may not run scripts sees the names only.
      const described = await command(["EVAL_RO", DESCRIBE, String(part.length), ...part], { db }).catch(() => []);
      facts.push(...part.map((_, one) => described[one]));
    }
    return facts;
  }
  function item(key, [kind, ms] = []) {
    const link = h("a", { href: address(key), onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      window.history.pushState(null, "", address(key));
      choose(key);
    } }, h("span.kind", {}, kind ?? ""), h("span.name.mono", {}, show(key, 300)), h("small", {}, ms >= 0 ? expiry(ms) : ""));
    link.key = key;
    return h("li", {}, link);
  }
  function mark() {
    for (const link of list.querySelectorAll("a")) {
      const isChosen = chosen !== undefined && same(link.key, chosen);
      if (!isChosen) link.removeAttribute("aria-current");
      else link.setAttribute("aria-current", "true");
      const at = link.offsetTop - list.offsetTop;
      const isHidden = at < list.scrollTop || at + link.offsetHeight > list.scrollTop + list.clientHeight;
      if (isChosen && isHidden) list.scrollTop = at - list.clientHeight / 2;
    }
  }
  function choose(key) {
    chosen = key;
    mark();
    showKey(detail, { db, key, removed: () => {
      [...list.querySelectorAll("a")].find((link) => same(link.key, key))?.parentElement.remove();
    } });
    if (matchMedia("(max-width: 900px)").matches) detail.scrollIntoView();
  }
  async function create() {
    const key = await createKey(db);
    if (key === undefined) return;
    window.history.pushState(null, "", address(key));
    restart();
    choose(key);
  }
  search();
  if (chosen !== undefined) choose(chosen);
  return () => { searches += 1; };
}
