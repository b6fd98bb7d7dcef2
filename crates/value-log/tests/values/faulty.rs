//! Rows whose commits and scans fail or wait when told to. The next start may find what failed.

use crate::{DIR, VALUE_BYTES_MIN, World};
use basalt_cold::{
    CheckpointWriter, ColdError, ColdStats, ColdTier, KeyRange, MemoryTier, PreparedCheckpoint,
    Pressure, Probe, Residency, Visit,
};
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

#[derive(Clone)]
enum Op {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Range(Vec<u8>, Vec<u8>),
}

#[derive(Default)]
pub(crate) struct Late {
    ops: Mutex<Option<Vec<Op>>>,
    /// Commits that are still to fail.
    pub(crate) fails: AtomicU32,
    /// Scans that are.
    pub(crate) scan_fails: AtomicU32,
    /// Rows that scans have visited.
    pub(crate) visited: AtomicU32,
    /// A commit waits while there is one; it has come if it is true.
    gate: Mutex<Option<bool>>,
    moved: Condvar,
}

impl Late {
    /// A commit failed that the next start would find.
    pub(crate) fn has_ops(&self) -> bool {
        self.ops.lock().expect("a lock").is_some()
    }

    pub(crate) fn close_gate(&self) {
        *self.gate.lock().expect("a lock") = Some(false);
    }

    pub(crate) fn wait_for_commit(&self) {
        let gate = self.gate.lock().expect("a lock");
        drop(self.moved.wait_while(gate, |gate| *gate == Some(false)).expect("a lock"));
    }

    pub(crate) fn open_gate(&self) {
        *self.gate.lock().expect("a lock") = None;
        self.moved.notify_all();
    }

    fn pass_gate(&self) {
        let mut gate = self.gate.lock().expect("a lock");
        if let Some(has_come) = gate.as_mut() {
            *has_come = true;
            self.moved.notify_all();
            drop(self.moved.wait_while(gate, |gate| gate.is_some()).expect("a lock"));
        }
    }
}

/// Rows in memory whose scans and commits fail, or wait.
struct Rows {
    inner: MemoryTier,
    late: Arc<Late>,
}

struct Writer<'t> {
    rows: &'t Rows,
    inner: Box<dyn CheckpointWriter<'t> + 't>,
    ops: Vec<Op>,
}

struct Prepared<'t> {
    rows: &'t Rows,
    inner: Box<dyn PreparedCheckpoint + 't>,
    ops: Vec<Op>,
}

fn takes(count: &AtomicU32) -> bool {
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1)).is_ok()
}

impl PreparedCheckpoint for Prepared<'_> {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        let late = &self.rows.late;
        late.pass_gate();
        if takes(&late.fails) {
            *late.ops.lock().expect("a lock") = Some(self.ops);
            return Err(ColdError::NoSpace { detail: "the sync".to_owned() });
        }
        self.inner.commit()?;
        *late.ops.lock().expect("a lock") = None;
        Ok(())
    }

    fn discard(self: Box<Self>) {}
}

impl<'t> CheckpointWriter<'t> for Writer<'t> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError> {
        self.ops.push(Op::Put(key.to_vec(), value.to_vec()));
        self.inner.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError> {
        self.ops.push(Op::Delete(key.to_vec()));
        self.inner.delete(key)
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        self.ops.push(Op::Range(from.to_vec(), to.to_vec()));
        self.inner.delete_range(from, to)
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn prepare(self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 't>, ColdError> {
        let Writer { rows, inner, ops } = *self;
        Ok(Box::new(Prepared { rows, inner: inner.prepare()?, ops }))
    }
}

impl ColdTier for Rows {
    fn probe(&self, key: &[u8]) -> Probe {
        self.inner.probe(key)
    }

    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        self.inner.read_many(keys)
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError> {
        if takes(&self.late.scan_fails) {
            return Err(ColdError::Failed { operation: "scan", detail: "injected".to_owned() });
        }
        self.inner.scan(from, to, &mut |key, value| {
            self.late.visited.fetch_add(1, Ordering::Relaxed);
            visit(key, value)
        })
    }

    fn share_percent(&self, ranges: &[KeyRange]) -> Option<u64> {
        self.inner.share_percent(ranges)
    }

    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError> {
        let inner = self.inner.checkpoint_writer()?;
        Ok(Box::new(Writer { rows: self, inner, ops: Vec::new() }))
    }

    fn backup(&self, dir: &Path) -> Result<(), ColdError> {
        self.inner.backup(dir)
    }

    fn stats(&self) -> ColdStats {
        self.inner.stats()
    }

    fn pressure(&self) -> Pressure {
        self.inner.pressure()
    }

    fn close(&self) {
        self.inner.close();
    }
}

/// Opens the tier; the rows have what failed last if it `finds` that.
pub(crate) fn open(world: &World, late: &Arc<Late>, finds: bool) -> ValueTier {
    let inner = MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached);
    let ops = late.ops.lock().expect("a lock").take().filter(|_| finds);
    if let Some(ops) = ops {
        let mut writer: Box<dyn CheckpointWriter<'_> + '_> =
            inner.checkpoint_writer().expect("begins");
        for op in ops {
            match op {
                Op::Put(key, value) => writer.put(&key, &value),
                Op::Delete(key) => writer.delete(&key),
                Op::Range(from, to) => writer.delete_range(&from, &to),
            }
            .expect("is taken");
        }
        writer.prepare().expect("prepares").commit().expect("commits");
    }
    late.fails.store(0, Ordering::Relaxed);
    late.scan_fails.store(0, Ordering::Relaxed);
    let options = ValueOptions {
        value_bytes_min: VALUE_BYTES_MIN,
        segment_bytes_min: 8 << 10,
        ..ValueOptions::default()
    };
    let rows = Arc::new(Rows { inner, late: Arc::clone(late) });
    ValueTier::open(rows, Arc::new(world.disk.clone()), Path::new(DIR), options).expect("opens")
}
