//! Measures what a checkpoint, an opening and a probe cost.
//!
//! `cargo run --release -p basalt-cold-rocks --example measure -- ROWS KEY_SPACE CHECKPOINTS`
//! writes CHECKPOINTS checkpoints of ROWS sorted 16-byte keys with 64-byte values, drawn from
//! KEY_SPACE keys, merges until nothing is left to merge, opens again, and probes.

use std::{env, error::Error, path::PathBuf, time::Instant};

use basalt_cold::{ColdTier, Probe};
use basalt_cold_rocks::{RocksOptions, RocksTier};
use rustix::time::{ClockId, clock_gettime};

const PROBES: u64 = 1_000_000;

struct Load {
    dir: PathBuf,
    rows: u64,
    key_space: u64,
    checkpoints: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let mut number = |default| args.next().map_or(Ok(default), |text| text.parse::<u64>());
    let load = Load {
        rows: number(1_000_000)?,
        key_space: number(10_000_000)?,
        checkpoints: number(10)?,
        dir: env::temp_dir().join(format!("basalt-cold-measure-{}", std::process::id())),
    };
    std::fs::create_dir(&load.dir)?;
    let measured = write(&load).and_then(|()| probe(&load));
    std::fs::remove_dir_all(&load.dir)?;
    measured
}

#[allow(clippy::print_stdout)]
fn write(load: &Load) -> Result<(), Box<dyn Error>> {
    let tier = RocksTier::open(&load.dir, &RocksOptions::default())?;
    let (mut state, mut rows) = (1u64, 0u64);
    let mut generating_ns = 0;
    let (started, cpu_started) = (Instant::now(), cpu_ns());
    let mut commit_us_max = 0;
    for _ in 0..load.checkpoints {
        let generating = cpu_ns();
        let mut numbers: Vec<u64> =
            (0..load.rows).map(|_| random(&mut state) % load.key_space).collect();
        numbers.sort_unstable();
        numbers.dedup();
        generating_ns += cpu_ns() - generating;
        let mut writer = tier.checkpoint_writer()?;
        for number in &numbers {
            writer.put(&key(*number), &value(&mut state))?;
        }
        let prepared = writer.prepare()?;
        let committing = Instant::now();
        prepared.commit()?;
        commit_us_max = commit_us_max.max(committing.elapsed().as_micros());
        rows += numbers.len() as u64;
    }
    let written_ns = cpu_ns() - cpu_started - generating_ns;
    tier.wait_for_background_work()?;
    let all_ns = cpu_ns() - cpu_started - generating_ns;
    let per_row = |ns: u64| ns as f64 / 1000.0 / rows as f64;
    println!(
        "{rows} rows in {:.1} s; CPU us per row: {:.3} until the last commit, {:.3} with all \
         merging; slowest commit {commit_us_max} us",
        started.elapsed().as_secs_f64(),
        per_row(written_ns),
        per_row(all_ns),
    );
    println!("{:?}", tier.stats());
    Ok(())
}

#[allow(clippy::print_stdout)]
fn probe(load: &Load) -> Result<(), Box<dyn Error>> {
    let opening = Instant::now();
    let options = RocksOptions { cache_bytes: 4 << 30, ..RocksOptions::default() };
    let tier = RocksTier::open(&load.dir, &options)?;
    println!("opened in {:.1} ms", opening.elapsed().as_secs_f64() * 1000.0);
    let mut state = 7;
    time_probes("absent", &tier, || {
        let mut key = key(random(&mut state) % load.key_space);
        key[15] = 1; // Every key written ends in 0.
        key
    });
    let mut state = 7;
    time_probes("drawn, nothing cached", &tier, || key(random(&mut state) % load.key_space));
    tier.scan(b"", &[0xff; 16], &mut |_, _| std::ops::ControlFlow::Continue(()))?;
    let mut state = 7;
    let keys: Vec<Vec<u8>> =
        (0..PROBES).map(|_| key(random(&mut state) % load.key_space).to_vec()).collect();
    let reading = clock_ns(ClockId::ThreadCPUTime);
    for batch in keys.chunks(16) {
        tier.read_many(batch)?;
    }
    let us = (clock_ns(ClockId::ThreadCPUTime) - reading) as f64 / 1000.0 / PROBES as f64;
    println!("read_many of 16: {us:.2} CPU us a key");
    let mut state = 7;
    time_probes("drawn, cached", &tier, || key(random(&mut state) % load.key_space));
    Ok(())
}

#[allow(clippy::print_stdout)]
fn time_probes(what: &str, tier: &RocksTier, mut next: impl FnMut() -> [u8; 16]) {
    let (mut absent, mut present, mut unknown) = (0u64, 0u64, 0u64);
    // This thread's CPU time: other load on the machine does not count.
    let started = clock_ns(ClockId::ThreadCPUTime);
    for _ in 0..PROBES {
        match tier.probe(&next()) {
            Probe::Absent => absent += 1,
            Probe::Present(_) => present += 1,
            Probe::Unknown => unknown += 1,
        }
    }
    let ns = (clock_ns(ClockId::ThreadCPUTime) - started) / PROBES;
    println!("probe, {what}: {ns} CPU ns; absent {absent}, present {present}, unknown {unknown}");
}

/// A partition, a tag, a generation, a user key: like the engine's, with the numbers in order.
fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..2].copy_from_slice(&((number >> 14) as u16).to_be_bytes());
    key[2] = 1;
    key[7..15].copy_from_slice(&number.to_be_bytes());
    key
}

/// Half noise, half zeros, so that it compresses like text.
fn value(state: &mut u64) -> [u8; 64] {
    let mut value = [0; 64];
    for chunk in value[..32].chunks_mut(8) {
        chunk.copy_from_slice(&random(state).to_le_bytes());
    }
    value
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 29)
}

/// CPU time of the whole process, merging threads included.
fn cpu_ns() -> u64 {
    clock_ns(ClockId::ProcessCPUTime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
