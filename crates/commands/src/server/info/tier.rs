//! Section Tier: what is in memory, what is on disk only, and what goes between them.

use super::Source;
use super::lines::Lines;
use basalt_engine::Room;

pub(super) fn tier(source: &Source<'_>, lines: &mut Lines) {
    let engine = &source.server.engine;
    let databases = &source.census().databases;
    let (keys, cold) = databases
        .iter()
        .fold((0, 0), |(keys, cold), totals| (keys + totals.keys, cold + totals.keys_cold_only));
    lines.put("tier_keys_resident", keys - cold);
    lines.put("tier_keys_cold", cold);
    lines.put("tier_memory_target", engine.memory_target().unwrap_or(0));
    lines.put(
        "tier_memory_room",
        match engine.memory_room() {
            Some(Room::Free) | None => "free",
            Some(Room::Later) => "later",
            Some(Room::Full) => "full",
        },
    );
    lines.put("tier_checkpoint_behind_percent", engine.checkpoint_behind_percent());
    let reads = engine.miss_stats();
    lines.put("tier_reads", reads.durations.count());
    lines.put("tier_keys_read", reads.keys);
    lines.put("tier_reads_joined", reads.joined);
    lines.put("tier_reads_queued", reads.queued);
    lines.put("tier_keys_settled", reads.settled);
    lines.put("tier_read_by", if engine.has_ring() { "io_uring" } else { "threads" });
    let evicted = engine.eviction_stats();
    lines.put("evicted_clean", evicted.keys);
    lines.put("evicted_newcomers", evicted.newcomers);
    lines.put("evicted_bytes", evicted.bytes);
    lines.put("evict_longest_lock_us", evicted.longest_hold.by_clock.as_micros());
    lines.put("evict_longest_lock_cpu_us", evicted.longest_hold.of_cpu.as_micros());
    lines.put("evict_locks", evicted.longest_hold.steps);
    lines.put("evict_locks_over_2ms", evicted.longest_hold.long_steps);
}
