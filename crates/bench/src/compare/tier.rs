//! `compare tier`: data that is larger than memory. Basalt alone, but for `cache-mode`; what is
//! measured is said beside each figure, and whether it is within its bound.

mod batch;
mod beside;
mod blind_set;
mod budget;
mod cache_mode;
mod cold_get;
mod expiry;
mod filled;
mod flush;
mod hot;
mod isolation;
mod known;
mod measured;
mod overwrite;
mod probe;
mod restart;
mod scan;
mod seconds;
mod space;
mod syncs;
mod zipf;

use std::time::Duration;

use crate::compare::Arena;
use crate::compare::cli::TierArgs;
use crate::compare::figures::{self, Figures};
use crate::compare::memory_group::MemoryGroup;
use crate::compare::server::Contender;
use crate::error::BenchError;

/// Resident memory at most, as a share of `maxmemory`.
const RESIDENT_SHARE_MAX: f64 = 1.15;

/// One thing that can be measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check {
    pub(super) name: &'static str,
    run: fn(&Arena<'_>, &Amount, &mut Figures<'_, '_>) -> Result<(), BenchError>,
}

/// What can be measured, in this order.
pub(super) const CHECKS: [Check; 13] = [
    Check { name: "budget", run: budget::run },
    Check { name: "cold-get", run: cold_get::run },
    Check { name: "zipf", run: zipf::run },
    Check { name: "isolation", run: isolation::run },
    Check { name: "batch", run: batch::run },
    Check { name: "hot", run: hot::run },
    Check { name: "blind-set", run: blind_set::run },
    Check { name: "overwrite", run: overwrite::run },
    Check { name: "restart", run: restart::run },
    Check { name: "flush", run: flush::run },
    Check { name: "scan", run: scan::run },
    Check { name: "cache-mode", run: cache_mode::run },
    Check { name: "expiry", run: expiry::run },
];

/// How much of it.
#[derive(Debug, Clone)]
pub(super) struct Amount {
    /// Gigabytes (10^9) of keys and values, with a tenth of that as `maxmemory`.
    pub(super) gb: f64,
    /// Bytes of the values of `cold-get`, `blind-set` and `flush`.
    pub(super) value_bytes: Vec<usize>,
    /// Connections of its clients.
    pub(super) connections: Vec<usize>,
    /// How long a load is measured.
    pub(super) duration: Duration,
    /// How long keys are overwritten by `overwrite`.
    pub(super) overwritten: Duration,
    /// How long it waits after that.
    pub(super) rest: Option<Duration>,
    /// Keys of `cache-mode` and `expiry`; each has a number of its own if none is given.
    pub(super) keys: Option<u64>,
    /// Policies of `cache-mode`; all of them if none is given.
    pub(super) policies: Vec<String>,
    /// Each server with a budget has a control group that lends it little more.
    pub(super) has_groups: bool,
}

impl Amount {
    pub(super) fn of(args: &TierArgs) -> Amount {
        Amount {
            gb: args.gb,
            value_bytes: args.value_bytes.clone(),
            connections: args.connections.clone(),
            duration: args.seconds,
            overwritten: args.minutes,
            rest: args.rest_minutes,
            keys: args.keys,
            policies: args.policies.clone(),
            has_groups: false,
        }
    }
}

pub(super) fn run(arena: &Arena<'_>, checks: &[Check], amount: &Amount) -> Result<(), BenchError> {
    let servers = arena.introduce()?;
    // One that goes at once, to see whether there can be any.
    let group = MemoryGroup::new(1 << 30).map(drop);
    let amount = &Amount { has_groups: group.is_ok(), ..amount.clone() };
    arena.print(&match group {
        Ok(()) => "memory: a control group of maxmemory and 15%, cached pages included\n\n".into(),
        Err(error) => format!("memory: not in a control group, for {error}\n\n"),
    })?;
    let mut figures = Figures::new(arena);
    for round in 0..arena.common.runs {
        for check in checks {
            (figures.round, figures.check) = (round, check.name);
            (check.run)(arena, amount, &mut figures)?;
        }
    }
    figures.finish(servers)
}

/// The first side with a memory budget in bytes, 0 for none, and with more options.
fn with_budget(
    arena: &Arena<'_>,
    amount: &Amount,
    maxmemory_bytes: u64,
    options: &[&str],
) -> Contender {
    let mut contender = arena.contenders[0].clone();
    let maxmemory = maxmemory_bytes.to_string();
    contender.extra.extend(["--maxmemory", &maxmemory, "--http-port", "0"].map(str::to_owned));
    contender.memory_max = (amount.has_groups && maxmemory_bytes > 0)
        .then_some((maxmemory_bytes as f64 * RESIDENT_SHARE_MAX) as u64);
    contender.extra.extend(options.iter().map(|&option| option.to_owned()));
    contender
}
