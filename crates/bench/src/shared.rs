//! What the workers of a run and its coordinator share: the clock, the budget and the meters.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::plan::{Limit, Load, Plan};

/// A number that is never reached.
const NEVER: u64 = u64::MAX;

/// One run's common ground. Times are nanoseconds since its creation.
#[derive(Debug)]
pub(crate) struct Shared {
    epoch: Instant,
    /// Requests sent before this moment are warm-up and are not recorded.
    pub(crate) measure_from_ns: u64,
    /// Nothing is sent (or falls due) from this moment on. Relaxed: a worker that reads it late
    /// sends a little longer, nothing else depends on it.
    stop_at_ns: AtomicU64,
    requests_max: u64,
    /// Requests handed out, before and after `measure_from_ns`. Relaxed: only the sums matter.
    issued_warmup: AtomicU64,
    issued: AtomicU64,
    pub(crate) meters: Vec<Meter>,
}

/// What one worker shows of itself while it runs. Written by the worker, read by the progress line;
/// relaxed throughout, since the numbers are for the eye.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Meter {
    pub(crate) completed: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) latency_ns_sum: AtomicU64,
    pub(crate) latency_ns_max: AtomicU64,
}

/// A piece of the budget: requests `first..first + count` of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issue {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Shared {
    pub(crate) fn new(plan: &Plan) -> Self {
        let measure_from_ns = plan.warmup.as_nanos() as u64;
        let after = |duration: Duration| {
            let ns = u64::try_from(duration.as_nanos()).unwrap_or(NEVER);
            measure_from_ns.saturating_add(ns)
        };
        let (requests_max, stop_at_ns) = match plan.load {
            Load::Closed(Limit::Requests(requests)) => (requests, NEVER),
            Load::Closed(Limit::Duration(duration)) => (NEVER, after(duration)),
            Load::Open { duration, .. } => (NEVER, after(duration)),
        };
        Self {
            epoch: Instant::now(),
            measure_from_ns,
            stop_at_ns: AtomicU64::new(stop_at_ns),
            requests_max,
            issued_warmup: AtomicU64::new(0),
            issued: AtomicU64::new(0),
            meters: (0..plan.threads).map(|_| Meter::default()).collect(),
        }
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    pub(crate) fn stop_at_ns(&self) -> u64 {
        self.stop_at_ns.load(Ordering::Relaxed)
    }

    /// Ends the run now.
    pub(crate) fn stop(&self) {
        self.stop_at_ns.fetch_min(self.now_ns(), Ordering::Relaxed);
    }

    /// Takes up to `wanted` requests to be sent at `now_ns`; `None` when the run is over.
    #[inline]
    pub(crate) fn take(&self, now_ns: u64, wanted: u64) -> Option<Issue> {
        if now_ns >= self.stop_at_ns() {
            return None;
        }
        if now_ns < self.measure_from_ns {
            let first = self.issued_warmup.fetch_add(wanted, Ordering::Relaxed);
            return Some(Issue { first, count: wanted });
        }
        let first = self.issued.fetch_add(wanted, Ordering::Relaxed);
        let count = wanted.min(self.requests_max.saturating_sub(first));
        (count > 0).then_some(Issue { first, count })
    }

    /// Numbers one request of an open loop, which the timetable has already admitted.
    #[inline]
    pub(crate) fn take_due(&self, due_ns: u64) -> Issue {
        let counter =
            if due_ns < self.measure_from_ns { &self.issued_warmup } else { &self.issued };
        Issue { first: counter.fetch_add(1, Ordering::Relaxed), count: 1 }
    }

    /// The share of the run that is done, 0 to 1.
    pub(crate) fn fraction_done(&self, completed: u64) -> f64 {
        if self.requests_max != NEVER {
            return completed as f64 / self.requests_max as f64;
        }
        let span = self.stop_at_ns().saturating_sub(self.measure_from_ns).max(1);
        let done = self.now_ns().saturating_sub(self.measure_from_ns);
        (done as f64 / span as f64).min(1.0)
    }
}
