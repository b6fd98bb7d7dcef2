//! SET of keys that are on disk only, beside SET of keys in memory: neither waits for a read. What
//! has to be known of the rows is read later, and then the number of keys is right.
//!
//! The two take turns, so that both have the same neighbours on the machine.

use std::thread;
use std::time::Duration;

use super::Amount;
use super::figures::{Bound, Figures, ratio};
use super::filled::{self, CONNECTIONS, Filled};
use crate::compare::Arena;
use crate::compare::info::Info;
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::target::Client;
use crate::template::Vocabulary;

/// How often each of the two has its turn.
const TURNS: u64 = 3;
/// Requests of a turn, as a share of the keys: memory, a tenth of the data, is to hold all turns.
const TURN_SHARE: u64 = 100;
/// The keys that are in memory, as a share of all: more than a turn has requests, so that a turn of
/// these leaves nearly as many changed keys to be written by checkpoints as one of the others.
const HOT_SHARE: u64 = 50;
/// When the number of keys is to be right.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

const P50: Bound = Bound::AtMost(1.3);
const KEYS_OFF: Bound = Bound::AtMost(0.0);
/// Nine of ten keys are on disk only.
const ON_DISK: Bound = Bound::AtLeast(0.5);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    for &value_bytes in &amount.value_bytes {
        let filled = filled::fill(arena, amount, value_bytes)?;
        compare(arena, &filled, figures)?;
        filled.finish(figures)?;
    }
    Ok(())
}

fn compare(
    arena: &Arena<'_>,
    filled: &Filled,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let keys = filled.words.keyspace;
    let requests = (keys / TURN_SHARE).max(1);
    let hot = Vocabulary { keyspace: (keys / HOT_SHARE).max(1), ..filled.words.clone() };
    let set = |words: &Vocabulary, seed: u64| {
        let load = Load::Closed(Limit::Requests(requests));
        let plan = Plan { load, seed, ..filled.test("set", words)? };
        let outcome = run_load(&plan, &mut Watch::new("set", arena.display, None))?;
        Ok::<_, BenchError>(TestReport::new(&plan, &outcome, None))
    };
    // They come into memory.
    set(&hot, 1)?;
    let before = Info::ask(&filled.server().target())?;
    let (mut hits, mut blind) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        hits.push(set(&hot, 2 + turn)?);
        blind.push(set(&filled.words, 12 + turn)?);
    }
    let at_once = keys_of(filled)?;
    thread::sleep(SETTLED_AFTER);
    let later = keys_of(filled)?;
    let what = format!("set, {} bytes, {CONNECTIONS} connections", filled.value_bytes);
    for report in hits.iter().chain(&blind) {
        figures.hold_answers(&what, report)?;
    }
    let reads = |name| Info::ask(&filled.server().target()).map(|info| info.since(&before, name));
    let blind_requests = (requests * TURNS) as f64;
    let settled = ratio(reads("tier_keys_settled")?, blind_requests);
    figures.say(
        &what,
        &[
            ("P50 µs of a hit", median(&hits, |report| report.latency.p50_us)),
            ("P99 µs", median(&hits, |report| report.latency.p99_us)),
            ("P50 µs of a key on disk", median(&blind, |report| report.latency.p50_us)),
            ("P99 µs", median(&blind, |report| report.latency.p99_us)),
            ("keys waited for a SET", ratio(reads("tier_keys_read")?, blind_requests)),
            ("rows read later a SET", settled),
            ("blocks read a SET", ratio(reads("cold_block_reads")?, blind_requests)),
            ("keys off at once", at_once - keys as f64),
        ],
    )?;
    let p50 = |reports: &[TestReport]| median(reports, |report| report.latency.p50_us);
    figures.hold(&what, ("of them put without a read", settled), ON_DISK)?;
    figures.hold(&what, ("P50 of that of a hit", ratio(p50(&blind), p50(&hits))), P50)?;
    figures.hold(&what, ("keys off after 1 s", (later - keys as f64).abs()), KEYS_OFF)
}

fn keys_of(filled: &Filled) -> Result<f64, BenchError> {
    let mut client = Client::connect(&filled.server().target())?;
    let reply = client.call(&["DBSIZE"])?;
    let text = String::from_utf8_lossy(&reply);
    let number = text.trim().strip_prefix(':').and_then(|number| number.parse().ok());
    number.ok_or_else(|| BenchError::Handshake { command: "DBSIZE".into(), reply: text.into() })
}

fn median(reports: &[TestReport], figure: fn(&TestReport) -> f64) -> f64 {
    let mut figures: Vec<f64> = reports.iter().map(figure).collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}
