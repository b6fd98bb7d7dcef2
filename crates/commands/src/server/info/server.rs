//! Sections Server, Clients and CPU.

use super::Source;
use super::lines::Lines;
use basalt_service::server::{BASALT_COMMIT, BASALT_VERSION, REDIS_VERSION};
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn server(source: &Source<'_>, lines: &mut Lines) {
    let host = &source.server.host;
    let identity = host.identity();
    let uptime_s = source.server.env.clock.since(source.server.started).as_secs();
    let hz = source.settings.memory.hz;
    let config_file = source.server.config.file().map(|file| file.path.display().to_string());
    lines.put("redis_version", REDIS_VERSION);
    // Redis shows eight digits, and these where it does not know them.
    let commit = BASALT_COMMIT.get(..8).unwrap_or("00000000");
    lines.put("redis_git_sha1", commit);
    lines.put("redis_git_dirty", 0);
    lines.put("redis_build_id", 0);
    lines.put("basalt_version", BASALT_VERSION);
    lines.put("redis_mode", "standalone");
    lines.put("os", identity.os);
    lines.put("arch_bits", usize::BITS);
    lines.put("monotonic_clock", "POSIX clock_gettime");
    lines.put("multiplexing_api", "epoll");
    lines.put("process_id", std::process::id());
    lines.put("process_supervised", "no");
    lines.put("run_id", &source.server.run_id);
    lines.put("tcp_port", host.tcp_port());
    lines.put("server_time_usec", source.server.engine.clock().unix_us());
    lines.put("uptime_in_seconds", uptime_s);
    lines.put("uptime_in_days", uptime_s / (24 * 60 * 60));
    lines.put("hz", hz);
    lines.put("configured_hz", hz);
    // 24 bits of seconds, as in a key's time of last use.
    lines.put("lru_clock", (source.now_ms / 1000) & 0x00FF_FFFF);
    lines.put("executable", identity.executable);
    lines.put("config_file", config_file.unwrap_or_default());
    lines.put("io_threads_active", u8::from(source.settings.network.io_threads > 1));
}

pub(super) fn clients(source: &Source<'_>, lines: &mut Lines) {
    let clients = source.clients();
    let most = |of: fn(&basalt_service::clients::ClientHandle) -> u64| {
        clients.iter().map(|client| of(client)).max().unwrap_or(0)
    };
    let parked = clients.iter().filter(|client| client.parked.load(Relaxed)).count();
    lines.put("connected_clients", clients.len());
    lines.put("cluster_connections", 0);
    lines.put("maxclients", source.settings.clients.clients_max);
    lines.put(
        "client_recent_max_input_buffer",
        most(|client| client.query_memory_bytes.load(Relaxed)),
    );
    lines.put(
        "client_recent_max_output_buffer",
        most(|client| client.output_memory_bytes.load(Relaxed)),
    );
    lines.put("blocked_clients", parked);
    let subscribers = clients.iter().filter(|client| client.is_subscribed()).count();
    lines.put("tracking_clients", source.server.trackers.len());
    lines.put("pubsub_clients", subscribers);
    lines.put_all(&["clients_in_timeout_table"], 0);
    let (waited_for, awaiting_end) = source.keys_waited_for();
    lines.put("total_blocking_keys", waited_for);
    lines.put("total_blocking_keys_on_nokey", awaiting_end);
}

pub(super) fn cpu(source: &Source<'_>, lines: &mut Lines) {
    let cpu = source.server.host.cpu();
    let mut put = |name: &str, seconds: f64| lines.put(name, format_args!("{seconds:.6}"));
    put("used_cpu_sys", cpu.system_s);
    put("used_cpu_user", cpu.user_s);
    put("used_cpu_sys_children", cpu.system_children_s);
    put("used_cpu_user_children", cpu.user_children_s);
}
