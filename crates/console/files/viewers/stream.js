// A stream: its entries, the latest first, and its groups.

import { askFields, editor } from "../edit.js";
import { button, fill, h, notice, table } from "../dom.js";
import { command } from "../client.js";
import { confirm } from "../dialogs.js";
import { show, toWord } from "../bytes.js";
import { time } from "../format.js";

const PART = 100;

export async function view(root, { db, key, length, isUnlocked, changed }) {
  const word = toWord(key);
  const entries = [];
  const body = h("div", {});
  const more = button("Earlier ones", load);
  const shown = h("span.soft", { role: "status" });
  fill(root, h("div.title", {}, shown, h("span.space"), isUnlocked ? button("Add an entry", add, { kind: "small" }) : null),
    body, h("div.body", {}, more), await groups());
  await load();

  async function load() {
    const end = entries.length === 0 ? "+" : `(${entries.at(-1)[0]}`;
    try {
      const part = await command(["XREVRANGE", word, end, "-", "COUNT", String(PART)], { db });
      entries.push(...part);
      more.hidden = part.length < PART;
    } catch (error) {
      return fill(body, notice(error.message, "bad"));
    }
    shown.textContent = `${entries.length} of ${length} shown, the latest first`;
    fill(body, entries.length === 0 ? h("p.empty", {}, "The stream has no entries.") : table("Entries", columns(), entries));
  }
  function columns() {
    const list = [
      { name: "ID", kind: "nowrap mono", of: ([id]) => id },
      { name: "Time", kind: "nowrap optional", of: ([id]) => time(Number(id.split("-")[0])) },
      { name: "Fields", kind: "mono", of: ([, flat]) => written(flat) },
    ];
    if (isUnlocked) {
      list.push({ label: "Actions", kind: "actions", of: ([id]) => button("Remove", () => remove(id), { kind: "small", "aria-label": `Remove ${id}` }) });
    }
    return list;
  }
  async function remove(id) {
    if (!(await confirm(`Remove entry ${id}?`, "It cannot be brought back.", "Remove"))) return;
    await command(["XDEL", word, id], { db }).catch((error) => { shown.textContent = error.message; });
    changed("Removed.");
  }
  async function add() {
    const name = h("input", { type: "text", autocomplete: "off" });
    const value = editor("", 4);
    const isAdded = await askFields("Add an entry", [["Field", name], ["Value", value]], "Add", async () => {
      const bytes = value.read();
      if (bytes === undefined) return "This is no value.";
      await command(["XADD", word, "NOMKSTREAM", "*", name.value, toWord(bytes)], { db });
      return undefined;
    });
    if (isAdded) changed("Added.");
  }
  async function groups() {
    const list = await command(["XINFO", "GROUPS", word], { db }).catch(() => []);
    if (list.length === 0) return null;
    return h("div", {}, h("div.title", {}, h("h2", {}, "Groups")), table("Groups", [
      { name: "Group", kind: "mono", of: (group) => show(group.name) },
      { name: "Consumers", kind: "number", of: (group) => String(group.consumers) },
      { name: "Pending", kind: "number", of: (group) => String(group.pending) },
      { name: "Last delivered", kind: "nowrap mono", of: (group) => group["last-delivered-id"] },
      { name: "Lag", kind: "number", of: (group) => String(group.lag ?? "–") },
    ], list));
  }
}

function written(flat) {
  const lines = [];
  for (let at = 0; at < flat.length; at += 2) lines.push(`${show(flat[at], 200)} = ${show(flat[at + 1], 300)}`);
  return lines.join("\n");
}
