//! Overwriting keys by chance for minutes: whether it ever stands still, how much is written for
//! it, and how much space it takes, then and after a rest.
//!
//! Bytes written are what the system counts for the process (`write_bytes` of `/proc/PID/io`): when
//! a page of a file becomes dirty, or is written around the kernel's cache. Files that are removed
//! before they reach the disk are in it. The journal's own count, which is subtracted for the
//! figure without it, has no padding: what the journal pads and writes twice counts as data.

use std::thread;
use std::time::{Duration, Instant};

use super::Amount;
use super::figures::{Bound, Figures, ratio};
use super::filled::{self, Filled, KEY_BYTES};
use super::probe;
use super::seconds::{Cutter, Second, Seconds, without_progress};
use super::syncs::watching_syncs;
use crate::compare::Arena;
use crate::compare::info::Info;
use crate::error::BenchError;
use crate::plan::{Limit, Load, Plan};
use crate::report::TestReport;
use crate::run::run as run_load;

const VALUE_BYTES: usize = 1024;
/// The rest after the load if none is given, as a share of it, at most: ten minutes after half an
/// hour.
const REST_SHARE: u32 = 3;
const REST_MAX: Duration = Duration::from_secs(600);

const STALLED_SECONDS: Bound = Bound::AtMost(0.0);
/// What a write may take beyond the disk's own longest sync.
const BEYOND_SYNC_MS: Bound = Bound::AtMost(100.0);
const WRITTEN: Bound = Bound::AtMost(2.2);
const WRITTEN_WITH_JOURNAL: Bound = Bound::AtMost(3.2);
const SPACE: Bound = Bound::AtMost(1.5);
const SPACE_LATER: Bound = Bound::AtMost(1.2);
const LOCK_MS: Bound = Bound::AtMost(2.0);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let filled = filled::fill(arena, amount, VALUE_BYTES)?;
    let load = Load::Closed(Limit::Duration(amount.overwritten));
    let plan = Plan { load, ..filled.test("set", &filled.words)? };
    let what = format!("overwriting for {} s", amount.overwritten.as_secs());
    let (before, locks_loaded) = (Written::by(&filled)?, Locks::of(&filled)?);
    let overwrite = || watching(&filled, &plan, &before, figures);
    let ((report, seconds), sync) = watching_syncs(&arena.common.base_dir(), overwrite)?;
    let changed_bytes = report.requests as f64 * (KEY_BYTES + VALUE_BYTES) as f64;
    pace(&what, (&report, &seconds, sync), figures)?;
    let written = Written::by(&filled)?.since(&before);
    figures.hold(&what, ("bytes written a byte", ratio(written.data, changed_bytes)), WRITTEN)?;
    let with_journal = ("with the journal", ratio(written.all, changed_bytes));
    figures.hold(&what, with_journal, WRITTEN_WITH_JOURNAL)?;
    figures.hold(&what, ("space, of the data", filled.space_share()), SPACE)?;
    locks(&what, (locks_loaded, Locks::of(&filled)?), figures)?;
    rest(amount, (&filled, &before), changed_bytes, figures)?;
    filled.finish(figures)
}

/// Bytes that a server has had written.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Written {
    all: f64,
    /// Without the journal.
    data: f64,
}

impl Written {
    fn by(filled: &Filled) -> Result<Written, BenchError> {
        let all = probe::bytes_written(filled.server().pid()) as f64;
        let journal =
            probe::metric(&filled.server().target(), "basalt_journal_appended_bytes_total")?;
        Ok(Written { all, data: all - journal })
    }

    fn since(self, before: &Written) -> Written {
        Written { all: self.all - before.all, data: self.data - before.data }
    }
}

/// Overwrites, and says each second.
fn watching(
    filled: &Filled,
    plan: &Plan,
    before: &Written,
    figures: &mut Figures<'_, '_>,
) -> Result<(TestReport, Vec<Second>), BenchError> {
    let pid = filled.server().pid();
    let (mut seconds, mut said) = (Vec::new(), Ok(()));
    let on_second = |second: Second| {
        seconds.push(second);
        let written = probe::bytes_written(pid) as f64 - before.all;
        // The first line that cannot be printed is the error.
        if said.is_ok() {
            said = figures.say(
                &format!("second {}", second.ended.as_secs()),
                &[
                    ("SET/s", second.requests as f64 / second.lasted.as_secs_f64()),
                    ("longest ms", ms(second.longest)),
                    ("MB written so far", written / 1e6),
                    ("space, of the data", filled.space_share()),
                ],
            );
        }
    };
    let cutter = Cutter::default();
    let mut observer = Seconds { begun: Instant::now(), cutter, on_second };
    let outcome = run_load(plan, &mut observer)?;
    said?;
    Ok((TestReport::new(plan, &outcome, None), seconds))
}

