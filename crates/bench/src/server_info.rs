//! What the server says about itself, for the report.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::BenchError;
use crate::target::{Client, Target};

/// Fields of `INFO` that belong beside a measurement.
const INFO_FIELDS: &[&str] = &[
    "redis_version",
    "basalt_version",
    "valkey_version",
    "server_name",
    "redis_mode",
    "mem_allocator",
    "process_id",
    "io_threads_active",
    "aof_enabled",
];
/// Options that decide what a write costs.
const OPTIONS: &[&str] = &["appendonly", "appendfsync", "save", "maxmemory", "io-threads"];

/// Version and settings of a server.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ServerInfo {
    pub(crate) info: BTreeMap<String, String>,
    pub(crate) options: BTreeMap<String, String>,
}

impl ServerInfo {
    /// Asks the server. A server that knows no `INFO` or `CONFIG` yields an empty answer; only a
    /// failed connection is an error.
    pub(crate) fn ask(target: &Target) -> Result<Self, BenchError> {
        let mut client = Client::connect(target)?;
        let mut answer = Self::default();
        let text = client.text(&["INFO"]).unwrap_or_default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            if INFO_FIELDS.contains(&name) {
                answer.info.insert(name.to_owned(), value.trim().to_owned());
            }
        }
        for option in OPTIONS {
            let reply = client.call(&["CONFIG", "GET", option])?;
            let reply = String::from_utf8_lossy(&reply).into_owned();
            // An array (or map) of two bulk strings: header, length, name, length, value.
            let lines: Vec<&str> = reply.split("\r\n").collect();
            if let ["*2" | "%1", _, _, _, value, ..] = lines[..] {
                answer.options.insert((*option).to_owned(), value.to_owned());
            }
        }
        Ok(answer)
    }

    pub(crate) fn summary(&self) -> String {
        let version = ["basalt_version", "valkey_version", "redis_version"]
            .iter()
            .find_map(|name| Some(format!("{name} {}", self.info.get(*name)?)))
            .unwrap_or_else(|| "unknown version".into());
        let options: Vec<String> =
            self.options.iter().map(|(name, value)| format!("{name} {value:?}")).collect();
        format!("{version}, {}", options.join(", "))
    }
}
