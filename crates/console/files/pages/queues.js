// The queues of a database, and how they do.

import { bytes, count, duration } from "../format.js";
import { button, check, field, fill, h, notice, table } from "../dom.js";
import { command } from "../client.js";
import { renew } from "../renew.js";
import { show, toAddress, toWord } from "../bytes.js";

const PERIOD_MS = 2000;
const QUEUES_MAX = 200;
const STEPS_MAX = 200;

export const page = { title: "Queues", path: "queues", key: "q", render };

function render(root, params) {
  const db = Math.max(0, Number(params.get("db")) || 0);
  let names = [];
  let rows = [];
  let isGone = false;
  let searches = 0;
  const filter = h("input", { type: "search", "data-search": true, placeholder: "name", oninput: draw });
  const database = h("input", { type: "number", min: "0", value: String(db), onchange: () => { location.hash = `#/queues?db=${Number(database.value)}`; } });
  const follow = check("Renew every 2 s", true, () => renewing.now());
  const renewing = renew(PERIOD_MS, measure, () => follow.box.checked);
  const status = h("span.soft", { role: "status" });
  const body = h("div.panel");
  root.append(h("div.head", {}, h("h1", {}, "Queues"), status),
    h("div.stack", {}, h("div.tools", {}, field("Filter", filter, true), field("Database", database), follow, button("Search again", search)), body));

  async function search() {
    searches += 1;
    const turn = searches;
    const all = [];
    let cursor = "0";
    try {
      for (let step = 0; step < STEPS_MAX && all.length < QUEUES_MAX && !isGone; step += 1) {
        const [next, part] = await command(["SCAN", cursor, "COUNT", "1000", "TYPE", "queue"], { db });
        if (turn !== searches) return;
        all.push(...part);
        cursor = next;
        if (cursor === "0") break;
      }
    } catch (error) {
      return turn === searches ? fill(body, notice(error.message, "bad")) : undefined;
    }
    names = all.slice(0, QUEUES_MAX).sort((one, other) => (show(one) < show(other) ? -1 : 1));
    status.textContent = cursor === "0" ? `${names.length} found` : `${names.length} found, there may be more`;
    renewing.now();
  }
  async function measure() {
    const stats = await Promise.all(names.map((name) => command(["Q.STAT", toWord(name)], { db }).catch(unlessGone)));
    rows = names.map((name, at) => ({ name, stat: stats[at] })).filter((row) => row.stat?.messages !== undefined);
    // A table that is made again takes the focus from what is in it.
    if (!body.contains(document.activeElement)) draw();
  }
  // One that has gone meanwhile, or is of another type now, is left out.
  function unlessGone(error) {
    if (error.status >= 400 && error.status < 500 && error.status !== 401) return null;
    throw error;
  }
  function draw() {
    const fitting = rows.filter((row) => show(row.name).toLowerCase().includes(filter.value.toLowerCase()));
    const number = (name, of, kind = "number") => ({ name, kind, of: (row) => of(row.stat) });
    fill(body, fitting.length === 0 ? h("p.empty", {}, "There are no queues. Q.PUT makes one.") : table("Queues", [
      { name: "Queue", kind: "mono", of: (row) => h("a", { href: `#/keys?${new URLSearchParams({ ...(db > 0 && { db }), type: "queue", key: toAddress(row.name) })}` }, show(row.name, 200)) },
      number("Ready", (stat) => count(stat.ready)),
      number("Delayed", (stat) => count(stat.delayed), "number optional"),
      number("Leased", (stat) => count(stat.leased)),
      number("Dead", (stat) => (stat.dead > 0 ? h("span.warn", {}, count(stat.dead)) : "0")),
      number("Oldest ready", (stat) => (stat.ready > 0 ? duration(stat["oldest-ready"] / 1000) : "–"), "number optional"),
      number("Size", (stat) => bytes(stat.bytes), "number optional"),
      number("Put", (stat) => count(stat["total-put"]), "number optional"),
      number("Acknowledged", (stat) => count(stat["total-acknowledged"]), "number optional"),
    ], fitting));
  }
  search();
  return () => { isGone = true; renewing.stop(); };
}
