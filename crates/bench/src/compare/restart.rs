//! `compare restart`: how long until the server answers again after `kill -9` under load.
//!
//! The files are still in the page cache when the server starts again, as they are after the crash
//! of a process (and not after that of a machine).

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::cell::vocabulary;
use crate::compare::server::{Contender, Server};
use crate::compare::table::{Quantity, Summary, render, summarise};
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::Memory;
use crate::progress::Watch;
use crate::run::{Observer, run as run_plan};
use crate::target::Client;
use crate::workload::Workload;

const VALUE_BYTES: usize = 1024;
const KEY_BYTES: usize = 16;
const KNOWN_KEY: &str = "restart:known";
const KNOWN_VALUE: &str = "still here";
/// Load before the kill.
const LOAD_BEFORE_KILL: Duration = Duration::from_secs(2);

/// One kill of one side.
#[derive(Debug, Serialize)]
struct Round {
    round: usize,
    side: &'static str,
    keys: u64,
    fill_seconds: f64,
    disk_bytes: u64,
    resident_bytes_before: u64,
    /// From the start of the process.
    ping_ms: f64,
    known_key_ms: f64,
}

const QUANTITIES: &[Quantity] = &[
    Quantity { name: "PING ms", decimals: 1 },
    Quantity { name: "GET ms", decimals: 1 },
    Quantity { name: "fill s", decimals: 1 },
    Quantity { name: "on disk MB", decimals: 0 },
    Quantity { name: "in memory MB", decimals: 0 },
];

pub(super) fn run(arena: &Arena<'_>, gb: f64) -> Result<(), BenchError> {
    let keys = (gb * 1e9 / (KEY_BYTES + VALUE_BYTES) as f64) as u64;
    if keys == 0 {
        return Err(BenchError::Usage("there must be something to fill; raise --gb".into()));
    }
    let servers = arena.introduce()?;
    let rounds = arena.rounds(|round, contender| one_life(arena, keys, round, contender))?;
    let sides: Vec<(&str, Vec<Summary>)> = arena
        .contenders
        .iter()
        .map(|contender| (contender.name, summaries(&rounds, contender.name)))
        .collect();
    let table = render(QUANTITIES, &sides);
    arena.print(&format!(
        "{keys} keys of {KEY_BYTES} bytes with values of {VALUE_BYTES} bytes; from start to first answer\n{table}"
    ))?;
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    keys: u64,
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let mut life = arena.start(contender)?;
    Client::connect(&life.server.target())?.text(&["SET", KNOWN_KEY, KNOWN_VALUE])?;
    let plan = plan(&life.server, keys)?;
    let start = Instant::now();
    run_plan(&plan.clone().into_fill()?, &mut Watch::new("filling", arena.display, None))?;
    let fill_seconds = start.elapsed().as_secs_f64();
    let resident_bytes_before = kill_under_load(&mut life.server, &plan)?;
    let disk_bytes = disk_bytes(life.dir.path());
    let start = Instant::now();
    let mut server = Server::spawn(contender, arena.setting, life.dir.path())?;
    server.wait_until(|client| client.text(&["PING"]).is_ok_and(|text| text == "PONG"))?;
    let ping_ms = start.elapsed().as_secs_f64() * 1e3;
    server.wait_until(|client| {
        client.text(&["GET", KNOWN_KEY]).is_ok_and(|text| text == KNOWN_VALUE)
    })?;
    let known_key_ms = start.elapsed().as_secs_f64() * 1e3;
    server.stop()?;
    Ok(Round {
        round,
        side: contender.name,
        keys,
        fill_seconds,
        disk_bytes,
        resident_bytes_before,
        ping_ms,
        known_key_ms,
    })
}

/// Overwrites random keys without end.
fn plan(server: &Server, keys: u64) -> Result<Plan, BenchError> {
    let vocabulary = vocabulary(keys, VALUE_BYTES, 1);
    Ok(Plan {
        target: server.target(),
        workload: Workload::named("set", &vocabulary)?,
        vocabulary,
        distribution: Distribution::Uniform,
        connections: 16,
        threads: 1,
        pipeline: 16,
        load: Load::Closed(Limit::Duration(Duration::MAX)),
        warmup: Duration::ZERO,
        seed: 3,
    })
}

/// Kills a server while a load without end goes on. Returns the resident bytes right before.
pub(super) fn kill_under_load(server: &mut Server, plan: &Plan) -> Result<u64, BenchError> {
    let (started, starting) = mpsc::channel();
    thread::scope(|scope| {
        let load = scope.spawn(|| run_plan(plan, &mut Announce { started }));
        // If the load cannot start, the channel closes and its error is returned below.
        let under_load = starting.recv().is_ok();
        thread::sleep(LOAD_BEFORE_KILL);
        let resident_bytes = Memory::of(server.pid()).resident_bytes;
        server.kill()?;
        match load.join().expect("the load reports errors and does not panic") {
            // The load must end with a lost connection: we have just cut it.
            Err(BenchError::Closed { .. } | BenchError::Connection(_)) if under_load => {
                Ok(resident_bytes)
            }
            Err(error) => Err(error),
            Ok(_) => Err(BenchError::Usage("the load ended before the kill".into())),
        }
    })
}

struct Announce {
    started: mpsc::Sender<()>,
}

impl Observer for Announce {
    fn measuring(&mut self) {
        // The receiver waits for exactly this.
        let _ = self.started.send(());
    }
}

fn disk_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

fn summaries(rounds: &[Round], side: &str) -> Vec<Summary> {
    let of = |quantity: &dyn Fn(&Round) -> f64| {
        summarise(rounds.iter().filter(|round| round.side == side).map(quantity))
    };
    vec![
        of(&|round| round.ping_ms),
        of(&|round| round.known_key_ms),
        of(&|round| round.fill_seconds),
        of(&|round| round.disk_bytes as f64 / 1e6),
        of(&|round| round.resident_bytes_before as f64 / 1e6),
    ]
}
