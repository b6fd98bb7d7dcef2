//! 2 GB of values of 1 KiB under `maxmemory 256mb`: what is resident at most, whether all is right,
//! before and after `kill -9`, and how long a start takes.

use std::time::Instant;

use super::{Figures, known, probe, with_budget};
use crate::compare::Arena;
use crate::compare::server::Server;
use crate::error::BenchError;
use crate::random::Random;

const KEYS: u64 = 2_000_000;
const VALUE_BYTES: usize = 1024;
const LOOKED_AT: usize = 3_000;

pub(super) fn run(arena: &Arena<'_>, figures: &mut Figures<'_, '_>) -> Result<(), BenchError> {
    let contender = with_budget(arena, "256mb", &[]);
    let mut life = arena.start(&contender)?;
    let mut random = Random::new(7, 0);
    let data = (KEYS, VALUE_BYTES);
    let start = Instant::now();
    let target = life.server.target();
    let (filled, peak) = probe::watching_memory(life.server.pid(), || {
        known::fill(&target, KEYS, VALUE_BYTES)?;
        known::wrong(&target, data, LOOKED_AT, &mut random)
    });
    let wrong_before = filled?;
    let seconds = start.elapsed().as_secs_f64();
    life.server.kill()?;
    let start = Instant::now();
    let mut server = Server::spawn(&contender, arena.setting, life.dir.path())?;
    server.wait_until(|client| client.text(&["PING"]).is_ok_and(|text| text == "PONG"))?;
    let start_seconds = start.elapsed().as_secs_f64();
    let target = server.target();
    let (wrong, peak_after) = probe::watching_memory(server.pid(), || {
        known::wrong(&target, data, LOOKED_AT, &mut random)
    });
    figures.say(
        "2 GB of values of 1 KiB, maxmemory 256mb",
        &[
            ("peak RSS MB", peak as f64 / 1e6),
            ("wrong", wrong_before as f64),
            ("fill s", seconds),
            ("start s", start_seconds),
            ("wrong after kill -9", wrong? as f64),
            ("peak RSS MB after", peak_after as f64 / 1e6),
        ],
    )?;
    server.stop()
}
