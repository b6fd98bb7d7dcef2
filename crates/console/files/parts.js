// Memory by part, as bars with their numbers.

import { bytes } from "./format.js";
import { h } from "./dom.js";

const PARTS = [
  ["Entries and small values", "keyspace_page_bytes"],
  ["Large values", "keyspace_large_bytes"],
  ["Tables of keys", "keyspace_index_bytes"],
  ["Caches of the cold tier", "cold_cache_bytes_used"],
  ["Its indexes and filters", "cold_index_filter_bytes"],
  ["Journal's buffers", "aof_buffer_length"],
  ["Scripts", "used_memory_lua"],
];

export function memoryParts(info) {
  const parts = PARTS.map(([name, field]) => [name, Number(info[field] ?? 0)]);
  const known = parts.reduce((sum, part) => sum + part[1], 0);
  const whole = Math.max(Number(info.used_memory_rss), known, 1);
  parts.push(["Everything else", Math.max(0, Number(info.used_memory_rss) - known)], ["Process", Number(info.used_memory_rss)]);
  return h("div.parts", { role: "list" }, parts.map(([name, size]) => {
    const bar = h("i");
    bar.style.width = `${((size / whole) * 100).toFixed(1)}%`;
    return h("div", { role: "listitem" }, [
      h("span", {}, name), h("span.track", { "aria-hidden": "true" }, bar), h("span.number", {}, bytes(size))]);
  }));
}
