//! What every cold tier must pass, as functions that its tests call.
//!
//! ```no_run
//! # use std::{path::Path, sync::Arc};
//! # use basalt_cold::{conformance, MemoryDisk, MemoryTier, Residency};
//! let disk = Arc::new(MemoryDisk::new());
//! conformance::run(Path::new("/empty/directory"), &|dir| {
//!     Box::new(MemoryTier::open(&disk, dir, Residency::Cached))
//! });
//! ```
//!
//! Opening the same directory again, after the tier before was dropped, is the suite's "restart".
//! What needs a real crash (SIGKILL) or a full disk is the back end's own test; [`crash`] has the
//! parts that these share. A failed promise panics with the name of the case.

mod checkpoints;
mod concurrent;
pub mod crash;
mod lifecycle;
mod model;
mod probes;
mod ranges;
mod rows;
mod space;

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use crate::{ColdTier, Probe};

/// Opens the tier at a directory: an empty one if it is new, else with what was committed there.
pub type Open<'a> = &'a dyn Fn(&Path) -> Box<dyn ColdTier>;

/// One promise.
pub struct Case {
    /// What is promised.
    pub name: &'static str,
    check: fn(&Site<'_>),
}

/// Every promise; see each function for what it covers.
pub const CASES: &[Case] = &[
    Case { name: "an empty tier has no rows", check: rows::empty_tier },
    Case { name: "rows come back in byte order", check: rows::byte_order },
    Case { name: "a later checkpoint overwrites", check: rows::overwrites },
    Case { name: "deleted rows are gone", check: rows::deletes },
    Case { name: "empty keys and values are rows", check: rows::empty_bytes },
    Case { name: "keys of 0xff bytes sort last", check: rows::high_keys },
    Case { name: "big values come back whole", check: rows::big_values },
    Case { name: "scan bounds are half open", check: rows::scan_bounds },
    Case { name: "a scan stops when told", check: rows::scan_break },
    Case { name: "read_many keeps order and repetitions", check: rows::read_many_order },
    Case { name: "a range deletion removes its range", check: ranges::removes_range },
    Case { name: "a range deletion spares its own checkpoint", check: ranges::spares_own_rows },
    Case { name: "range deletions come in any order", check: ranges::any_order },
    Case { name: "a range deletion alone is a checkpoint", check: ranges::alone },
    Case { name: "a range of big rows gives way to another", check: ranges::gives_way },
    Case { name: "an uncommitted checkpoint is invisible", check: checkpoints::invisible },
    Case { name: "a prepared checkpoint does not survive", check: checkpoints::not_committed },
    Case { name: "a discarded checkpoint leaves nothing", check: checkpoints::discarded },
    Case { name: "an empty checkpoint commits", check: checkpoints::empty },
    Case { name: "keys out of order are refused", check: checkpoints::order_refused },
    Case { name: "commits apply as called", check: checkpoints::commit_order },
    Case { name: "a checkpoint of many rows is whole", check: checkpoints::many_rows },
    Case { name: "committed rows survive a restart", check: lifecycle::restart },
    Case { name: "a closed tier says so", check: lifecycle::closed },
    Case { name: "a backup is a tier of its own", check: lifecycle::backup },
    Case { name: "stats count checkpoints", check: lifecycle::stats },
    Case { name: "a probe never lies", check: probes::never_lies },
    Case { name: "absent keys probe absent", check: probes::absent_keys },
    Case { name: "readers see checkpoints whole", check: concurrent::whole_checkpoints },
    Case { name: "a scan is of one moment", check: concurrent::scan_of_one_moment },
    Case { name: "it behaves like a map", check: model::like_a_map },
    Case { name: "giving space back changes no row", check: space::changes_no_row },
    Case { name: "a scan outlives its rows' space", check: space::of_rows_under_a_scan },
];

/// Runs every case, each in a new directory under `root`, which must exist and be empty.
///
/// # Panics
/// When a promise is broken.
pub fn run(root: &Path, open: Open<'_>) {
    for (index, case) in CASES.iter().enumerate() {
        run_case(case, &root.join(format!("case-{index}")), open);
    }
}

/// Runs one case at `dir`, which must not exist. The case may also use `dir` with `-copy` appended.
///
/// # Panics
/// When the promise is broken.
pub fn run_case(case: &Case, dir: &Path, open: Open<'_>) {
    let _named = NamePanics(case.name);
    (case.check)(&Site { open, dir: dir.to_path_buf() });
}

/// Says which promise was broken when the thread unwinds through it.
struct NamePanics(&'static str);

impl Drop for NamePanics {
    #[allow(clippy::print_stderr)] // A test's report, in the place where tests report.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("cold tier conformance: broken promise: {}", self.0);
        }
    }
}

