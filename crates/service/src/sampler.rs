//! What INFO and metrics tell that has to be watched: commands and bytes a second, and figures that
//! may take milliseconds to gather: the cold tier's, and the census of all keys.

use basalt_cold::ColdStats;
use basalt_engine::{Census, QueueCensus};
use basalt_env::Clock;
use basalt_stdx::lock_rank::RankedMutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Samples that a rate is the average of: 1.6 seconds at ten a second, as in Redis.
const SAMPLES: usize = 16;
/// Between two looks at the cold tier.
const COLD_STATS_EVERY_NS: u64 = 1_000_000_000;
/// How many times as long as counting what is in queues takes it rests afterwards.
const QUEUES_PAUSE: u64 = 100;

/// See the top of the file.
#[derive(Debug, Default)]
pub struct Sampler {
    state: RankedMutex<State>,
}

/// Counts since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Commands processed.
    pub commands: u64,
    /// Bytes read from clients.
    pub bytes_in: u64,
    /// Bytes written to clients.
    pub bytes_out: u64,
}

/// Counts a second.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rates {
    /// Commands processed.
    pub commands: f64,
    /// Bytes read from clients.
    pub bytes_in: f64,
    /// Bytes written to clients.
    pub bytes_out: f64,
}

#[derive(Debug, Default)]
struct State {
    /// Moments and totals, the oldest first.
    samples: VecDeque<(u64, Totals)>,
    cold: ColdStats,
    cold_at_ns: Option<u64>,
    calls: u64,
    /// Keys and memory, as they were last counted.
    census: Option<Arc<Census>>,
    /// What is in queues, as it was last counted, and when it may be counted again.
    queues: Option<Arc<QueueCensus>>,
    queues_from_ns: u64,
}

impl Sampler {
    /// Whether this sample is one of every ten.
    pub fn is_second(&self) -> bool {
        let mut state = self.state.lock();
        state.calls += 1;
        state.calls % 10 == 1
    }

    /// Notes the totals of this moment; asks for the cold tier's figures if the last are old.
    pub fn sample(&self, now_ns: u64, totals: Totals, cold: impl FnOnce() -> ColdStats) {
        let cold_at_ns = self.state.lock().cold_at_ns;
        if cold_at_ns.is_none_or(|at_ns| now_ns.saturating_sub(at_ns) >= COLD_STATS_EVERY_NS) {
            let cold = cold();
            let mut state = self.state.lock();
            state.cold = cold;
            state.cold_at_ns = Some(now_ns);
        }
        let samples = &mut self.state.lock().samples;
        if samples.len() > SAMPLES {
            samples.pop_front();
        }
        samples.push_back((now_ns, totals));
    }

    /// Keys and memory were counted.
    pub fn note_census(&self, census: Census) {
        self.state.lock().census = Some(Arc::new(census));
    }

    /// Keys and memory as they were last counted: about a second ago, or before a script began that
    /// takes long. `None` if they never were.
    pub fn census(&self) -> Option<Arc<Census>> {
        self.state.lock().census.clone()
    }

    /// Counts what is in queues by `count`, if that may be done again: so seldom that it takes no
    /// more than a hundredth of the thread's time, however many queues there are.
    pub fn count_queues(&self, clock: &dyn Clock, count: impl FnOnce() -> Option<QueueCensus>) {
        let start_ns = clock.monotonic_ns();
        if self.state.lock().queues_from_ns > start_ns {
            return;
        }
        let census = count();
        let end_ns = clock.monotonic_ns();
        let mut state = self.state.lock();
        state.queues_from_ns = end_ns + QUEUES_PAUSE * end_ns.saturating_sub(start_ns);
        if let Some(census) = census {
            state.queues = Some(Arc::new(census));
        }
    }

    /// What is in queues, as it was last counted; `None` if it never was.
    pub fn queues(&self) -> Option<Arc<QueueCensus>> {
        self.state.lock().queues.clone()
    }

    /// Counts a second over the latest samples.
    pub fn rates(&self) -> Rates {
        let state = self.state.lock();
        let (Some((from_ns, from)), Some((to_ns, to))) =
            (state.samples.front(), state.samples.back())
        else {
            return Rates::default();
        };
        let seconds = to_ns.saturating_sub(*from_ns) as f64 / 1e9;
        if seconds == 0.0 {
            return Rates::default();
        }
        let rate = |from: u64, to: u64| to.saturating_sub(from) as f64 / seconds;
        Rates {
            commands: rate(from.commands, to.commands),
            bytes_in: rate(from.bytes_in, to.bytes_in),
            bytes_out: rate(from.bytes_out, to.bytes_out),
        }
    }

    /// The cold tier's figures, at most about a second old.
    pub fn cold_stats(&self) -> ColdStats {
        self.state.lock().cold.clone()
    }

    /// Forgets the rates: the totals begin again.
    pub fn reset_rates(&self) {
        self.state.lock().samples.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_averages_over_the_latest_samples() {
        let sampler = Sampler::default();
        assert_eq!(sampler.rates(), Rates::default());
        for tenth in 0..100 {
            // The first five seconds are idle.
            let busy = u64::saturating_sub(tenth, 50);
            let totals = Totals { commands: busy * 10, bytes_in: busy * 100, bytes_out: 0 };
            sampler.sample(tenth * 100_000_000, totals, ColdStats::default);
        }
        let rates = sampler.rates();
        assert!((rates.commands - 100.0).abs() < 1e-6, "{rates:?}");
        assert!((rates.bytes_in - 1000.0).abs() < 1e-6, "{rates:?}");
        sampler.reset_rates();
        assert_eq!(sampler.rates(), Rates::default());
    }

    #[test]
    fn the_cold_tier_is_asked_once_a_second() {
        let sampler = Sampler::default();
        let mut asked = 0;
        for tenth in 0..25 {
            sampler.sample(tenth * 100_000_000, Totals::default(), || {
                asked += 1;
                ColdStats { table_bytes: asked, ..ColdStats::default() }
            });
        }
        assert_eq!(asked, 3);
        assert_eq!(sampler.cold_stats().table_bytes, 3);
    }
}
