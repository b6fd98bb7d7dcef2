//! Numbers that a server says of itself.

use std::collections::BTreeMap;

use crate::error::BenchError;
use crate::target::{Client, Target};

/// Numbers of INFO.
pub(super) struct Info(BTreeMap<String, f64>);

impl Info {
    /// All of them.
    pub(super) fn ask(target: &Target) -> Result<Info, BenchError> {
        Info::of_section(target, "everything")
    }

    pub(super) fn of_section(target: &Target, section: &str) -> Result<Info, BenchError> {
        let text = Client::connect(target)?.text(&["INFO", section])?;
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        let numbers =
            pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        Ok(Info(numbers.collect()))
    }

    /// 0 if it is not told.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }

    pub(super) fn since(&self, before: &Info, name: &str) -> f64 {
        self.number(name) - before.number(name)
    }
}
