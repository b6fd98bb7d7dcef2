//! What the numbers were measured on.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// The machine that ran the load generator.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: u64,
    pub(crate) kernel: String,
    /// Load average of the last minute before the run; much above 0 means that we had company.
    pub(crate) load_average: f64,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let field = |file: &str, name: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory_kib = field("/proc/meminfo", "MemTotal")
            .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or(0);
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let uname = rustix::system::uname();
        Self {
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".into()),
            cores: online_cores(),
            memory_bytes: memory_kib * 1024,
            kernel: format!(
                "{} {} {}",
                uname.sysname().to_string_lossy(),
                uname.release().to_string_lossy(),
                uname.machine().to_string_lossy()
            ),
            load_average: load.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
        }
    }

    pub(crate) fn summary(&self) -> String {
        format!(
            "{}, {} cores, {:.1} GiB, {}, load average {:.2}",
            self.cpu,
            self.cores,
            self.memory_bytes as f64 / (1u64 << 30) as f64,
            self.kernel,
            self.load_average
        )
    }
}

/// All cores, not only those that this process is pinned to.
fn online_cores() -> usize {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines().filter(|line| line.starts_with("processor")).count().max(1)
}

/// The kind of file system under `path`: durable writes mean nothing on tmpfs.
pub(crate) fn file_system(path: &Path) -> String {
    let Ok(stat) = rustix::fs::statfs(path) else { return "unknown".into() };
    let known = [
        (0xef53, "ext4"),
        (0x5846_5342, "xfs"),
        (0x9123_683e, "btrfs"),
        (0x0102_1994, "tmpfs"),
        (0x794c_7630, "overlayfs"),
        (0x2fc1_2fc1, "zfs"),
    ];
    let magic = stat.f_type as u64;
    known
        .iter()
        .find(|(number, _)| *number == magic)
        .map_or_else(|| format!("0x{magic:x}"), |(_, name)| (*name).to_owned())
}
