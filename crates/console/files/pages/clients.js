// Who is connected.

import { button, check, field, fill, h, notice, table } from "../dom.js";
import { bytes, duration } from "../format.js";
import { command, session } from "../client.js";
import { renew } from "../renew.js";
import { confirm } from "../dialogs.js";

const PERIOD_MS = 2000;
const SHOWN_MAX = 500;

export const page = { title: "Clients", path: "clients", key: "c", render };

/** Lines of `name=value` pairs, as CLIENT LIST has them. */
export function parseClients(text) {
  return text.split("\n").filter((line) => line !== "").map((line) =>
    Object.fromEntries(line.split(" ").map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])));
}

function render(root) {
  let clients = [];
  const filter = h("input", { type: "search", "data-search": true, placeholder: "address, name, user or command", oninput: draw });
  const follow = check("Renew every 2 s", true, () => renewing.now());
  const renewing = renew(PERIOD_MS, load, () => follow.box.checked);
  const status = h("span.soft", { role: "status" });
  const body = h("div.panel");
  root.append(h("div.head", {}, h("h1", {}, "Clients"), status),
    h("div.stack", {}, h("div.tools", {}, field("Filter", filter, true), follow, button("Renew", renewing.now)), body));

  async function load() {
    try {
      clients = parseClients(await command(["CLIENT", "LIST"]));
      // A table that is made again takes the focus from what is in it.
      if (!body.contains(document.activeElement)) draw();
    } catch (error) {
      fill(body, notice(error.message, "bad"));
      throw error;
    }
  }
  function draw() {
    const wanted = filter.value.toLowerCase();
    const fits = (one) => [one.addr, one.name, one.user, one.cmd].some((text) => (text ?? "").toLowerCase().includes(wanted));
    const rows = clients.filter(fits);
    status.textContent = `${rows.length} of ${clients.length}`;
    fill(body, rows.length === 0 ? h("p.empty", {}, "No client fits.") : table("Clients", columns(), rows.slice(0, SHOWN_MAX)),
      rows.length > SHOWN_MAX ? h("p.empty", {}, `The first ${SHOWN_MAX} are shown: filter for others.`) : null);
  }
  function columns() {
    const all = [
      { name: "ID", kind: "number", of: (one) => one.id },
      { name: "Address", kind: "nowrap", of: (one) => one.addr },
      { name: "By", kind: "optional", of: (one) => one.front ?? "–" },
      { name: "Name", of: (one) => one.name || "–" },
      { name: "User", kind: "optional", of: (one) => one.user },
      { name: "Last command", kind: "nowrap", of: (one) => one.cmd.replace("|", " ") },
      { name: "Database", kind: "number optional", of: (one) => one.db },
      { name: "Connected", kind: "number optional", of: (one) => duration(one.age) },
      { name: "Idle", kind: "number", of: (one) => duration(one.idle) },
      { name: "Memory", kind: "number optional", of: (one) => bytes(one["tot-mem"] ?? 0) },
    ];
    if (!session.isReadOnly) {
      all.push({ label: "Actions", kind: "actions", of: (one) => button("Kill", () => kill(one), { kind: "small", "aria-label": `Kill client ${one.id}` }) });
    }
    return all;
  }
  async function kill(one) {
    const text = `${one.addr}${one.name ? `, called ${one.name}` : ""}, is disconnected. It may connect again.`;
    if (!(await confirm(`Kill client ${one.id}?`, text, "Kill"))) return;
    try {
      const killed = await command(["CLIENT", "KILL", "ID", one.id]);
      status.textContent = killed > 0 ? `Client ${one.id} was killed.` : `Client ${one.id} had gone.`;
    } catch (error) {
      status.textContent = error.message;
    }
    clients = clients.filter((other) => other.id !== one.id);
    draw();
    filter.focus();
  }
  renewing.now();
  return () => renewing.stop();
}
