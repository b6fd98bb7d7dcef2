//! A server that holds ten times as much data as it may keep in memory.

use std::time::{Duration, Instant};

use super::Amount;
use super::figures::{Bound, Figures};
use super::{RESIDENT_SHARE_MAX, space, with_budget};
use crate::compare::cell::vocabulary;
use crate::compare::server::{Contender, Server};
use crate::compare::{Arena, Life};
use crate::disk::{self, Ceiling};
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::Memory;
use crate::progress::Watch;
use crate::run::run as run_load;
use crate::target::Client;
use crate::template::Vocabulary;
use crate::workload::Workload;

/// Of every key, its prefix included.
pub(super) const KEY_BYTES: usize = 16;
/// Connections of clients, unless a check is about their number.
pub(super) const CONNECTIONS: usize = 50;
/// How many times more data there is than memory.
const TIMES_MEMORY: f64 = 10.0;
/// Block size of the disk's own reads, and how long a depth is measured.
const BLOCK_BYTES: usize = 4096;
/// How long a SAVE may take.
const SAVE_TIMEOUT: Duration = Duration::from_secs(600);

/// A server with its data.
pub(super) struct Filled {
    pub(super) contender: Contender,
    pub(super) life: Life,
    pub(super) words: Vocabulary,
    pub(super) value_bytes: usize,
    maxmemory_bytes: u64,
}

/// Starts a server, fills it, and has everything on disk.
pub(super) fn fill(
    arena: &Arena<'_>,
    amount: &Amount,
    value_bytes: usize,
) -> Result<Filled, BenchError> {
    let data_bytes = amount.gb * 1e9;
    let keys = ((data_bytes / (KEY_BYTES + value_bytes) as f64) as u64).max(1);
    let maxmemory_bytes = (data_bytes / TIMES_MEMORY) as u64;
    let contender = with_budget(arena, amount, maxmemory_bytes, &[]);
    let life = arena.start(&contender)?;
    let words = vocabulary(keys, value_bytes, 1);
    let filled = Filled { contender, life, words, value_bytes, maxmemory_bytes };
    filled.write(arena, &filled.words)?;
    Ok(filled)
}

impl Filled {
    pub(super) fn server(&self) -> &Server {
        &self.life.server
    }

    /// What its directory takes without the journal, of the bytes of all keys and values.
    pub(super) fn space_share(&self) -> f64 {
        let data_bytes = self.words.keyspace * (KEY_BYTES + self.value_bytes) as u64;
        space::bytes_without_journal(self.life.dir.path()) as f64 / data_bytes as f64
    }

    /// Sets every key of a keyspace once and waits until everything is on disk.
    pub(super) fn write(&self, arena: &Arena<'_>, words: &Vocabulary) -> Result<(), BenchError> {
        let plan = Plan { connections: 16, ..self.test("set", words)? };
        run_load(&plan.into_fill()?, &mut Watch::new("filling", arena.display, None))?;
        save(self.server())?;
        self.server().wait_settled();
        Ok(())
    }

    /// A test of `basalt bench` on keys by chance, each as likely as the others.
    pub(super) fn test(&self, name: &str, words: &Vocabulary) -> Result<Plan, BenchError> {
        Ok(plan(self.server(), Workload::named(name, words)?, words.clone()))
    }

    /// The most reads that its disk answers, at depths that ascend.
    pub(super) fn ceilings(
        &self,
        depths: &[usize],
        figures: &mut Figures<'_, '_>,
    ) -> Result<Vec<Ceiling>, BenchError> {
        let rates = disk::ceiling(self.life.dir.path(), BLOCK_BYTES, depths)?;
        for rate in &rates {
            figures.say(
                &format!("the disk, direct reads of {BLOCK_BYTES} bytes, depth {}", rate.depth),
                &[
                    ("reads/s", rate.reads_per_second),
                    ("CPU µs", rate.cpu_us_per_read),
                    ("P99 µs", rate.p99_us),
                ],
            )?;
        }
        Ok(rates)
    }

    /// Holds the memory that was resident at most to its bound, and stops the server.
    pub(super) fn finish(self, figures: &mut Figures<'_, '_>) -> Result<(), BenchError> {
        let peak = Memory::of(self.server().pid()).resident_bytes_peak;
        figures.hold(
            &format!("values of {} bytes", self.value_bytes),
            ("peak RSS, of maxmemory", peak as f64 / self.maxmemory_bytes as f64),
            Bound::AtMost(RESIDENT_SHARE_MAX),
        )?;
        self.life.server.stop()
    }
}

/// A load of a server without end and without pipelining.
pub(super) fn plan(server: &Server, workload: Workload, vocabulary: Vocabulary) -> Plan {
    Plan {
        target: server.target(),
        workload,
        vocabulary,
        distribution: Distribution::Uniform,
        connections: CONNECTIONS,
        threads: 1,
        pipeline: 1,
        load: Load::Closed(Limit::Duration(Duration::MAX)),
        warmup: Duration::ZERO,
        seed: 11,
    }
}

/// Has everything written to disk, so that it can leave memory.
pub(super) fn save(server: &Server) -> Result<(), BenchError> {
    let mut client = Client::connect(&server.target())?;
    client.set_read_timeout(SAVE_TIMEOUT)?;
    client.text(&["SAVE"]).map(drop)
}

/// Starts a server again in the directory of one that has ended. Returns how long it took until the
/// first reply.
pub(super) fn start_again(
    arena: &Arena<'_>,
    contender: &Contender,
    dir: &std::path::Path,
) -> Result<(Server, Duration), BenchError> {
    let start = Instant::now();
    let mut server = Server::spawn(contender, arena.setting, dir)?;
    server.wait_until(|client| client.text(&["PING"]).is_ok_and(|text| text == "PONG"))?;
    Ok((server, start.elapsed()))
}
