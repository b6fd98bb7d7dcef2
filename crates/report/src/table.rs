//! All metrics, by group: names, units, labels, help, and where each is read.

mod checkpoint;
mod clients;
mod cold;
mod commands;
mod journal;
mod keyspace;
mod others;
mod process;
mod queues;

use crate::metric::Metric;

/// Metrics that belong together.
pub struct Group {
    /// Its title in the reference.
    pub title: &'static str,
    /// In the order of the report.
    pub metrics: &'static [Metric],
}

/// In the order of the report.
pub const GROUPS: &[Group] = &[
    Group { title: "Process", metrics: process::METRICS },
    Group { title: "Clients", metrics: clients::METRICS },
    Group { title: "Commands", metrics: commands::METRICS },
    Group { title: "Keyspace", metrics: keyspace::METRICS },
    Group { title: "Queues", metrics: queues::METRICS },
    Group { title: "Journal", metrics: journal::METRICS },
    Group { title: "Checkpoints", metrics: checkpoint::METRICS },
    Group { title: "Cold tier", metrics: cold::METRICS },
    Group { title: "Messages and scripts", metrics: others::METRICS },
];

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use basalt_observe::exposition::Kind;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_say_what_they_count() {
        let mut names = BTreeSet::new();
        for metric in GROUPS.iter().flat_map(|group| group.metrics) {
            let family = metric.family;
            let name = family.name;
            assert!(names.insert(name), "{name} twice");
            assert!(name.starts_with("basalt_") || name.starts_with("process_"), "{name}");
            assert_eq!(name.ends_with("_total"), family.kind == Kind::Counter, "{name}");
            let stem = name.trim_end_matches("_total");
            assert!(stem.ends_with(family.unit.name()), "{name} is not in {:?}", family.unit);
            let is_word =
                |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit();
            assert!(name.bytes().all(is_word), "{name}");
            assert!(family.help.ends_with('.'), "{name}: {}", family.help);
            assert!(!metric.labels.contains(&"le"), "{name}");
        }
    }
}
