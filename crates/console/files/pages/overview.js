// What the server does now.

import { bytes, count, duration, of, percent, rate, time, unitOfBytes } from "../format.js";
import { databases, watch } from "../info.js";
import { facts, fill, h, notice, panel } from "../dom.js";
import { memoryParts } from "../parts.js";
import { plot } from "../plot.js";
import { warnings } from "../warnings.js";

export const page = { title: "Overview", path: "overview", key: "o", render };

function render(root) {
  const alerts = h("div.stack", {});
  const tiles = h("dl.tiles", {});
  const plots = [
    plot("Commands per second", [{ name: "Commands", of: (row) => row.commands }], rate),
    plot("Hit ratio", [{ name: "Hit ratio", of: (row) => row.hits }], percent, { most: 1 }),
    plot("Memory", [{ name: "Keys and values", of: (row) => row.memory }, { name: "Process", of: (row) => row.resident }], bytes, { unit: unitOfBytes }),
    plot("Network per second", [{ name: "Received", of: (row) => row.received }, { name: "Sent", of: (row) => row.sent }], bytes, { unit: unitOfBytes }),
  ];
  const [memory, journal, clients, keys] = [h("div.body"), h("div.body"), h("div.body"), h("div.body")];
  root.append(h("div.head", {}, h("h1", {}, "Overview")),
    h("div.stack", {}, alerts, tiles, h("div.plots", {}, plots.map((one) => one.element)),
      h("div.columns", {}, panel("Memory by part", memory), panel("Journal and checkpoints", journal),
        panel("Clients", clients), panel("Databases", keys))));

  let [shown, shownKeys] = ["", ""];
  return watch((info, history, error) => {
    if (!info) return fill(alerts, notice(`INFO failed: ${error.message}`, "bad"));
    const list = warnings(info);
    // An alert that says the same again would be read out each second.
    if (list.join("\n") !== shown) {
      shown = list.join("\n");
      fill(alerts, list.map((text) => notice(text, "warn")));
    }
    fill(tiles, tilesOf(info, history));
    plots.forEach((one) => one.update(history));
    fill(memory, memoryParts(info));
    fill(journal, journalFacts(info));
    fill(clients, clientFacts(info));
    const newKeys = JSON.stringify(databases(info));
    // What can have the focus is only made again if it has changed.
    if (newKeys !== shownKeys) fill(keys, databaseFacts(info));
    shownKeys = newKeys;
  });
}

function tilesOf(info, history) {
  const now = history.at(-1);
  const keys = databases(info).reduce((sum, one) => sum + one.keys, 0);
  const [hits, misses] = [Number(info.keyspace_hits), Number(info.keyspace_misses)];
  const limit = Number(info.maxmemory);
  const tile = (name, value, more) => h("div.tile", {}, h("dt", {}, name), h("dd", {}, value, h("small", {}, more)));
  return [
    tile("Commands", now ? `${rate(now.commands)}/s` : "–", `${count(info.total_commands_processed)} in all`),
    tile("Hit ratio", hits + misses > 0 ? percent(hits / (hits + misses)) : "–", `${count(misses)} not found`),
    tile("Keys", count(keys), `${count(info.expired_keys)} expired so far`),
    tile("Memory", bytes(info.used_memory_rss), limit > 0 ? `of ${bytes(limit)}` : "no limit set"),
    tile("Clients", count(info.connected_clients), `of ${count(info.maxclients)}`),
    tile("Up for", duration(Number(info.uptime_in_seconds)), `version ${info.basalt_version}`),
  ];
}

export function journalFacts(info) {
  const isSaving = info.rdb_bgsave_in_progress === "1";
  const seconds = Number(info.rdb_last_bgsave_time_sec);
  const isGood = info.rdb_last_bgsave_status === "ok";
  const isWritten = info.aof_last_write_status === "ok";
  return facts([
    ["Journal", isWritten ? "is written" : "has failed", isWritten ? "good" : "bad"],
    ["On disk", `${bytes(info.aof_current_size)} in ${of(info.journal_segments, "segment")}`],
    ["To be written", bytes(info.aof_buffer_length)],
    ["Groups, syncs", `${count(info.journal_groups)}, ${count(info.journal_fsyncs)}`],
    ["Checkpoint", isSaving ? "runs now" : isGood ? "waits for its time" : "the last one has failed", isGood ? undefined : "bad"],
    ["Last one", seconds < 0 ? "none since the start" : `${time(Number(info.rdb_last_save_time) * 1000)}, took ${duration(seconds)}`],
    ["Dirty keys", count(info.rdb_changes_since_last_save)],
  ]);
}

function clientFacts(info) {
  return facts([
    ["Connected", count(info.connected_clients)],
    ["Blocked", count(info.blocked_clients)],
    ["Subscribers", count(info.pubsub_clients)],
    ["Accepted", count(info.total_connections_received)],
    ["Rejected", count(info.rejected_connections), Number(info.rejected_connections) > 0 ? "warn" : undefined],
    ["Error replies", count(info.total_error_replies)],
  ]);
}

function databaseFacts(info) {
  const list = databases(info);
  if (list.length === 0) return h("p.soft", {}, "There are no keys.");
  return facts(list.map((one) => [
    h("a", { href: `#/keys?db=${one.db}` }, `Database ${one.db}`),
    `${of(one.keys, "key")}, ${count(one.expires)} of them with an expiry`,
  ]));
}
