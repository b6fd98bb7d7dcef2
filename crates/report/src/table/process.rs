//! The process. Names that begin with `process_` are those of all programs.

use crate::metric::{Metric, counter, gauge};
use basalt_observe::exposition::Unit::{Bytes, None, Seconds};
use basalt_service::server::{BASALT_COMMIT, BASALT_VERSION, REDIS_VERSION};

pub(super) const METRICS: &[Metric] = &[
    gauge(
        (
            "basalt_build_info",
            None,
            "Versions of the program and of the Redis that it stands for, and the commit that the \
             program was built of, if that is known.",
        ),
        &["version", "redis_version", "commit"],
        |_, sink| sink.value(&[BASALT_VERSION, REDIS_VERSION, BASALT_COMMIT], 1.0),
    ),
    gauge(("basalt_uptime_seconds", Seconds, "Time since the start."), &[], |figures, sink| {
        sink.value(&[], figures.uptime_s);
    }),
    gauge(
        ("basalt_ready", None, "1 if the server takes changes, as /health/ready says it; else 0."),
        &[],
        |figures, sink| {
            sink.value(&[], f64::from(u8::from(figures.server.refuses_changes().is_none())));
        },
    ),
    counter(
        ("basalt_thread_cpu_seconds_total", Seconds, "CPU time of the threads of a name."),
        &["thread"],
        |figures, sink| {
            for (name, seconds) in &figures.host.threads {
                sink.value(&[name], *seconds);
            }
        },
    ),
    gauge(
        ("basalt_disk_free_bytes", Bytes, "What can still be written to the data's file system."),
        &[],
        |figures, sink| {
            figures.host.disk_free_bytes.iter().for_each(|&bytes| sink.value(&[], bytes as f64));
        },
    ),
    gauge(("basalt_disk_bytes", Bytes, "Size of the data's file system."), &[], |figures, sink| {
        figures.host.disk_bytes.iter().for_each(|&bytes| sink.value(&[], bytes as f64));
    }),
    counter(
        (
            "process_cpu_seconds_total",
            Seconds,
            "CPU time of the process, its kernel time included.",
        ),
        &[],
        |figures, sink| sink.value(&[], figures.cpu.user_s + figures.cpu.system_s),
    ),
    gauge(
        ("process_resident_memory_bytes", Bytes, "Memory of the process that is in RAM."),
        &[],
        |figures, sink| sink.value(&[], figures.memory.rss as f64),
    ),
    gauge(
        ("process_virtual_memory_bytes", Bytes, "Memory of the process that is mapped."),
        &[],
        |figures, sink| {
            figures.host.virtual_bytes.iter().for_each(|&bytes| sink.value(&[], bytes as f64));
        },
    ),
    gauge(("process_open_fds", None, "Open file descriptors."), &[], |figures, sink| {
        figures.host.descriptors.iter().for_each(|&count| sink.value(&[], count as f64));
    }),
    gauge(("process_max_fds", None, "Most open file descriptors."), &[], |figures, sink| {
        figures.host.descriptors_max.iter().for_each(|&count| sink.value(&[], count as f64));
    }),
    gauge(
        ("process_start_time_seconds", Seconds, "When the server started, in unix time."),
        &[],
        |figures, sink| sink.value(&[], figures.server.started_ms as f64 / 1e3),
    ),
];
