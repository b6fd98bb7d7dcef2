//! The line that tells how a run is getting on.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::process::CpuTime;
use crate::run::Observer;
use crate::shared::Shared;

const INTERVAL: Duration = Duration::from_secs(1);

/// Whether, and how, progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    /// One line that is overwritten.
    Terminal,
    /// A new line each time.
    Lines,
    Hidden,
}

impl Display {
    /// On a terminal always; elsewhere if it is asked for.
    pub(crate) fn choose(asked_for: bool) -> Self {
        match (io::stderr().is_terminal(), asked_for) {
            (true, _) => Self::Terminal,
            (false, true) => Self::Lines,
            (false, false) => Self::Hidden,
        }
    }
}

/// Shows a run once a second and measures the server's CPU time over it.
#[derive(Debug)]
pub(crate) struct Watch {
    name: String,
    display: Display,
    server_pid: Option<u32>,
    server_cpu_before: CpuTime,
    /// What the server used while the run was measured.
    pub(crate) server_cpu: Option<CpuTime>,
    shown_at: Instant,
    shown: Shown,
}

/// Totals as of the last line.
#[derive(Debug, Default, Clone, Copy)]
struct Shown {
    completed: u64,
    latency_ns_sum: u64,
}

impl Watch {
    pub(crate) fn new(name: &str, display: Display, server_pid: Option<u32>) -> Self {
        Self {
            name: name.to_owned(),
            display,
            server_pid,
            server_cpu_before: CpuTime::default(),
            server_cpu: None,
            shown_at: Instant::now(),
            shown: Shown::default(),
        }
    }

    fn line(&mut self, shared: &Shared) -> String {
        let (mut now, mut errors, mut latency_ns_max) = (Shown::default(), 0, 0);
        for meter in &shared.meters {
            now.completed += meter.completed.load(Ordering::Relaxed);
            now.latency_ns_sum += meter.latency_ns_sum.load(Ordering::Relaxed);
            errors += meter.errors.load(Ordering::Relaxed);
            latency_ns_max = latency_ns_max.max(meter.latency_ns_max.swap(0, Ordering::Relaxed));
        }
        // The totals start again when the warm-up ends.
        let completed = now.completed.saturating_sub(self.shown.completed);
        let latency_ns = now.latency_ns_sum.saturating_sub(self.shown.latency_ns_sum);
        let seconds = self.shown_at.elapsed().as_secs_f64();
        self.shown = now;
        format!(
            "{}: {:3.0}% {} requests, {:.0}/s, mean {:.3} ms, max {:.3} ms, {} errors",
            self.name,
            shared.fraction_done(now.completed) * 100.0,
            now.completed,
            completed as f64 / seconds,
            latency_ns as f64 / 1e6 / completed.max(1) as f64,
            latency_ns_max as f64 / 1e6,
            errors
        )
    }
}

impl Observer for Watch {
    fn measuring(&mut self) {
        if let Some(pid) = self.server_pid {
            self.server_cpu_before = CpuTime::of(pid);
        }
        self.shown = Shown::default();
        self.shown_at = Instant::now();
    }

    fn tick(&mut self, shared: &Shared) {
        if self.display == Display::Hidden || self.shown_at.elapsed() < INTERVAL {
            return;
        }
        let line = self.line(shared);
        self.shown_at = Instant::now();
        let mut stderr = io::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let _ = match self.display {
            Display::Terminal => write!(stderr, "\r\x1b[K{line}"),
            _ => writeln!(stderr, "{line}"),
        };
        let _ = stderr.flush();
    }

    fn finished(&mut self) {
        self.server_cpu = self.server_pid.map(|pid| CpuTime::of(pid).since(self.server_cpu_before));
        if self.display == Display::Terminal {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
