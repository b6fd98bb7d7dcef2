//! Section Persistence: checkpoints stand where Redis has RDB files, the log where it has the AOF.

use super::Source;
use super::lines::Lines;
use basalt_engine::DatabaseTotals;

pub(super) fn persistence(source: &Source<'_>, lines: &mut Lines) {
    let engine = &source.server.engine;
    let checkpoints = engine.checkpoint_stats();
    let is_ok = |ok| if ok { "ok" } else { "err" };
    let last_s =
        if checkpoints.completed == 0 { -1 } else { checkpoints.last_duration.as_secs() as i64 };
    lines.put_all(&["loading", "async_loading"], 0);
    copy_on_write(lines);
    lines.put("rdb_changes_since_last_save", engine.changes_since_checkpoint());
    lines.put("rdb_bgsave_in_progress", u8::from(checkpoints.running));
    lines.put("rdb_last_save_time", source.server.last_save_s());
    lines.put("rdb_last_bgsave_status", is_ok(checkpoints.last_error.is_none()));
    lines.put("rdb_last_bgsave_time_sec", last_s);
    lines.put("rdb_current_bgsave_time_sec", if checkpoints.running { 0 } else { -1 });
    lines.put("rdb_saves", checkpoints.completed);
    lines.put_all(&["rdb_last_cow_size", "rdb_last_load_keys_expired"], 0);
    lines.put("rdb_last_load_keys_loaded", engine.recovery().keys_in_cold_tier);
    lines.put("aof_enabled", 1);
    lines.put_all(&["aof_rewrite_in_progress", "aof_rewrite_scheduled"], 0);
    lines.put_all(&["aof_last_rewrite_time_sec", "aof_current_rewrite_time_sec"], -1);
    lines.put("aof_last_bgrewrite_status", is_ok(checkpoints.last_error.is_none()));
    lines.put_all(&["aof_rewrites", "aof_rewrites_consecutive_failures"], 0);
    lines.put("aof_last_cow_size", 0);
    lines.put_all(&["module_fork_in_progress", "module_fork_last_cow_size"], 0);
    lines.put("checkpoint_last_rows", checkpoints.last_rows);
    let longest = checkpoints.longest_hold;
    lines.put("checkpoint_longest_lock_usec", longest.by_clock.as_micros());
    lines.put("checkpoint_longest_lock_cpu_usec", longest.of_cpu.as_micros());
    lines.put("checkpoint_locks", longest.steps);
    lines.put("checkpoint_locks_over_2ms", longest.long_steps);
    lines.put("checkpoint_partitions_left_out", checkpoints.partitions_left_out);
    if let Some(error) = &checkpoints.last_error {
        lines.put("checkpoint_last_error", error.replace(['\r', '\n'], " "));
    }
    let recovery = engine.recovery();
    lines.put("recovery_records_applied", recovery.records_applied);
    lines.put("recovery_records_skipped", recovery.records_skipped);
    let warm_up = engine.warm_up_stats();
    lines.put("warm_up_keys", warm_up.keys);
    lines.put("warm_up_running", u8::from(warm_up.is_running));
    source.server.host.journal_info().iter().for_each(|(name, value)| lines.put(name, value));
    cold_tier(source, lines);
}

/// Nothing forks, so nothing is copied on write.
fn copy_on_write(lines: &mut Lines) {
    lines.put_all(&["current_cow_peak", "current_cow_size", "current_cow_size_age"], 0);
    lines.put("current_fork_perc", "0.00");
    lines.put_all(&["current_save_keys_processed", "current_save_keys_total"], 0);
}

fn cold_tier(source: &Source<'_>, lines: &mut Lines) {
    let sum_of = |number: fn(&DatabaseTotals) -> u64| -> u64 {
        source.census().databases.iter().map(number).sum()
    };
    let cold = source.server.sampler.cold_stats();
    let pressure = source.server.engine.cold().pressure();
    let levels: Vec<String> = cold.files_per_level.iter().map(u64::to_string).collect();
    lines.put("keys_cold_only", sum_of(|totals| totals.keys_cold_only));
    lines.put("keys_unread", sum_of(|totals| totals.keys_unread));
    lines.put("cold_rows_estimate", cold.rows_estimate);
    lines.put("cold_table_bytes", cold.table_bytes);
    lines.put("cold_value_log_bytes", cold.value_log_bytes);
    lines.put("cold_value_log_live_bytes", cold.value_log_live_bytes);
    lines.put("cold_value_log_segments", cold.value_log_segments);
    lines.put("cold_value_log_values", cold.value_log_values);
    lines.put("cold_value_log_collected_bytes", cold.value_log_collected_bytes);
    lines.put("cold_locator_bytes", cold.locator_bytes);
    lines.put("cold_locator_built", u8::from(cold.locator_is_built));
    lines.put("cold_files_per_level", levels.join(","));
    lines.put("cold_index_filter_bytes", cold.index_filter_bytes);
    lines.put("cold_cache_bytes_used", cold.cache_bytes_used);
    lines.put("cold_cache_bytes_max", cold.cache_bytes_max);
    lines.put("cold_merges_running", cold.merges_running);
    lines.put("cold_background_errors", cold.background_errors);
    lines.put("cold_block_reads", cold.block_reads);
    lines.put("cold_checkpoints_committed", cold.checkpoints_committed);
    lines.put("cold_checkpoint_rows", cold.checkpoint_rows);
    lines.put("cold_checkpoint_bytes", cold.checkpoint_bytes);
    lines.put("cold_level0_files", pressure.l0_files);
    lines.put("cold_pending_merge_bytes", pressure.pending_compaction_bytes);
    lines.put("cold_stalled", u8::from(pressure.stalled));
    lines.put("cold_behind_percent", pressure.behind_percent);
}
