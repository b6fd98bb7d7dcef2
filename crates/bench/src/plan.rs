//! One run, fully decided: whom to load, with what, how hard and for how long.

use std::time::Duration;

use crate::error::BenchError;
use crate::keys::Distribution;
use crate::target::Target;
use crate::template::Vocabulary;
use crate::workload::Workload;

/// Everything that [`crate::run::run`] needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) target: Target,
    pub(crate) workload: Workload,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) distribution: Distribution,
    pub(crate) connections: usize,
    pub(crate) threads: usize,
    /// Closed loop: requests sent together, and then waited for. Open loop: requests that may be
    /// unanswered on one connection before further ones queue up in the client.
    pub(crate) pipeline: u32,
    pub(crate) load: Load,
    /// Load before measuring begins.
    pub(crate) warmup: Duration,
    pub(crate) seed: u64,
}

/// Unanswered requests on each connection while a keyspace is filled.
const FILL_PIPELINE: u32 = 64;

impl Plan {
    /// A plan of equal connections that sets every key of the keyspace once, in order, as fast as
    /// it goes, whatever this plan's workload does with them.
    pub(crate) fn into_fill(self) -> Result<Self, BenchError> {
        Ok(Self {
            workload: Workload::named("set", &self.vocabulary)?,
            distribution: Distribution::Sequential,
            pipeline: self.pipeline.max(FILL_PIPELINE),
            load: Load::Closed(Limit::Requests(self.vocabulary.keyspace)),
            warmup: Duration::ZERO,
            ..self
        })
    }
}

/// What sets the pace, and when the run ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Load {
    /// The server does: each connection sends its next batch when the last one is answered.
    Closed(Limit),
    /// The clock does. Latency counts from the moment at which a request was due, so that a stall
    /// is charged to every request that it kept waiting (no coordinated omission).
    Open { requests_per_second: f64, duration: Duration },
}

/// The end of a closed-loop run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    Requests(u64),
    Duration(Duration),
}
