//! Clients that connect by TLS, shake hands and go, at a pace: the load of `compare handshakes`.
//!
//! Each of a few threads makes one handshake at a time, by a timetable of its own. A thread that is
//! late begins the next one at once, so a server that is slow for a moment gets what it has missed,
//! from as many clients at a time as there are threads. Every handshake is a full one: no session
//! is resumed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::compare::made::Made;
use crate::error::BenchError;
use crate::target::Target;
use crate::tls;

const THREADS: u32 = 16;
/// How much nicer these clients are than those that are measured: they stand for other machines.
const NICE: i32 = 10;

/// What one thread has done.
#[derive(Debug, Default)]
struct Done {
    handshakes: u64,
    failed: u64,
    first_error: Option<String>,
}

/// Does some work while clients shake hands with a server that speaks TLS.
pub(super) fn beside<R>(
    target: &Target,
    per_second: f64,
    work: impl FnOnce() -> Result<R, BenchError>,
) -> Result<(R, Made), BenchError> {
    let client = target.tls.as_ref().map(tls::without_sessions);
    let client = client.ok_or_else(|| BenchError::Usage("the server speaks no TLS".into()))?;
    let target = Target { tls: Some(client), ..target.clone() };
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let interval = Duration::from_secs_f64(f64::from(THREADS) / per_second);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let first = begun + interval * number / THREADS;
                let (target, is_over) = (&target, &is_over);
                scope.spawn(move || shake(target, (first, interval), is_over))
            })
            .collect();
        let result = work();
        // A flag on its own.
        is_over.store(true, Ordering::Relaxed);
        let mut all = Done::default();
        for thread in threads {
            let done = thread.join().expect("errors are counted and do not panic");
            all.handshakes += done.handshakes;
            all.failed += done.failed;
            all.first_error = all.first_error.or(done.first_error);
        }
        let Done { handshakes, failed, first_error } = all;
        let per_second = handshakes as f64 / begun.elapsed().as_secs_f64();
        Ok((result?, Made { per_second, failed, first_error }))
    })
}

/// Shakes hands by a timetable until told to stop.
fn shake(target: &Target, (first, interval): (Instant, Duration), is_over: &AtomicBool) -> Done {
    // A machine that does not permit it has clients that are less nice.
    let _ = rustix::process::nice(NICE);
    let (mut done, mut due) = (Done::default(), first);
    loop {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if is_over.load(Ordering::Relaxed) {
            return done;
        }
        match target.connect() {
            Ok(_) => done.handshakes += 1,
            Err(error) => {
                done.failed += 1;
                done.first_error.get_or_insert_with(|| error.to_string());
            }
        }
        due += interval;
    }
}
