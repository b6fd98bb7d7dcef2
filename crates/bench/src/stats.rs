//! HOT PATH (`record`). What a worker has measured.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::scan::Tally;

/// Latencies are kept from 64 ns to ten minutes with three significant digits; longer ones count
/// as ten minutes.
const LATENCY_NS_MIN: u64 = 64;
const LATENCY_NS_MAX: u64 = 600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of nanoseconds with the bounds that all of them share.
pub(crate) fn latency_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(LATENCY_NS_MIN, LATENCY_NS_MAX, SIGNIFICANT_DIGITS)
        .expect("the constants are valid bounds")
}

/// The measurements of one worker, or of all of them after [`Stats::merge`].
#[derive(Debug)]
pub(crate) struct Stats {
    /// One histogram for each command of the workload.
    pub(crate) latencies: Vec<Histogram<u64>>,
    pub(crate) completed: u64,
    /// Requests that were due but not answered when the run had to end.
    pub(crate) unfinished: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) tally: Tally,
    /// Sum, and maximum since it was last shown, for the progress line.
    pub(crate) latency_ns_sum: u64,
    pub(crate) latency_ns_max: u64,
    /// When the last reply came, in nanoseconds of the run's clock.
    pub(crate) last_reply_ns: u64,
    /// CPU time of the worker's thread while it measured.
    pub(crate) client_cpu_ns: u64,
}

impl Stats {
    pub(crate) fn new(kinds: usize) -> Self {
        Self {
            latencies: (0..kinds).map(|_| latency_histogram()).collect(),
            completed: 0,
            unfinished: 0,
            bytes_sent: 0,
            bytes_received: 0,
            tally: Tally::default(),
            latency_ns_sum: 0,
            latency_ns_max: 0,
            last_reply_ns: 0,
            client_cpu_ns: 0,
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, kind: usize, latency_ns: u64, count: u64) {
        self.latencies[kind].saturating_record_n(latency_ns, count);
        self.completed += count;
        self.latency_ns_sum += latency_ns * count;
        self.latency_ns_max = self.latency_ns_max.max(latency_ns);
    }

    /// Counts requests that got no reply; their age so far goes into the distribution.
    pub(crate) fn abandon(&mut self, kind: usize, age_ns: u64, count: u64) {
        self.latencies[kind].saturating_record_n(age_ns, count);
        self.unfinished += count;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (into, from) in self.latencies.iter_mut().zip(&other.latencies) {
            into.add(from).expect("all latency histograms have the same bounds");
        }
        self.completed += other.completed;
        self.unfinished += other.unfinished;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.tally.replies += other.tally.replies;
        self.tally.errors += other.tally.errors;
        self.tally.nulls += other.tally.nulls;
        if self.tally.first_error.is_none() {
            self.tally.first_error.clone_from(&other.tally.first_error);
        }
        self.last_reply_ns = self.last_reply_ns.max(other.last_reply_ns);
        self.client_cpu_ns += other.client_cpu_ns;
    }
}

/// A latency distribution in microseconds, as reports show it.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Latency {
    pub(crate) mean_us: f64,
    pub(crate) min_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) p9999_us: f64,
    pub(crate) max_us: f64,
}

impl Latency {
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |quantile| us(histogram.value_at_quantile(quantile));
        Self {
            mean_us: histogram.mean() / 1e3,
            min_us: us(histogram.min()),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            p9999_us: at(0.9999),
            max_us: us(histogram.max()),
        }
    }
}
