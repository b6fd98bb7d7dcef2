// Where the data is: memory, journal, cold tier.

import { button, facts, fill, h, notice, panel } from "../dom.js";
import { bytes, count, micros, percent } from "../format.js";
import { command, session } from "../client.js";
import { confirm } from "../dialogs.js";
import { journalFacts } from "./overview.js";
import { memoryParts } from "../parts.js";
import { watch } from "../info.js";

export const page = { title: "Storage", path: "storage", key: "m", render };

function render(root) {
  const [parts, memory, journal, checkpoint, cold, levels] = Array.from({ length: 6 }, () => h("div.body"));
  const status = h("span.soft", { role: "status" });
  root.append(h("div.head", {}, h("h1", {}, "Memory and storage"), status, h("span.space"),
    session.isReadOnly ? null : button("Start a checkpoint", save)),
  h("div.columns", {}, panel("Memory by part", parts), panel("Allocator", memory), panel("Journal", journal),
    panel("Checkpoints", checkpoint), panel("Cold tier", cold), panel("Its files by level", levels)));

  async function save() {
    const text = "Dirty keys are written to the cold tier in the background. Clients go on.";
    if (!(await confirm("Start a checkpoint?", text, "Start", "primary"))) return;
    try {
      status.textContent = await command(["BGSAVE"]);
    } catch (error) {
      status.textContent = error.message;
    }
  }
  return watch((info, history, error) => {
    if (!info) return fill(parts, notice(error.message, "bad"));
    fill(parts, memoryParts(info));
    fill(memory, memoryFacts(info));
    fill(journal, journalFacts(info));
    fill(checkpoint, checkpointFacts(info));
    fill(cold, coldFacts(info));
    fill(levels, levelFacts(info));
  });
}

function memoryFacts(info) {
  const limit = Number(info.maxmemory);
  return facts([
    ["Keys and values", bytes(info.used_memory)],
    ["At most so far", bytes(info.used_memory_peak)],
    ["Limit", limit > 0 ? `${bytes(limit)}, ${percent(Number(info.used_memory_rss) / limit)} used, ${info.maxmemory_policy}` : "none (maxmemory)"],
    ["Of it for keys", limit > 0 ? bytes(info.keyspace_target_bytes) : "no limit"],
    ["Process", bytes(info.used_memory_rss)],
    ["Allocated", bytes(info.allocator_allocated)],
    ["Resident", bytes(info.allocator_resident)],
    ["Machine", bytes(info.total_system_memory)],
    ["Allocator", info.mem_allocator],
  ]);
}

function checkpointFacts(info) {
  return facts([
    ["Committed", count(info.cold_checkpoints_committed)],
    ["Rows in all", count(info.cold_checkpoint_rows)],
    ["Bytes in all", bytes(info.cold_checkpoint_bytes)],
    ["Rows of the last", count(info.checkpoint_last_rows)],
    ["Longest lock", micros(Number(info.checkpoint_longest_lock_usec))],
    ["Partitions left out", count(info.checkpoint_partitions_left_out), Number(info.checkpoint_partitions_left_out) > 0 ? "warn" : undefined],
    ["Replayed at the start", `${count(info.recovery_records_applied)} records`],
  ]);
}

function coldFacts(info) {
  return facts([
    ["Rows, estimated", count(info.cold_rows_estimate)],
    ["Keys only there", count(info.keys_cold_only)],
    ["Tables", bytes(info.cold_table_bytes)],
    ["Large values", bytes(info.cold_value_log_bytes)],
    ["Cache", `${bytes(info.cold_cache_bytes_used)} of ${bytes(info.cold_cache_bytes_max)}`],
    ["Indexes and filters", bytes(info.cold_index_filter_bytes)],
    ["To be merged", bytes(info.cold_pending_merge_bytes)],
    ["Merges running", count(info.cold_merges_running)],
    ["Reads", count(info.total_cold_reads)],
    ["Errors", count(info.cold_background_errors), Number(info.cold_background_errors) > 0 ? "bad" : undefined],
    ["Behind with merges", `${info.cold_behind_percent} %`, Number(info.cold_behind_percent) > 0 ? "warn" : undefined],
    ["Stalled", info.cold_stalled === "0" ? "no" : "yes", info.cold_stalled === "0" ? undefined : "warn"],
  ]);
}

function levelFacts(info) {
  const levels = (info.cold_files_per_level ?? "").split(",").filter((text) => text !== "");
  if (levels.length === 0) return h("p.soft", {}, "This cold tier has no levels.");
  return facts(levels.map((files, level) => [`Level ${level}`, `${count(files)} files`]));
}
