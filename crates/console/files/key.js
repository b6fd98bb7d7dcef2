// One key: what it is, its value, and what can be done to it.

import { button, field, fill, h, notice } from "./dom.js";
import { bytes, count, expiry } from "./format.js";
import { command, session } from "./client.js";
import { confirmByName } from "./dialogs.js";
import { askFields } from "./edit.js";
import { show, toWord } from "./bytes.js";
import { view as viewCollection } from "./viewers/collection.js";
import { view as viewQueue } from "./viewers/queue.js";
import { view as viewStream } from "./viewers/stream.js";
import { view as viewString } from "./viewers/string.js";

const TYPES = {
  string: ["STRLEN", viewString], list: ["LLEN", viewCollection], set: ["SCARD", viewCollection],
  zset: ["ZCARD", viewCollection], hash: ["HLEN", viewCollection], stream: ["XLEN", viewStream], queue: ["Q.LEN", viewQueue],
};

/** Shows a key; `removed` is called when it has been deleted. */
export function showKey(root, { db, key, removed }) {
  const word = toWord(key);
  const name = show(key);
  let isUnlocked = false;
  let loads = 0;
  const status = h("span.soft", { role: "status" });
  const strip = h("div.strip", {});
  const value = h("div", {});
  const unlock = button("Unlock editing", () => {
    isUnlocked = !isUnlocked;
    status.textContent = "";
    load();
  }, { kind: "small", "aria-pressed": "false" });
  const changing = [button("Expiry", expire, { kind: "small" }), button("Delete", remove, { kind: "small.danger" })];
  const tools = session.isReadOnly ? [] : [unlock, ...changing];
  fill(root, h("section.panel", { "aria-label": `Key ${name}` },
    h("div.title", {}, h("h2.keyname", {}, name), h("div.tools", {}, button("Renew", () => load(), { kind: "small" }), tools)),
    h("div.body", {}, strip, status), value));
  load();

  async function load() {
    loads += 1;
    const turn = loads;
    unlock.setAttribute("aria-pressed", String(isUnlocked));
    unlock.textContent = isUnlocked ? "Lock editing" : "Unlock editing";
    changing.forEach((element) => { element.hidden = !isUnlocked; });
    try {
      const [type, ms] = await Promise.all([command(["TYPE", word], { db }), command(["PTTL", word], { db })]);
      if (type === "none") return turn === loads ? gone() : undefined;
      const [lengthOf, view] = TYPES[type] ?? [];
      const [encoding, length] = await Promise.all([
        command(["OBJECT", "ENCODING", word], { db }),
        lengthOf ? command([lengthOf, word], { db }) : undefined,
      ]);
      const facts = [["Type", type], ["Encoding", encoding ?? "–"], ["Expires in", expiry(ms)]];
      if (length !== undefined) facts.push(type === "string" ? ["Size", bytes(length)] : ["Elements", count(length)]);
      const shown = h("div", {});
      if (view) await view(shown, { db, key, type, length, isUnlocked, changed });
      else fill(shown, h("p.empty", {}, "There is no view for values of this type: use the command line."));
      // What was asked for before may answer later: it would take away what has been typed since.
      if (turn !== loads) return;
      fill(strip, facts.map(([label, text]) => h("span", {}, `${label} `, h("b", {}, text))));
      fill(value, shown);
    } catch (error) {
      if (turn === loads) fill(value, notice(error.message, "bad"));
    }
  }
  function changed(text) {
    status.textContent = text;
    return load();
  }
  function gone() {
    loads += 1;
    fill(strip);
    fill(value, h("p.empty", {}, "There is no such key."));
  }
  async function expire() {
    const seconds = h("input", { type: "number", min: "0", step: "any", placeholder: "never" });
    const isSent = await askFields(`When ${show(key, 60)} expires`, [["Seconds from now; nothing is never", seconds]], "Set", async () => {
      if (seconds.value === "" && seconds.validity.badInput) return "This is no number.";
      const ms = Math.round(Number(seconds.value) * 1000);
      if (seconds.value !== "" && !(ms > 0)) return "It must be more than nothing; to delete the key, delete it.";
      await command(seconds.value === "" ? ["PERSIST", word] : ["PEXPIRE", word, String(ms)], { db });
      return undefined;
    });
    if (isSent) changed("It was set.");
  }
  async function remove() {
    if (!(await confirmByName("Delete this key?", "It is deleted with all that is in it, and cannot be brought back.", name))) return;
    try {
      await command(["UNLINK", word], { db });
      gone();
      removed();
    } catch (error) {
      status.textContent = error.message;
    }
  }
}

/** Asks for a new key: returns it, or `undefined`. */
export async function createKey(db) {
  const input = (attributes) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
  const [name, first, second] = [input(), input(), input()];
  const [firstField, secondField] = [field("Value", first), field("Value", second)];
  const NAMES = { string: ["Value"], list: ["Element"], set: ["Member"], hash: ["Field", "Value"], zset: ["Member", "Score"], stream: ["Field", "Value"] };
  const type = h("select", { onchange: names }, Object.keys(NAMES).map((one) => h("option", {}, one)));
  function names() {
    const [one, other] = NAMES[type.value];
    firstField.firstChild.data = one;
    secondField.hidden = other === undefined;
    if (other) secondField.firstChild.data = other;
  }
  names();
  const rest = { element: h("div.stack", {}, firstField, secondField), read: true };
  const isMade = await askFields("New key", [["Name", name], ["Type", type], ["", rest]], "Create", async () => {
    const [key, one, two] = [name.value, first.value, second.value];
    if ((await command(["EXISTS", key], { db })) !== 0) return "There is a key with this name.";
    const words = { string: ["SET", key, one, "NX"], list: ["RPUSH", key, one], set: ["SADD", key, one], hash: ["HSETNX", key, one, two],
      zset: ["ZADD", key, "NX", two, one], stream: ["XADD", key, "*", one, two] }[type.value];
    return (await command(words, { db })) === null ? "There is a key with this name." : undefined;
  });
  return isMade ? name.value : undefined;
}
