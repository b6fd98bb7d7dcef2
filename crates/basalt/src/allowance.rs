//! How much memory the machine lends the process: what `maxmemory auto` stands for.

use crate::cgroup::{Limit, LimitFiles};
use crate::process;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Of the limit of a control group: the kernel counts the page cache and its own tables of the
/// process there, too, and ends the process at the limit.
const CGROUP_PERCENT: u64 = 80;
/// Of a machine, which others use, and whose page cache is what reads of the cold tier find.
const MACHINE_PERCENT: u64 = 60;

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// The process' control groups have a limit below the machine's memory.
    Cgroup {
        /// The limit.
        bytes: u64,
        /// The file that says so.
        file: PathBuf,
    },
    /// The machine's memory, whose bytes these are.
    Machine(u64),
}

impl Allowance {
    /// As it is now: the limit of a group may be changed at any moment.
    pub(crate) fn now(limits: &LimitFiles) -> Allowance {
        Allowance::of(limits.smallest(), process::system_bytes())
    }

    /// Version 1 says "no limit" by one that no machine has.
    fn of(limit: Option<Limit>, machine_bytes: u64) -> Allowance {
        match limit {
            Some(limit) if limit.bytes < machine_bytes => {
                Allowance::Cgroup { bytes: limit.bytes, file: limit.file }
            }
            _ => Allowance::Machine(machine_bytes),
        }
    }

    /// What there is, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let (Allowance::Cgroup { bytes, .. } | Allowance::Machine(bytes)) = self;
        *bytes
    }

    /// How much of it the process is to use, in bytes.
    pub(crate) fn budget_bytes(&self) -> u64 {
        let (bytes, percent) = match self {
            Allowance::Cgroup { bytes, .. } => (*bytes, CGROUP_PERCENT),
            Allowance::Machine(bytes) => (*bytes, MACHINE_PERCENT),
        };
        // No memory at all would be no limit.
        (bytes / 100 * percent).max(1)
    }
}

impl Display for Allowance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Allowance::Cgroup { bytes, file } => {
                let (limit, file) = (mebibytes(*bytes), file.display());
                write!(f, "{CGROUP_PERCENT}% of the limit of {limit} in {file}")
            }
            Allowance::Machine(bytes) => {
                write!(f, "{MACHINE_PERCENT}% of the machine's {}", mebibytes(*bytes))
            }
        }
    }
}

/// As people read it.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_limit_that_no_machine_has_is_none() {
        let limit = |bytes| Some(Limit { bytes, file: "f".into() });
        assert_eq!(Allowance::of(None, 1000), Allowance::Machine(1000));
        assert_eq!(Allowance::of(limit(9_223_372_036_854_771_712), 1000).budget_bytes(), 600);
        let within = Allowance::of(limit(512 << 20), 1 << 40);
        assert_eq!(within.budget_bytes(), (512 << 20) / 100 * 80);
        assert_eq!(within.to_string(), "80% of the limit of 512 MiB in f");
        assert_eq!(Allowance::Machine(0).budget_bytes(), 1);
    }

    #[test]
    fn this_machine_has_some() {
        let limits = LimitFiles::find(Path::new("/"));
        assert!(Allowance::now(&limits).budget_bytes() > 1 << 20);
    }
}
