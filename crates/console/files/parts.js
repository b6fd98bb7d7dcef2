// Memory by part, as bars with their numbers.

import { bytes } from "./format.js";
import { h } from "./dom.js";

const PARTS = [
  ["Entries and small values", "keyspace_pages"],
  ["Free cells beside them", "keyspace_slack"],
  ["Large entries", "keyspace_large"],
  ["Values apart", "keyspace_apart"],
  ["Tables of keys", "keyspace_index"],
  ["Caches of the cold tier", "cold_cache"],
  ["Its indexes and filters", "cold_index"],
  ["Journal's buffers", "journal"],
  ["Clients' buffers", "clients"],
  ["Messages on their way", "pubsub"],
  ["Scripts", "scripts"],
  ["Deleted, not yet freed", "retired"],
  ["Everything else", "other"],
];

export function memoryParts(info) {
  const parts = PARTS.map(([name, part]) => [name, Number(info[`memory_part_${part}`] ?? 0)]);
  const sum = parts.reduce((sum, part) => sum + part[1], 0);
  const whole = Math.max(Number(info.used_memory_rss), sum, 1);
  parts.push(["Process", Number(info.used_memory_rss)]);
  return h("div.parts", { role: "list" }, parts.map(([name, size]) => {
    const bar = h("i");
    bar.style.width = `${((size / whole) * 100).toFixed(1)}%`;
    return h("div", { role: "listitem" }, [
      h("span", {}, name), h("span.track", { "aria-hidden": "true" }, bar), h("span.number", {}, bytes(size))]);
  }));
}
