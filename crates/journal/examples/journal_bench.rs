//! Measures the journal: cost of an append, group commit under waiting producers, speed of a
//! replay.
//!
//! `cargo run --release -p basalt-journal --example journal_bench [directory]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use basalt_env::{Disk, Env, RealDisk};
use basalt_journal::{FsyncPolicy, Journal, Options, ReplayError, Seq, StreamId};
use rustix::time::{ClockId, clock_gettime};

const RECORD: [u8; 100] = [b'r'; 100];
const APPENDS: u64 = 4_000_000;
const BURST: u64 = 1_000;
/// How many bursts may gather before the writer must have caught up.
const BURSTS_AHEAD: u64 = 8;
const PRODUCERS: u64 = 256;
const SECONDS: Duration = Duration::from_secs(3);

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let dir = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = dir.join(format!("journal-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let result = measure(&dir);
    std::fs::remove_dir_all(&dir)?;
    result
}

fn measure(dir: &Path) -> Outcome {
    for threads in [1, 2] {
        appends(&dir.join(format!("append-{threads}")), threads)?;
    }
    plain_syncs(dir)?;
    group_commit(&dir.join("always"))?;
    Ok(())
}

fn open(dir: &Path, policy: FsyncPolicy) -> Result<Journal, Box<dyn Error>> {
    let mut ignore = |_: StreamId, _: Seq, _: &[u8]| -> Result<(), ReplayError> { Ok(()) };
    let options = Options { policy, buffered_bytes_max: 256 << 20, ..Options::default() };
    Ok(Journal::open(&Env::system(), Arc::new(RealDisk), dir, options, &mut ignore)?)
}

/// CPU time of the calling thread: on a busy machine wall time measures the neighbours.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Appends in bursts, as event-loop turns do; between bursts the writer catches up. Then replays.
fn appends(dir: &Path, threads: u64) -> Outcome {
    let journal = open(dir, FsyncPolicy::Never)?;
    let mut bursts: Vec<Duration> = std::thread::scope(|scope| {
        let run = |thread: u64| {
            let journal = &journal;
            scope.spawn(move || burst_appends(journal, thread, APPENDS / threads))
        };
        let handles: Vec<_> = (0..threads).map(run).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).flatten().collect()
    });
    bursts.sort_unstable();
    let at = |percent: usize| {
        let burst = bursts.get(bursts.len() * percent / 100);
        burst.map_or(0.0, |burst| burst.as_nanos() as f64 / BURST as f64)
    };
    println!(
        "append, {threads} thread(s): CPU p10 {:.1}, p50 {:.1}, p90 {:.1} ns each ({} groups)",
        at(10),
        at(50),
        at(90),
        journal.stats().groups
    );
    journal.close()?;
    let (mut records, mut bytes) = (0u64, 0u64);
    let mut count = |_: StreamId, _: Seq, record: &[u8]| -> Result<(), ReplayError> {
        records += 1;
        bytes += record.len() as u64;
        Ok(())
    };
    let start = cpu_time();
    let journal =
        Journal::open(&Env::system(), Arc::new(RealDisk), dir, Options::default(), &mut count)?;
    let seconds = (cpu_time() - start).as_secs_f64();
    let log_bytes = journal.bytes_since_trim();
    println!(
        "open and replay: {records} records, {log_bytes} bytes in {:.0} ms of CPU: {:.2} GB/s",
        seconds * 1e3,
        log_bytes as f64 / seconds / 1e9
    );
    Ok(())
}

fn burst_appends(journal: &Journal, thread: u64, count: u64) -> Vec<Duration> {
    let mut bursts = Vec::new();
    for burst in 0..count / BURST {
        let start = cpu_time();
        let mut last = journal.durable();
        for index in 0..BURST {
            let stream = (burst * 7 + index * 2 + thread) % 64;
            last = journal.append(StreamId(stream as u16), &[&RECORD[..20], &RECORD[20..]]).1;
        }
        bursts.push(cpu_time() - start);
        while burst % BURSTS_AHEAD == 0 && journal.written() < last {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    bursts
}

/// What the disk can do for one writer that syncs every page by itself.
fn plain_syncs(dir: &Path) -> Outcome {
    let file = RealDisk.create(&dir.join("plain"), 64 << 20)?;
    let page = [7; 4096];
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < SECONDS {
        let begun = Instant::now();
        let offset = times.len() as u64 * 4096 % (64 << 20);
        file.write_all_at(&[IoSlice::new(&page)], offset)?;
        file.sync_data()?;
        times.push(begun.elapsed());
    }
    report("plain write + fdatasync", 1, start.elapsed(), &mut times);
    Ok(())
}

/// Two event loops of 128 clients each: every client appends, and again when its group is durable.
fn group_commit(dir: &Path) -> Outcome {
    let journal = open(dir, FsyncPolicy::Always)?;
    let start = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let run = |_| scope.spawn(|| event_loop(&journal, PRODUCERS / 2));
        let loops: Vec<_> = (0..2).map(run).collect();
        loops.into_iter().filter_map(|handle| handle.join().ok()).flatten().collect()
    });
    let elapsed = start.elapsed();
    report("group commit, 256 producers", PRODUCERS / 2, elapsed, &mut times);
    let stats = journal.stats();
    println!(
        "  {:.0} groups/s, fsync max {} us, half of them within {:.0} us",
        stats.groups as f64 / elapsed.as_secs_f64(),
        stats.fsync_us_max,
        stats.fsync_durations.quantile(0.5).unwrap_or(0.0) * 1e6
    );
    journal.close()?;
    Ok(())
}

fn event_loop(journal: &Journal, clients: u64) -> Vec<Duration> {
    let mut times = Vec::new();
    let (sender, news) = std::sync::mpsc::channel();
    journal.subscribe(Arc::new(move || sender.send(()).unwrap_or_default()));
    let start = Instant::now();
    while start.elapsed() < SECONDS {
        let begun = Instant::now();
        let mut last = journal.durable();
        for client in 0..clients {
            last = journal.append(StreamId((client % 64) as u16), &[&RECORD]).1;
        }
        journal.kick();
        while journal.durable() < last && news.recv_timeout(SECONDS).is_ok() {}
        times.push(begun.elapsed());
    }
    times
}

fn report(what: &str, writes_each: u64, elapsed: Duration, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).map_or(0, |t| t.as_micros());
    println!(
        "{what}: {:.0} writes/s, latency p50 {} us, p99 {} us",
        (times.len() as u64 * writes_each) as f64 / elapsed.as_secs_f64(),
        at(50),
        at(99)
    );
}
