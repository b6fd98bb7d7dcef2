//! The longest time that a server's busiest thread was ready to run and had no cpu.
//!
//! A pause that a client sees may be the server's doing or the machine's: another program had the
//! cpu. The kernel adds up per thread how long it waited (`schedstat`, updated when the wait ends),
//! so looking once a millisecond shows each wait as a step. What the server's other threads ran in
//! the meantime is the server's own doing; the rest is other programs'.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How often it looks for new threads.
const LIST_EVERY: Duration = Duration::from_millis(500);
/// Longer waits count as this long when it comes to what ran meanwhile.
const MEMORY: Duration = Duration::from_secs(1);

/// The longest wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct LongestWait {
    pub(crate) ms: f64,
    /// How much of it other threads of the server ran, all cpus together.
    pub(crate) behind_own_threads_ms: f64,
}

#[derive(Debug, Default)]
struct Thread {
    schedstat: Option<File>,
    ran_ns: u64,
    waited_ns: u64,
    longest: LongestWait,
}

/// Watches a process until told to stop.
pub(crate) fn watch(pid: u32, stop: &AtomicBool) -> LongestWait {
    let mut threads: HashMap<String, Thread> = HashMap::new();
    let mut history: VecDeque<(Instant, u64)> = VecDeque::new();
    let mut listed = None;
    // A flag on its own.
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        if listed.is_none_or(|listed| now - listed > LIST_EVERY) {
            list_threads(pid, &mut threads);
            listed = Some(now);
        }
        look(now, &mut threads, &mut history);
        thread::sleep(LOOK_EVERY);
    }
    let busiest = threads.into_values().max_by_key(|thread| thread.ran_ns);
    busiest.map(|thread| thread.longest).unwrap_or_default()
}

fn list_threads(pid: u32, threads: &mut HashMap<String, Thread>) {
    let Ok(folder) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    for thread in folder.flatten() {
        let id = thread.file_name().to_string_lossy().into_owned();
        threads.entry(id).or_insert_with(|| {
            let schedstat = File::open(thread.path().join("schedstat")).ok();
            let (ran_ns, waited_ns) = schedstat.as_ref().and_then(read).unwrap_or_default();
            Thread { schedstat, ran_ns, waited_ns, longest: LongestWait::default() }
        });
    }
}

fn look(
    now: Instant,
    threads: &mut HashMap<String, Thread>,
    history: &mut VecDeque<(Instant, u64)>,
) {
    let mut steps = Vec::new();
    for (id, thread) in &mut *threads {
        let Some((ran_ns, waited_ns)) = thread.schedstat.as_ref().and_then(read) else { continue };
        let step_ns = waited_ns.saturating_sub(thread.waited_ns);
        if step_ns as f64 / 1e6 > thread.longest.ms {
            steps.push((id.clone(), step_ns, ran_ns - thread.ran_ns));
        }
        (thread.ran_ns, thread.waited_ns) = (ran_ns, waited_ns);
    }
    let total_ns: u64 = threads.values().map(|thread| thread.ran_ns).sum();
    history.push_back((now, total_ns));
    while history.front().is_some_and(|(then, _)| now - *then > MEMORY) {
        history.pop_front();
    }
    for (id, step_ns, own_ns) in steps {
        // The wait began that long ago, or up to a look earlier.
        let since = Duration::from_nanos(step_ns) + LOOK_EVERY;
        let before = history.iter().rev().find(|(then, _)| now - *then >= since);
        let before_ns = before.or(history.front()).map_or(total_ns, |&(_, total_ns)| total_ns);
        let others_ns = (total_ns - before_ns).saturating_sub(own_ns).min(step_ns);
        if let Some(thread) = threads.get_mut(&id) {
            let ms = |ns: u64| ns as f64 / 1e6;
            thread.longest = LongestWait { ms: ms(step_ns), behind_own_threads_ms: ms(others_ns) };
        }
    }
}

/// Time on the cpu and time waiting for it.
fn read(schedstat: &File) -> Option<(u64, u64)> {
    let mut bytes = [0; 96];
    let count = schedstat.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(&bytes[..count]).ok()?;
    let mut fields = text.split_whitespace().map(|field| field.parse().ok());
    Some((fields.next()??, fields.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_found_and_their_times_grow() {
        let mut threads = HashMap::new();
        list_threads(std::process::id(), &mut threads);
        assert!(!threads.is_empty());
        let mut history = VecDeque::new();
        let ran = |threads: &HashMap<String, Thread>| -> u64 {
            threads.values().map(|thread| thread.ran_ns).sum()
        };
        let before_ns = ran(&threads);
        let mut sum = 0u64;
        while ran(&threads) < before_ns + 20_000_000 {
            sum = std::hint::black_box(sum.wrapping_mul(31) + 1);
            // The kernel may leave a thread out of a list while others end.
            list_threads(std::process::id(), &mut threads);
            look(Instant::now(), &mut threads, &mut history);
        }
        for thread in threads.values() {
            assert!(thread.longest.behind_own_threads_ms <= thread.longest.ms);
        }
    }
}
