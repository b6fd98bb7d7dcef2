//! Conducts a run: opens the connections, starts the workers, watches the clock, sums up.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::error::BenchError;
use crate::keys::KeyDraw;
use crate::pace::Pace;
use crate::plan::{Load, Plan};
use crate::random::Random;
use crate::shared::Shared;
use crate::stats::{Stats, latency_histogram};
use crate::target::Socket;
use crate::template::Draws;
use crate::worker::Worker;

/// How often an observer is called.
const TICK: Duration = Duration::from_millis(100);

/// Sees a run from outside. All calls come from the thread that called [`run`].
pub(crate) trait Observer {
    /// The warm-up is over (or there was none).
    fn measuring(&mut self) {}
    /// Called several times a second; may call [`Shared::stop`].
    fn tick(&mut self, _shared: &Shared) {}
    /// The last reply has come.
    fn finished(&mut self) {}
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) stats: Stats,
    /// From the start of measuring to the last reply.
    pub(crate) elapsed: Duration,
}

impl Outcome {
    pub(crate) fn requests_per_second(&self) -> f64 {
        self.stats.completed as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// All commands of the workload together.
    pub(crate) fn latencies(&self) -> Histogram<u64> {
        let mut all = latency_histogram();
        for histogram in &self.stats.latencies {
            all.add(histogram).expect("all latency histograms have the same bounds");
        }
        all
    }

    /// What a request cost this side, in microseconds of CPU.
    pub(crate) fn client_cpu_us_per_request(&self) -> f64 {
        self.stats.client_cpu_ns as f64 / 1e3 / self.stats.completed.max(1) as f64
    }
}

/// Runs `plan` to its end.
pub(crate) fn run(plan: &Plan, observer: &mut dyn Observer) -> Result<Outcome, BenchError> {
    check(plan)?;
    let mut shares: Vec<Vec<Socket>> = (0..plan.threads).map(|_| Vec::new()).collect();
    for number in 0..plan.connections {
        shares[number % plan.threads].push(plan.target.connect_for_load()?);
    }
    let keys = KeyDraw::new(plan.distribution, plan.vocabulary.keyspace);
    let shared = Shared::new(plan);
    let (done, waiting) = mpsc::channel();
    let results = thread::scope(|scope| {
        let workers: Vec<_> = shares
            .into_iter()
            .enumerate()
            .map(|(index, sockets)| {
                let (shared, keys, done) = (&shared, keys.clone(), done.clone());
                scope.spawn(move || {
                    // What is sent at a pace is timed from when it was due: the wait of this side
                    // for a cpu is none of the server's.
                    if matches!(plan.load, Load::Open { .. }) {
                        basalt_env::thread::run_at_once();
                    }
                    let result = work(plan, shared, index, sockets, keys);
                    if result.is_err() {
                        shared.stop();
                    }
                    // The coordinator counts workers; it outlives them, so this cannot fail.
                    let _ = done.send(());
                    result
                })
            })
            .collect();
        conduct(&shared, &waiting, workers.len(), observer);
        let join = |worker: thread::ScopedJoinHandle<'_, _>| worker.join();
        workers.into_iter().map(join).collect::<Vec<_>>()
    });
    let mut total = Stats::new(plan.workload.kinds.len());
    for result in results {
        total.merge(&result.expect("a worker reports errors and does not panic")?);
    }
    let elapsed_ns = total.last_reply_ns.saturating_sub(shared.measure_from_ns);
    Ok(Outcome { stats: total, elapsed: Duration::from_nanos(elapsed_ns) })
}

fn check(plan: &Plan) -> Result<(), BenchError> {
    plan.vocabulary.check()?;
    let usage = |text: &str| Err(BenchError::Usage(text.into()));
    if plan.threads == 0 || plan.connections < plan.threads {
        return usage("at least one connection is needed for each thread");
    }
    if plan.pipeline == 0 {
        return usage("the pipeline depth must be at least 1");
    }
    match plan.load {
        Load::Open { requests_per_second, .. }
            if requests_per_second.is_nan() || requests_per_second <= 0.0 =>
        {
            usage("the rate must be above 0")
        }
        _ => Ok(()),
    }
}

fn work(
    plan: &Plan,
    shared: &Shared,
    index: usize,
    sockets: Vec<Socket>,
    keys: KeyDraw,
) -> Result<Stats, BenchError> {
    let pace = match plan.load {
        Load::Closed(_) => None,
        Load::Open { requests_per_second, .. } => {
            // Each thread has its share of the rate, and the threads take turns.
            let share = sockets.len() as f64 / plan.connections as f64;
            let offset_ns = 1e9 / requests_per_second * index as f64;
            Some(Pace::new(offset_ns, requests_per_second * share))
        }
    };
    let draws = Draws::new(&plan.vocabulary, keys, Random::new(plan.seed, index as u64));
    Worker::new(plan, shared, index, sockets, draws)?.run(pace)
}

/// Calls the observer until all workers have reported.
fn conduct(
    shared: &Shared,
    waiting: &mpsc::Receiver<()>,
    workers: usize,
    observer: &mut dyn Observer,
) {
    let mut measuring = false;
    let mut finished = 0;
    while finished < workers {
        let now_ns = shared.now_ns();
        if !measuring && now_ns >= shared.measure_from_ns {
            measuring = true;
            observer.measuring();
        }
        let mut wait = TICK;
        if !measuring {
            wait = wait.min(Duration::from_nanos(shared.measure_from_ns - now_ns));
        }
        match waiting.recv_timeout(wait) {
            Ok(()) => finished += 1,
            Err(RecvTimeoutError::Timeout) => observer.tick(shared),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    observer.finished();
}

#[cfg(test)]
mod tests;
