// The commands that took longest, from the slow log.

import { button, field, fill, h, notice, table } from "../dom.js";
import { command, session } from "../client.js";
import { confirm } from "../dialogs.js";
import { micros, time } from "../format.js";
import { show } from "../bytes.js";

const ENTRIES_MAX = 1000;

export const page = { title: "Slow log", path: "slowlog", key: "l", render };

function render(root) {
  let entries = [];
  let limits = {};
  const filter = h("input", { type: "search", "data-search": true, placeholder: "command, key or address", oninput: draw });
  const order = h("select", { onchange: draw }, h("option", { value: "time" }, "Latest first"), h("option", { value: "cost" }, "Longest first"));
  const status = h("span.soft", { role: "status" });
  const body = h("div.panel");
  root.append(h("div.head", {}, h("h1", {}, "Slow log"), status),
    h("div.stack", {}, h("div.tools", {}, field("Filter", filter, true), field("Order", order), button("Renew", load),
      session.isReadOnly ? null : button("Clear the log", reset, { kind: "danger" })), body));

  async function load() {
    try {
      [entries, limits] = await Promise.all([command(["SLOWLOG", "GET", String(ENTRIES_MAX)]), command(["CONFIG", "GET", "slowlog-*"])]);
      draw();
    } catch (error) {
      fill(body, notice(error.message, "bad"));
    }
  }
  function draw() {
    const rows = entries.map(([id, at, took, words, address, name]) =>
      ({ id, at, took, text: words.map((word) => show(word, 300)).join(" "), address: show(address), name }));
    if (order.value === "cost") rows.sort((one, other) => other.took - one.took);
    const wanted = filter.value.toLowerCase();
    const fitting = rows.filter((row) => `${row.text} ${row.address}`.toLowerCase().includes(wanted));
    const limit = Number(limits["slowlog-log-slower-than"]);
    status.textContent = limit < 0 ? "The slow log is off (slowlog-log-slower-than)."
      : `${fitting.length} entries. Commands that take ${micros(limit)} or more, the latest ${limits["slowlog-max-len"]}.`;
    fill(body, fitting.length === 0 ? h("p.empty", {}, "Nothing was slow.") : table("Slow commands", [
      { name: "ID", kind: "number optional", of: (row) => String(row.id) },
      { name: "Time", kind: "nowrap", of: (row) => time(row.at * 1000) },
      { name: "Took", kind: "number", of: (row) => micros(row.took) },
      { name: "Command", kind: "mono", of: (row) => row.text },
      { name: "Client", kind: "nowrap optional", of: (row) => row.address },
    ], fitting));
  }
  async function reset() {
    if (!(await confirm("Clear the slow log?", "Its entries are gone for everybody.", "Clear"))) return;
    await command(["SLOWLOG", "RESET"]).catch((error) => fill(body, notice(error.message, "bad")));
    load();
  }
  load();
}
