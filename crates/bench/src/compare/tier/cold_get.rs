//! GET of keys by chance, of ten times as many as memory holds: what reads a miss takes, beside
//! what the disk can do.

use std::time::Duration;

use super::{Amount, Figures, probe, save, with_budget};
use crate::compare::Arena;
use crate::compare::cell::vocabulary;
use crate::compare::server::Server;
use crate::disk;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::template::Vocabulary;
use crate::workload::Workload;

const KEY_BYTES: usize = 16;
const MEASURED: Duration = Duration::from_secs(10);
const WARMED: Duration = Duration::from_secs(3);
/// Block size and depth of the disk's own figures.
const BLOCK_BYTES: usize = 4096;
const DEPTHS: [usize; 3] = [1, 8, 32];

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    for &value_bytes in &amount.value_bytes {
        let keys = (amount.gb * 1e9 / (KEY_BYTES + value_bytes) as f64) as u64;
        let maxmemory = format!("{}", (amount.gb * 1e8) as u64);
        let life = arena.start(&with_budget(arena, &maxmemory, &[]))?;
        let words = vocabulary(keys.max(1), value_bytes, 1);
        let fill = plan(&life.server, "set", words.clone(), 16)?.into_fill();
        run_load(&fill, &mut Watch::new("filling", arena.display, None))?;
        save(&life.server)?;
        life.server.wait_settled();
        for rate in disk::ceiling(life.dir.path(), BLOCK_BYTES, &DEPTHS)? {
            figures.say(
                &format!("the disk, direct reads of {BLOCK_BYTES} bytes, depth {}", rate.depth),
                &[("reads/s", rate.reads_per_second), ("P99 µs", rate.p99_us)],
            )?;
        }
        for &connections in &amount.connections {
            let what = format!("get, {value_bytes} bytes, {connections} connections");
            let plan = plan(&life.server, "get", words.clone(), connections)?;
            measure(arena, &life.server, &plan, &what, figures)?;
        }
        let absent = Vocabulary { key_prefix: "no:".into(), ..words };
        let plan = plan(&life.server, "get", absent, 50)?;
        let what = format!("absent keys, {value_bytes} bytes, 50 connections");
        measure(arena, &life.server, &plan, &what, figures)?;
        life.server.stop()?;
    }
    Ok(())
}

fn measure(
    arena: &Arena<'_>,
    server: &Server,
    plan: &Plan,
    what: &str,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let warm = Plan { load: Load::Closed(Limit::Duration(WARMED)), ..plan.clone() };
    run_load(&warm, &mut Watch::new("warming", arena.display, None))?;
    let (pid, target) = (server.pid(), server.target());
    let (info, cpu, read) = (probe::Info::ask(&target)?, CpuTime::of(pid), probe::bytes_read(pid));
    let outcome = run_load(plan, &mut Watch::new("get", arena.display, None))?;
    let (after, used) = (probe::Info::ask(&target)?, CpuTime::of(pid).since(cpu).own_ns);
    let read = probe::bytes_read(pid) - read;
    let report = TestReport::new(plan, &outcome, None);
    let requests = report.requests.max(1) as f64;
    let misses = after.since(&info, "tier_keys_read");
    let reads = after.since(&info, "cold_block_reads");
    figures.say(
        what,
        &[
            ("GET/s", report.requests_per_second),
            ("P50 µs", report.latency.p50_us),
            ("P99 µs", report.latency.p99_us),
            ("P99.9 µs", report.latency.p999_us),
            ("server CPU µs", used as f64 / 1e3 / requests),
            ("misses a GET", misses / requests),
            ("blocks read a miss", reads / misses.max(1.0)),
            ("disk bytes a miss", read as f64 / misses.max(1.0)),
            ("nil", report.nulls as f64 / requests),
            ("errors", report.errors as f64),
        ],
    )
}

fn plan(
    server: &Server,
    test: &str,
    vocabulary: Vocabulary,
    connections: usize,
) -> Result<Plan, BenchError> {
    Ok(Plan {
        target: server.target(),
        workload: Workload::named(test, &vocabulary)?,
        vocabulary,
        distribution: Distribution::Uniform,
        connections,
        threads: 1,
        pipeline: 1,
        load: Load::Closed(Limit::Duration(MEASURED)),
        warmup: Duration::ZERO,
        seed: 11,
    })
}