fn pace(
    what: &str,
    (report, seconds, sync): (&TestReport, &[Second], Duration),
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let latency = &report.latency;
    figures.say(
        what,
        &[
            ("SET/s", report.requests_per_second),
            ("P50 µs", latency.p50_us),
            ("P99 µs", latency.p99_us),
            ("P99.9 µs", latency.p999_us),
            ("longest ms", latency.max_us / 1e3),
            ("the disk's longest sync ms", ms(sync)),
        ],
    )?;
    figures.hold_answers(what, report)?;
    let stalled = ("seconds without progress", without_progress(seconds) as f64);
    figures.hold(what, stalled, STALLED_SECONDS)?;
    let beyond = ("longest beyond the sync ms", latency.max_us / 1e3 - ms(sync));
    figures.hold(what, beyond, BEYOND_SYNC_MS)
}

/// The longest that one step has locked a partition, since the server has started: the time that it
/// has run, and by the clock.
#[derive(Debug, Clone, Copy)]
struct Locks {
    checkpoint_ms: [f64; 2],
    eviction_ms: [f64; 2],
    /// How many there were of checkpoints and of eviction, and how many of them ran for more than
    /// 2 ms.
    long: [[f64; 2]; 2],
}

impl Locks {
    fn of(filled: &Filled) -> Result<Locks, BenchError> {
        let info = Info::ask(&filled.server().target())?;
        let ms = |name| info.number(name) / 1e3;
        Ok(Locks {
            checkpoint_ms: [
                ms("checkpoint_longest_lock_cpu_usec"),
                ms("checkpoint_longest_lock_usec"),
            ],
            eviction_ms: [ms("evict_longest_lock_cpu_us"), ms("evict_longest_lock_us")],
            long: ["checkpoint_locks", "evict_locks"]
                .map(|name| [info.number(name), info.number(&format!("{name}_over_2ms"))]),
        })
    }
}

fn locks(
    what: &str,
    (loaded, now): (Locks, Locks),
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let (checkpoint, eviction) = ("longest lock of a checkpoint ms", "longest lock of eviction ms");
    for (what, locks) in [("loading the data before", &loaded), (what, &now)] {
        let ([ran, by_clock], [evict_ran, evict_by_clock]) =
            (locks.checkpoint_ms, locks.eviction_ms);
        figures.say(
            what,
            &[
                (checkpoint, ran),
                ("by the clock", by_clock),
                (eviction, evict_ran),
                ("by the clock", evict_by_clock),
            ],
        )?;
        let [[checkpoints, long_checkpoints], [evictions, long_evictions]] = locks.long;
        figures.say(
            what,
            &[
                ("locks of checkpoints", checkpoints),
                ("of more than 2 ms", long_checkpoints),
                ("locks of eviction", evictions),
                ("of more than 2 ms", long_evictions),
            ],
        )?;
    }
    figures.hold(what, (checkpoint, now.checkpoint_ms[0]), LOCK_MS)?;
    figures.hold(what, (eviction, now.eviction_ms[0]), LOCK_MS)
}

/// Waits, and says what has become of space and of what is written.
fn rest(
    amount: &Amount,
    (filled, before): (&Filled, &Written),
    changed_bytes: f64,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    let rest = amount.rest.unwrap_or((amount.overwritten / REST_SHARE).min(REST_MAX));
    thread::sleep(rest);
    let what = format!("{} s later", rest.as_secs());
    let written = Written::by(filled)?.since(before);
    let data = ("bytes written a byte", ratio(written.data, changed_bytes));
    figures.say(&what, &[data, ("with the journal", ratio(written.all, changed_bytes))])?;
    figures.hold(&what, ("space, of the data", filled.space_share()), SPACE_LATER)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
