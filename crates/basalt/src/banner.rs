//! What a person sees when the server starts.

use crate::allowance::{Allowance, mebibytes};
use basalt_config::{Fsync, Settings};
use basalt_engine::RecoveryStats;
use basalt_service::server::REDIS_VERSION;
use std::time::Duration;

/// What has been found out at start.
pub struct Start<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// Where the server listens.
    pub addresses: &'a [String],
    /// Where it speaks HTTP.
    pub http: &'a [String],
    /// What recovery found.
    pub recovery: RecoveryStats,
    /// How long opening took.
    pub opened_in: Duration,
    /// What the memory budget is, as [`budget`] says it.
    pub memory: &'a str,
    /// Network threads.
    pub threads: usize,
}

/// One screen.
pub fn text(start: &Start<'_>) -> String {
    let persistence = &start.settings.persistence;
    let durability = match (persistence.journal, persistence.fsync) {
        (true, Fsync::Always) => "always: a reply means that the change is on disk",
        (true, Fsync::EverySecond) => "everysec: a power cut loses at most the last second",
        _ => "no: the system decides when changes reach the disk",
    };
    let recovery = start.recovery;
    format!(
        "
        ▄▄         basalt {version}, redis_version {redis}
     ▗▟████▙▖      listening on  {addresses}
     ███▀▀███      data in       {dir}
     ██▛  ▜██      appendfsync   {durability}
     ███▄▄███      memory        {memory}
     ▝▜████▛▘      threads       {threads}
        ▀▀         http          {http}
     {keys} keys on disk, {records} changes replayed, open in {ms} ms; process {pid}

",
        version = crate::VERSION,
        redis = REDIS_VERSION,
        addresses = start.addresses.join(", "),
        http = if start.http.is_empty() { "none".to_owned() } else { start.http.join(", ") },
        dir = persistence.dir.display(),
        memory = start.memory,
        threads = start.threads,
        keys = recovery.keys_in_cold_tier,
        records = recovery.records_applied,
        ms = start.opened_in.as_millis(),
        pid = std::process::id(),
    )
}

/// The memory budget, and why it is what it is.
pub fn budget(settings: &Settings, allowance: &Allowance) -> String {
    let bytes = settings.memory.memory_bytes_max;
    match (bytes, settings.memory.is_automatic) {
        (0, _) => "no limit, as maxmemory says".to_owned(),
        (_, true) => format!("{}, {allowance}", mebibytes(bytes)),
        (_, false) => format!("{}, as maxmemory says", mebibytes(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_says_why() {
        let allowance = Allowance::Machine(1000 << 20);
        let said = |bytes, is_automatic| {
            let mut settings = Settings::default();
            settings.memory.memory_bytes_max = bytes;
            settings.memory.is_automatic = is_automatic;
            budget(&settings, &allowance)
        };
        assert_eq!(said(600 << 20, true), "600 MiB, 60% of the machine's 1000 MiB");
        assert_eq!(said(256 << 20, false), "256 MiB, as maxmemory says");
        assert_eq!(said(0, false), "no limit, as maxmemory says");
    }
}
