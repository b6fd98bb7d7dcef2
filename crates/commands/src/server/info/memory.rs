//! Section Memory.

use super::Source;
use super::lines::{Lines, ratio};
use basalt_config::EvictionPolicy;
use basalt_service::memory_parts::MemoryParts;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn memory(source: &Source<'_>, lines: &mut Lines) {
    let server = source.server;
    let host = server.host.memory();
    let dataset = source.census().memory;
    let dataset_bytes = dataset.entry_bytes + dataset.apart_bytes;
    // The keyspace, which is compared with what the rest of the process leaves of `maxmemory`.
    let used = dataset.bytes_used();
    let peak = server.memory_bytes_peak.load(Relaxed).max(used);
    lines.put_bytes("used_memory", used);
    lines.put_bytes("used_memory_rss", host.rss);
    lines.put_bytes("used_memory_peak", peak);
    lines.put("used_memory_peak_perc", percent(used, peak));
    lines.put("used_memory_overhead", used.saturating_sub(dataset_bytes));
    lines.put("used_memory_startup", 0);
    lines.put("used_memory_dataset", dataset_bytes);
    lines.put("used_memory_dataset_perc", percent(dataset_bytes, used));
    lines.put("keyspace_page_bytes", dataset.page_bytes);
    lines.put("keyspace_large_bytes", dataset.large_bytes);
    lines.put("keyspace_index_bytes", dataset.index_bytes);
    lines.put("allocator_allocated", host.allocated);
    lines.put("allocator_active", host.active);
    lines.put("allocator_resident", host.resident);
    lines.put_bytes("total_system_memory", host.system_total);
    scripts(source, lines);
    lines.put_bytes("maxmemory", source.settings.memory.memory_bytes_max);
    lines.put("keyspace_target_bytes", server.engine.memory_target().unwrap_or(0));
    lines.put("maxmemory_policy", policy(source.settings.memory.eviction));
    let mut relation = |name: &str, more: u64, less: u64| {
        lines.put(format_args!("{name}_ratio"), format_args!("{:.2}", ratio(more, less)));
        lines.put(format_args!("{name}_bytes"), more as i64 - less as i64);
    };
    relation("allocator_frag", host.active, host.allocated);
    relation("allocator_rss", host.resident, host.active);
    relation("rss_overhead", host.rss, host.resident);
    relation("mem_fragmentation", host.rss, used);
    for (name, bytes) in MemoryParts::of(server, &dataset).parts {
        lines.put(format_args!("memory_part_{name}"), bytes);
    }
    clients(source, lines);
    lines.put("mem_allocator", server.host.identity().allocator);
    lines.put_all(&["active_defrag_running", "lazyfree_pending_objects", "lazyfreed_objects"], 0);
    lines.put("lazyfree_pending_bytes", server.engine.retired_bytes());
}

/// The texts of scripts and functions, and the threads' Lua states. A state is for both, and counts
/// as one of scripts.
fn scripts(source: &Source<'_>, lines: &mut Lines) {
    let known = &source.server.scripts.known;
    let text_bytes = known.text_bytes() as u64;
    lines.put("number_of_cached_scripts", known.len());
    lines.put("used_memory_scripts_eval", text_bytes);
    let functions = source.server.scripts.functions.now();
    let function_bytes = functions.text_bytes() as u64;
    lines.put("number_of_functions", functions.function_count());
    lines.put("number_of_libraries", functions.library_count());
    lines.put("used_memory_functions", function_bytes);
    lines.put_bytes("used_memory_scripts", text_bytes + function_bytes);
    let lua_bytes = source.server.scripts.lua_bytes();
    lines.put("used_memory_vm_eval", lua_bytes);
    lines.put("used_memory_vm_functions", 0);
    ["used_memory_lua", "used_memory_vm_total"]
        .iter()
        .for_each(|name| lines.put_bytes(name, lua_bytes));
}

fn clients(source: &Source<'_>, lines: &mut Lines) {
    let normal: u64 = source.clients().iter().map(|client| client.buffer_bytes()).sum();
    lines.put("mem_clients_normal", normal);
    lines.put("mem_aof_buffer", source.server.host.journal_buffer_bytes());
    let none = [
        "mem_not_counted_for_evict",
        "mem_replication_backlog",
        "mem_total_replication_buffers",
        "mem_clients_slaves",
        "mem_cluster_links",
    ];
    lines.put_all(&none, 0);
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2}%", ratio(part, whole) * 100.0)
}

fn policy(policy: EvictionPolicy) -> &'static str {
    match policy {
        EvictionPolicy::NoEviction => "noeviction",
        EvictionPolicy::AllKeysLru => "allkeys-lru",
        EvictionPolicy::AllKeysLfu => "allkeys-lfu",
        EvictionPolicy::AllKeysRandom => "allkeys-random",
        EvictionPolicy::VolatileLru => "volatile-lru",
        EvictionPolicy::VolatileLfu => "volatile-lfu",
        EvictionPolicy::VolatileRandom => "volatile-random",
        EvictionPolicy::VolatileTtl => "volatile-ttl",
    }
}