/// Where a case runs.
pub(crate) struct Site<'a> {
    open: Open<'a>,
    dir: PathBuf,
}

impl Site<'_> {
    fn tier(&self) -> Box<dyn ColdTier> {
        (self.open)(&self.dir)
    }

    fn copy_dir(&self) -> PathBuf {
        let mut name = self.dir.clone().into_os_string();
        name.push("-copy");
        name.into()
    }

    fn tier_of_copy(&self) -> Box<dyn ColdTier> {
        (self.open)(&self.copy_dir())
    }
}

/// One line of a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    Put(&'a [u8], &'a [u8]),
    Delete(&'a [u8]),
    DeleteRange(&'a [u8], &'a [u8]),
}

/// Above every key that the suite writes.
const TOP: [u8; 64] = [0xff; 64];

type Row = (Vec<u8>, Vec<u8>);

fn prepare<'t>(
    tier: &'t dyn ColdTier,
    changes: &[Change<'_>],
) -> Box<dyn crate::PreparedCheckpoint + 't> {
    let mut writer = tier.checkpoint_writer().expect("a checkpoint must begin");
    for change in changes {
        match change {
            Change::Put(key, value) => writer.put(key, value),
            Change::Delete(key) => writer.delete(key),
            Change::DeleteRange(from, to) => writer.delete_range(from, to),
        }
        .expect("ascending rows must be taken");
    }
    writer.prepare().expect("a checkpoint must prepare")
}

fn commit(tier: &dyn ColdTier, changes: &[Change<'_>]) {
    prepare(tier, changes).commit().expect("a prepared checkpoint must commit");
}

fn scan_rows(tier: &dyn ColdTier, from: &[u8], to: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    tier.scan(from, to, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })
    .expect("a scan must end");
    rows
}

fn all_rows(tier: &dyn ColdTier) -> Vec<Row> {
    scan_rows(tier, b"", &TOP)
}

fn read(tier: &dyn ColdTier, key: &[u8]) -> Option<Vec<u8>> {
    let mut values = tier.read_many(&[key.to_vec()]).expect("a read must succeed");
    assert_eq!(values.len(), 1, "one value per key");
    values.remove(0)
}

/// Checks one row through all three ways of reading.
fn assert_row(tier: &dyn ColdTier, key: &[u8], expected: Option<&[u8]>) {
    assert_eq!(read(tier, key).as_deref(), expected, "read_many of {key:?}");
    assert_head(tier, key, expected);
    assert_probe(tier, key, expected);
    let mut next = key.to_vec();
    next.push(0);
    let scanned = scan_rows(tier, key, &next);
    let found = scanned.first().map(|(_, value)| value.as_slice());
    assert_eq!(found, expected, "scan of {key:?}");
}

/// A head is all of the value or its first bytes, with the length of the value.
fn assert_head(tier: &dyn ColdTier, key: &[u8], expected: Option<&[u8]>) {
    let heads = tier.read_heads(&[key.to_vec()]).expect("reads succeed");
    match (&heads[0], expected) {
        (None, None) => {}
        (Some(head), Some(value)) => {
            assert_eq!(head.value_bytes, value.len() as u64, "length of {key:?}");
            assert!(value.starts_with(&head.bytes), "head of {key:?}");
            assert!(head.bytes.len() >= value.len().min(20), "head of {key:?}");
        }
        (head, _) => panic!("head of {key:?}: {head:?}, expected {expected:?}"),
    }
}

/// A probe may know less than a read, never otherwise.
fn assert_probe(tier: &dyn ColdTier, key: &[u8], expected: Option<&[u8]>) {
    match tier.probe(key) {
        Probe::Absent => assert_eq!(expected, None, "probe of {key:?} said absent"),
        Probe::Present(value) => assert_eq!(Some(value.as_slice()), expected, "probe of {key:?}"),
        Probe::Unknown => {}
    }
}
