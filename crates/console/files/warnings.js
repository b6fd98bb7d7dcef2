// What INFO says that somebody should look at, in words.

import { bytes, count, duration } from "./format.js";

const OLD_CHECKPOINT_S = 3600;

export function warnings(info) {
  const number = (name) => Number(info[name] ?? 0);
  const list = [];
  if (info.loading === "1") list.push("The server is loading its data: commands are refused until it has.");
  if (info.aof_last_write_status !== "ok") list.push("The journal cannot be written: changes are refused. See the server's log.");
  if (info.rdb_last_bgsave_status !== "ok") list.push("The last checkpoint has failed: the journal grows until one succeeds.");
  if (number("checkpoint_partitions_left_out") > 0) {
    list.push(`${count(number("checkpoint_partitions_left_out"))} partitions were left out of the last checkpoint: a row is too large.`);
  }
  const [used, most] = [number("used_memory_rss"), number("maxmemory")];
  if (most > 0 && used > most) list.push(`The process takes more memory than it is to: ${bytes(used)} of ${bytes(most)} (maxmemory).`);
  const [clients, limit] = [number("connected_clients"), number("maxclients")];
  if (clients > limit * 0.9) list.push(`There is nearly no room for more clients: ${count(clients)} of ${count(limit)} (maxclients).`);
  if (number("rejected_connections") > 0) list.push(`${count(number("rejected_connections"))} connections were rejected since the start.`);
  if (number("cold_background_errors") > 0) list.push(`The cold tier has had ${count(number("cold_background_errors"))} errors.`);
  if (number("cold_behind_percent") > 0) list.push("Merges of the cold tier are behind: writers are slowed.");
  else if (number("cold_stalled") > 0) list.push("The cold tier does not keep up with what it is given.");
  const age = Date.now() / 1000 - number("rdb_last_save_time");
  if (number("rdb_changes_since_last_save") > 0 && age > OLD_CHECKPOINT_S) {
    list.push(`No checkpoint for ${duration(age)}: starting would take as long as reading the journal.`);
  }
  return list;
}
