// Hashes, lists, sets and sorted sets as tables, a part at a time.

import { ask, confirm } from "../dialogs.js";
import { askFields, editElement, editor, replace } from "../edit.js";
import { button, fill, h, notice, table } from "../dom.js";
import { command } from "../client.js";
import { show, showText, hexDump, isBinary, toBytes, toWord } from "../bytes.js";

const PART = 100;
const CELL_MAX = 300;

const pairs = (flat) => Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]);
const text = () => h("input", { type: "text", autocomplete: "off", spellcheck: "false" });

// What each type is. `next` reads the part from a place on, and returns it with the next place;
// rows are `[name, value]`.
const TYPES = {
  hash: {
    what: "field", names: ["Field", "Value"],
    next: async (key, place, db) => {
      const [cursor, flat] = await command(["HSCAN", key, place ?? "0", "COUNT", String(PART)], { db });
      return [pairs(flat), cursor === "0" ? undefined : cursor];
    },
    remove: (key, [name]) => ["HDEL", key, toWord(name)],
    fields: () => [["Field", text()], ["Value", editor("", 4)]],
    add: (key, [name, value]) => ["HSETNX", key, name, value],
  },
  list: {
    what: "element", names: ["Index", "Value"],
    next: async (key, place = 0, db) => {
      const rows = await command(["LRANGE", key, String(place), String(place + PART - 1)], { db });
      return [rows.map((value, at) => [String(place + at), value]), rows.length < PART ? undefined : place + PART];
    },
    fields: () => [["At", h("select", {}, h("option", { value: "RPUSH" }, "the end"), h("option", { value: "LPUSH" }, "the start"))], ["Value", editor("", 4)]],
    add: (key, [side, value]) => [side, key, value],
  },
  set: {
    what: "member", names: ["Member"],
    next: async (key, place, db) => {
      const [cursor, members] = await command(["SSCAN", key, place ?? "0", "COUNT", String(PART)], { db });
      return [members.map((member) => [member]), cursor === "0" ? undefined : cursor];
    },
    remove: (key, [name]) => ["SREM", key, toWord(name)],
    fields: () => [["Member", editor("", 3)]],
    add: (key, [member]) => ["SADD", key, member],
  },
  zset: {
    what: "member", names: ["Member", "Score"],
    next: async (key, place = 0, db) => {
      const rows = await command(["ZRANGE", key, String(place), String(place + PART - 1), "WITHSCORES"], { db });
      return [rows.map(([member, score]) => [member, String(score)]), rows.length < PART ? undefined : place + PART];
    },
    remove: (key, [name]) => ["ZREM", key, toWord(name)],
    fields: () => [["Member", text()], ["Score", text()]],
    add: (key, [member, score]) => ["ZADD", key, "NX", score, member],
  },
};

export async function view(root, { db, key, type, length, isUnlocked, changed }) {
  const kind = TYPES[type];
  const word = toWord(key);
  const rows = [];
  let place;
  const body = h("div", {});
  const more = button("More", load);
  const shown = h("span.soft", { role: "status" });
  const tools = h("div.title", {}, shown, h("span.space"),
    isUnlocked ? button(`Add a ${kind.what}`, add, { kind: "small" }) : null);
  fill(root, tools, body, h("div.body", {}, more));
  await load();

  async function load() {
    try {
      const [part, next] = await kind.next(word, place, db);
      rows.push(...part);
      place = next;
    } catch (error) {
      return fill(body, notice(error.message, "bad"));
    }
    more.hidden = place === undefined;
    shown.textContent = `${rows.length} of ${length} shown`;
    fill(body, table(`The ${kind.what}s`, columns(), rows));
  }
  function columns() {
    const list = kind.names.map((name, at) => ({
      name, kind: name === "Index" || name === "Score" ? "number" : "mono", of: (row) => show(row[at], CELL_MAX),
    }));
    list.push({ label: "Actions", kind: "actions", of: actions });
    return list;
  }
  function actions(row) {
    const name = show(row[0], 60);
    const list = [];
    const value = row[type === "zset" || type === "set" ? 0 : 1];
    if (!isUnlocked || type === "set") list.push(button("View", () => look(name, value), { kind: "small", "aria-label": `View ${name}` }));
    if (isUnlocked && type !== "set") list.push(button("Edit", () => edit(row, name), { kind: "small", "aria-label": `Edit ${name}` }));
    if (isUnlocked) list.push(button("Remove", () => remove(row, name), { kind: "small", "aria-label": `Remove ${name}` }));
    return list;
  }
  async function edit(row, name) {
    const title = type === "zset" ? `Score of ${name}` : `${kind.names[0]} ${name}`;
    await attempt(async () => (await editElement(type, { db, key, element: row[0] }, title, row[1])) && changed("Saved."));
  }
  async function remove(row, name) {
    if (!(await confirm(`Remove ${kind.what} ${name}?`, "It cannot be brought back.", "Remove"))) return;
    await attempt(async () => {
      if (type === "list") {
        const marker = `removed-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
        if ((await replace("list remove", { db, key, element: row[0] }, row[1], marker)) === "theirs") return changed("Nothing was removed.");
      } else await command(kind.remove(word, row), { db });
      changed("Removed.");
    });
  }
  async function add() {
    const fields = kind.fields();
    const isAdded = await askFields(`Add a ${kind.what}`, fields, "Add", async () => {
      const values = fields.map(([, control]) => (control.read ? control.read() : control.value));
      if (values.includes(undefined)) return "This is no value.";
      const added = await command(kind.add(word, values.map(toWord)), { db });
      return added === 0 ? `There is such a ${kind.what} already.` : undefined;
    });
    if (isAdded) changed("Added.");
  }
  async function attempt(act) {
    try {
      await act();
    } catch (error) {
      shown.textContent = error.message;
    }
  }
}

/** Shows one value whole. */
export function look(name, value) {
  const shown = isBinary(value) ? h("pre.value.hex", { tabindex: "0" }, hexDump(toBytes(value).subarray(0, 65536)))
    : h("pre.value", { tabindex: "0" }, showText(value.slice(0, 1_000_000)));
  return ask(name, shown, [], { wide: true });
}
