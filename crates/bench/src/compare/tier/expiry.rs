//! Keys with a time to live that nobody reads again, most of them on disk only: how soon they are
//! gone, whether each is announced once, and what is left on the disk.

mod heard;

use std::thread;
use std::time::{Duration, Instant};

use super::Amount;
use super::figures::{Bound, Figures, ratio};
use super::filled::{KEY_BYTES, plan, save};
use super::{RESIDENT_SHARE_MAX, space, with_budget};
use crate::compare::cell::vocabulary;
use crate::compare::{Arena, Life};
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::process::{CpuTime, Memory};
use crate::progress::Watch;
use crate::run::run as run_load;
use crate::target::Client;
use crate::workload::Workload;
use heard::Heard;

const KEYS: u64 = 10_000_000;
const VALUE_BYTES: usize = 100;
const TTL_SECONDS: u64 = 60;
/// SETs that are sent together on a connection.
const PIPELINE: u32 = 64;
/// Memory is a tenth of keys and values, but not so little that the process itself needs it all.
const TIMES_MEMORY: u64 = 10;
const MAXMEMORY_MIN: u64 = 100 << 20;
/// Of that.
const RESIDENT_SHARE: Bound = Bound::AtMost(RESIDENT_SHARE_MAX);
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// From the last SET.
const GIVEN_UP: Duration = Duration::from_secs(600);
/// News of the last keys may be under way when these are gone.
const NEWS_UNDER_WAY: Duration = Duration::from_secs(2);

const GONE_SECONDS: Bound = Bound::AtMost(600.0);
const NONE: Bound = Bound::AtMost(0.0);
const SPACE_SHARE: f64 = 1.2;
const SPACE: Bound = Bound::AtMost(SPACE_SHARE);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let keys = amount.keys.unwrap_or(KEYS);
    let data_bytes = keys * (KEY_BYTES + VALUE_BYTES) as u64;
    let maxmemory_bytes = (data_bytes / TIMES_MEMORY).max(MAXMEMORY_MIN);
    let options = ["--notify-keyspace-events", "Ex"];
    let contender = with_budget(arena, amount, maxmemory_bytes, &options);
    let life = arena.start(&contender)?;
    save(&life.server)?;
    let empty_bytes = space::bytes_without_journal(life.dir.path());
    let what = format!("{keys} keys that expire after {TTL_SECONDS} s");
    let target = life.server.target();
    let cpu = || CpuTime::of(life.server.pid());
    let (gone, heard) = heard::listening(&target, keys, || {
        fill(arena, &life, keys)?;
        let (before, written) = (cpu(), Instant::now());
        let mut client = Client::connect(&target)?;
        let gone = await_none(&mut client, written)?;
        let cpu_ns = cpu().since(before).own_ns;
        thread::sleep(NEWS_UNDER_WAY);
        Ok(Gone { after: gone, cpu_ns, written })
    })?;
    say(&what, &gone, &heard, figures)?;
    let share = || ratio(space::bytes_without_journal(life.dir.path()) as f64, empty_bytes as f64);
    while share() > SPACE_SHARE && gone.written.elapsed() < GIVEN_UP {
        thread::sleep(LOOK_EVERY);
    }
    figures.say(&what, &[("MB on disk without the journal, empty", empty_bytes as f64 / 1e6)])?;
    figures.hold(&what, ("space, of an empty server's", share()), SPACE)?;
    let peak = Memory::of(life.server.pid()).resident_bytes_peak;
    let resident = ("peak RSS, of maxmemory", ratio(peak as f64, maxmemory_bytes as f64));
    figures.hold(&what, resident, RESIDENT_SHARE)?;
    life.server.stop()
}

/// When the last key was gone.
struct Gone {
    /// How long after the last SET; without end if that took too long.
    after: f64,
    /// CPU time that the server took since then.
    cpu_ns: u64,
    /// When the last SET was answered.
    written: Instant,
}

/// Sets every key once.
fn fill(arena: &Arena<'_>, life: &Life, keys: u64) -> Result<(), BenchError> {
    let words = vocabulary(keys, VALUE_BYTES, 1);
    let set = format!("SET __key__ __data__ EX {TTL_SECONDS}");
    let workload = Workload::mixed("filling".into(), &[(&set, 1)], &words)?;
    let plan = Plan {
        distribution: Distribution::Sequential,
        connections: 16,
        pipeline: PIPELINE,
        load: Load::Closed(Limit::Requests(keys)),
        ..plan(&life.server, workload, words)
    };
    let outcome = run_load(&plan, &mut Watch::new("filling", arena.display, None))?;
    match outcome.stats.tally.first_error {
        Some(reply) => Err(BenchError::Handshake { command: set, reply }),
        None => Ok(()),
    }
}

/// Waits until there is no key; returns how many seconds after `written` that was.
fn await_none(client: &mut Client, written: Instant) -> Result<f64, BenchError> {
    while written.elapsed() < GIVEN_UP {
        if client.call(&["DBSIZE"])? == b":0\r\n" {
            return Ok(written.elapsed().as_secs_f64());
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(f64::INFINITY)
}

fn say(
    what: &str,
    gone: &Gone,
    heard: &Heard,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let cpu_s = gone.cpu_ns as f64 / 1e9;
    let cores = ratio(cpu_s, gone.after);
    figures.say(what, &[("server CPU s after the last SET", cpu_s), ("cores", cores)])?;
    figures.hold(what, ("none left after s", gone.after), GONE_SECONDS)?;
    figures.hold(what, ("keys without an event", heard.missing as f64), NONE)?;
    figures.hold(what, ("events too many", heard.again as f64), NONE)
}
