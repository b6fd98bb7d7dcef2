//! What can be done, to the engine and to the model alike.

use crate::access::wait_for;
use crate::action::{Action, Draft, Versions, act};
use crate::choice::{Keys, bytes};
use crate::content::Content;
use crate::driver::{Driver, Slow};
use crate::stage::{Cue, Point};
use crate::state::{Change, Value};
use crate::violation::Violation;
use basalt_change::op::StringForm;
use basalt_change::place::{PartitionId, ShardSet};
use basalt_engine::{Destination, Gate, Held, LockWait, Refusal, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest that the journal may take to notice that there is space again.
const SPACE_NOTICED_MAX: Duration = Duration::from_secs(120);
/// Strings of this length stand apart from their entries, and only these go in pieces.
const APART_MIN: usize = 2_048;
/// Most small steps at one point of a checkpoint.
const INTERLUDE_STEPS: u64 = 6;

/// How something comes from one key to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transfer {
    Copy,
    CopyAndDelete,
    Rename,
}

impl Driver<'_> {
    pub(crate) fn database(&mut self) -> u8 {
        // Mostly the first: keys shall meet.
        if self.random.chance(3, 4) { 0 } else { self.random.below(3) as u8 }
    }

    /// A change of a key, which mostly suits what is there.
    fn action(&mut self, db: u8, key: &[u8]) -> Action {
        let there = self.state.value(db, key);
        // A string of the same length can be overwritten in place.
        if let Some(Content::String(old, _)) = there.map(|value| &*value.content)
            && self.random.chance(1, 4)
        {
            return Action::overwriting(bytes(&mut self.random, old.len()));
        }
        let kind = there.map(|value| value.content.kind());
        Action::choose(
            kind.unwrap_or_else(|| Keys::custom(key)),
            self.world.now_ms(),
            &mut self.random,
        )
    }

    /// Whether the log takes changes now; a server refuses commands that write while it does not.
    fn is_admitted(&mut self) -> Result<bool, Violation> {
        let start = Instant::now();
        loop {
            match self.world.engine().log().admit_all(ShardSet::ALL) {
                Ok(()) => {
                    self.report.writes += 1;
                    return Ok(true);
                }
                Err(_) if self.disk_is_limited => {
                    self.report.refused += 1;
                    return Ok(false);
                }
                // After a large change: a server parks its client until the log has written some.
                Err(Refusal::Busy) if start.elapsed() < SPACE_NOTICED_MAX => {
                    self.world.engine().log().kick();
                    std::thread::yield_now();
                }
                Err(refusal) => {
                    return Err(Violation(format!("refused without need: {refusal}")));
                }
            }
        }
    }

    pub(crate) fn write_one(&mut self) -> Result<(), Violation> {
        let (db, key) = (self.database(), self.keys.any(&mut self.random));
        let crowd = self.state.value(db, &key).filter(|value| value.content.is_crowd());
        let actions = match crowd.and_then(|value| value.content.kind()) {
            // Not lost again at once: what is done to a large collection is mostly done to its
            // elements.
            Some(kind) if self.random.chance(4, 5) => {
                let edits =
                    (0..1 + self.random.below(8)).map(|_| Action::edit(kind, &mut self.random));
                edits.map(|action| (0, action)).collect()
            }
            _ => {
                let count = if self.random.chance(1, 6) { 3 } else { 1 };
                (0..count).map(|_| (0, self.action(db, &key))).collect()
            }
        };
        self.write(db, &[key], actions)
    }

    pub(crate) fn write_several(&mut self) -> Result<(), Violation> {
        let (db, keys) = (self.database(), self.keys.several(&mut self.random));
        let mut actions: Vec<_> =
            keys.iter().enumerate().map(|(index, key)| (index, self.action(db, key))).collect();
        // Back to a partition that has been changed: its record comes twice.
        if self.random.chance(1, 4) {
            actions.push((0, self.action(db, &keys[0])));
        }
        self.write(db, &keys, actions)
    }

    /// As a server does with a SET: first it tries whether the string can be overwritten.
    fn overwrites(&self, db: u8, keys: &[Vec<u8>], actions: &[(usize, Action)]) -> Option<Gate> {
        let [(index, Action::Put { value, expire_ms: 0, form: StringForm::Whole, versions })] =
            actions
        else {
            return None;
        };
        if *versions == Versions::Begun {
            return None;
        }
        self.world.overwrite(db, &keys[*index], value)
    }

    /// As a server does with a SET of keys that are on disk: it waits for no read. A key with a
    /// version goes on in another one when its row has been read, which is not known here; so it is
    /// fetched.
    fn puts_unread(
        &mut self,
        db: u8,
        keys: &[Vec<u8>],
        actions: &[(usize, Action)],
    ) -> Option<Gate> {
        let is_put = |(_, action): &(usize, Action)| {
            matches!(action, Action::Put { versions: Versions::Kept, .. })
        };
        let has_none =
            |key: &Vec<u8>| self.state.value(db, key).is_none_or(|value| value.version.is_none());
        if !actions.iter().all(is_put) || !keys.iter().all(has_none) || self.random.chance(1, 3) {
            return None;
        }
        let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let before = self.world.unread();
        let gate = self.world.write_unread(db, &slices, |txn, keys| {
            actions.iter().for_each(|(index, action)| act(txn, &keys[*index], action));
        })?;
        self.report.unread_puts += self.world.unread().saturating_sub(before);
        Some(gate)
    }

    fn write(
        &mut self,
        db: u8,
        keys: &[Vec<u8>],
        actions: Vec<(usize, Action)>,
    ) -> Result<(), Violation> {
        if !self.is_admitted()? {
            return Ok(());
        }
        let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let overwritten = self.overwrites(db, keys, &actions);
        let gate = match overwritten.or_else(|| self.puts_unread(db, keys, &actions)) {
            Some(gate) => gate,
            None => self.world.write(db, &slices, |txn, keys| {
                actions.iter().for_each(|(index, action)| act(txn, &keys[*index], action));
            })?,
        };
        let mut draft = Draft::new(&self.state, self.world.now_ms());
        actions.iter().for_each(|(index, action)| draft.act(db, &keys[*index], action));
        let changes = draft.changes;
        let touched: Vec<_> = keys.iter().map(|key| (db, key.clone())).collect();
        self.commit(changes, &touched, gate)
    }

    /// As a server does with a DEL: what is removed is not read.
    pub(crate) fn remove(&mut self) -> Result<(), Violation> {
        if !self.is_admitted()? {
            return Ok(());
        }
        let (db, mut keys) = (self.database(), self.keys.several(&mut self.random));
        if self.random.chance(1, 2) {
            keys.truncate(1);
        }
        // A key may be named twice.
        if self.random.chance(1, 4) {
            keys.push(keys[0].clone());
        }
        let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let removed = self.world.remove(db, &slices)?;
        let mut draft = Draft::new(&self.state, self.world.now_ms());
        keys.iter().for_each(|key| draft.act(db, key, &Action::Delete));
        let changes = draft.changes;
        if removed.there != changes.len() {
            let text = format!("{} keys were removed, not {changes:?}", removed.there);
            return Err(Violation(text));
        }
        self.report.unread_deletes += removed.unread;
        let touched: Vec<_> = keys.iter().map(|key| (db, key.clone())).collect();
        self.commit(changes, &touched, removed.gate)
    }

    /// What is under one key comes under another, too or instead.
    pub(crate) fn transfer(&mut self) -> Result<(), Violation> {
        if !self.is_admitted()? {
            return Ok(());
        }
        let (db, to_db) = (self.database(), self.database());
        let keys = self.keys.several(&mut self.random);
        let (from, to) = (&keys[0], &keys[keys.len() - 1]);
        let how = match self.random.below(3) {
            _ if (db, from) == (to_db, to) => Transfer::Copy,
            0 => Transfer::Copy,
            1 => Transfer::CopyAndDelete,
            _ => Transfer::Rename,
        };
        let gate = self.world.write(db, &[from, to], |txn, keys| {
            let destination = Destination { db: to_db, key: &keys[1] };
            if txn.must_wait_for(destination) {
                return;
            }
            let is_there = match how {
                Transfer::Rename => txn.rename(&keys[0], destination),
                Transfer::Copy | Transfer::CopyAndDelete => txn.copy(&keys[0], destination),
            };
            let is_there = is_there.expect("it is small");
            if is_there && how == Transfer::CopyAndDelete {
                txn.delete(&keys[0]);
            }
        })?;
        let mut draft = Draft::new(&self.state, self.world.now_ms());
        if let Some(value) = draft.live(db, from) {
            draft.put(to_db, to, Value { version: Version::NONE, ..value });
            if how != Transfer::Copy {
                draft.act(db, from, &Action::Delete);
            }
        }
        let changes = draft.changes;
        let mut touched = vec![(db, from.clone()), (to_db, to.clone())];
        // A key that is copied to itself is asked once.
        touched.dedup();
        self.commit(changes, &touched, gate)
    }

    /// Notes what a command has changed of these keys.
    fn commit(
        &mut self,
        mut changes: Vec<Change>,
        touched: &[(u8, Vec<u8>)],
        gate: Gate,
    ) -> Result<(), Violation> {
        let given = self.take_given(touched)?;
        for (db, key) in touched {
            self.ask_version(*db, key, &given, &mut changes)?;
            self.ask_element_versions(*db, key, &mut changes)?;
        }
        let positions = self.world.engine().log().positions();
        for change in &changes {
            let Change::Put(_, _, Value { content, .. }) = change else { continue };
            if content.kind().is_some() {
                self.report.collections += 1;
                self.report.large_collections += u64::from(content.is_crowd());
            } else {
                let is_long = content.len() > self.world.setting.string_piece_bytes.max(APART_MIN);
                self.report.strings_in_pieces += u64::from(is_long);
            }
        }
        self.state.commit(changes, &positions)?;
        self.maybe_wait(gate)
    }

    /// Waits, sometimes, until a reply could leave: then everything so far must survive.
    fn maybe_wait(&mut self, gate: Gate) -> Result<(), Violation> {
        if gate.is_open() || self.disk_is_limited || !self.random.chance(1, 4) {
            return Ok(());
        }
        self.world.wait_for_gate(gate)?;
        self.state.acknowledge();
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Violation> {
        if !self.is_admitted()? {
            return Ok(());
        }
        let first = self.random.below(3) as u8;
        let last = if self.random.chance(1, 4) { 2 } else { first };
        let mut gate = Gate::default();
        let flushed = self.world.engine().flush(first..last + 1, LockWait::Endless, &mut gate);
        flushed.map_err(|Held| Violation::new("a flush has not waited for its partitions"))?;
        let positions = self.world.engine().log().positions();
        self.state.commit((first..=last).map(Change::Flush).collect(), &positions)?;
        self.maybe_wait(gate)
    }

    pub(crate) fn swap(&mut self) -> Result<(), Violation> {
        if !self.is_admitted()? {
            return Ok(());
        }
        let (db, other) = (self.random.below(3) as u8, self.random.below(3) as u8);
        let mut gate = Gate::default();
        let swapped = self.world.engine().swap(db, other, LockWait::Endless, &mut gate);
        swapped.map_err(|Held| Violation::new("a swap has not waited for its partitions"))?;
        let positions = self.world.engine().log().positions();
        self.state.commit(vec![Change::Swap(db, other)], &positions)?;
        self.maybe_wait(gate)
    }

    pub(crate) fn expire(&mut self) -> Result<(), Violation> {
        self.let_time_work()?;
        let positions = self.world.engine().log().positions();
        self.state.note_positions(&positions);
        Ok(())
    }

    pub(crate) fn read_one(&mut self) -> Result<(), Violation> {
        let key = self.keys.any(&mut self.random);
        let db = self.database();
        self.compare_key(db, &key)
    }

    pub(crate) fn load_partition(&mut self) -> Result<(), Violation> {
        let id = self.keys.partition(&mut self.random);
        wait_for(&self.world.start_load(vec![id]))
    }

    /// A read of the cold tier that takes its time, so that what it has read grows old.
    pub(crate) fn begin_or_end_slow_read(&mut self) -> Result<(), Violation> {
        if let Some(slow) = self.slow.take() {
            self.world.stage.release(slow.point);
            return wait_for(&slow.fetching);
        }
        let point = if self.random.chance(1, 3) { Point::Scan } else { Point::Read };
        let key = self.keys.any(&mut self.random);
        let db = self.database();
        let id = self.keys.partition(&mut self.random);
        let stage = Arc::clone(&self.world.stage);
        stage.arm(point);
        let fetching = match point {
            Point::Scan => Some(self.world.start_load(vec![id])),
            _ => self.world.start_fetch(db, &key),
        };
        let Some(fetching) = fetching else {
            stage.release(point);
            return Ok(());
        };
        let mut result = None;
        let start = Instant::now();
        while !stage.is_waiting(point) && result.is_none() {
            result = fetching.try_recv().ok();
            if start.elapsed() > SPACE_NOTICED_MAX {
                return Err(Violation::new("a fetch never begins"));
            }
            std::thread::yield_now();
        }
        match result {
            Some(result) => {
                stage.release(point);
                result.map_err(|error| Violation(format!("a fetch failed: {error}")))
            }
            None => {
                self.report.slow_reads += 1;
                self.slow = Some(Slow { point, fetching });
                Ok(())
            }
        }
    }

    fn end_slow_read(&mut self) -> Result<(), Violation> {
        match self.slow {
            Some(_) => self.begin_or_end_slow_read(),
            None => Ok(()),
        }
    }

    /// A checkpoint, with other commands in its midst, which may fail or end in a power cut.
    pub(crate) fn checkpoint(&mut self) -> Result<(), Violation> {
        const POINTS: [Point; 3] = [Point::Prepare, Point::Commit, Point::Committed];
        let stage = Arc::clone(&self.world.stage);
        POINTS.iter().for_each(|&point| stage.arm(point));
        let over = Arc::new(AtomicBool::new(false));
        let thread = {
            let (engine, over) = (Arc::clone(self.world.engine()), Arc::clone(&over));
            std::thread::spawn(move || {
                let result = engine.checkpoint().map_err(|error| error.to_string());
                drop(engine);
                over.store(true, Ordering::Release);
                result
            })
        };
        let (mut failed, mut cut) = (false, false);
        while let Some(point) = stage.wait(&POINTS, &|| over.load(Ordering::Acquire)) {
            // The collector commits, too, and so does a checkpoint that a flush has asked for.
            if !stage.is_waiting_here(thread.thread().id(), point) {
                stage.arm(point);
                stage.cue(point, Cue::GoOn);
                continue;
            }
            for _ in 0..if cut { 0 } else { self.random.below(INTERLUDE_STEPS) } {
                self.small_step()?;
            }
            if !cut && self.random.chance(1, 25) {
                cut = true;
                self.world.cut_power(self.random.next_u64());
            }
            let fails = self.random.chance(1, 12);
            failed |= fails;
            if self.random.chance(1, 2) {
                stage.arm(point);
            }
            stage.cue(point, if fails { Cue::NoSpace } else { Cue::GoOn });
        }
        POINTS.iter().for_each(|&point| stage.release(point));
        let result = thread.join().map_err(|_| Violation::new("a checkpoint panicked"))?;
        match result {
            Ok(()) if failed => {
                return Err(Violation::new("a failed checkpoint says that it did well"));
            }
            Ok(()) => self.report.checkpoints += 1,
            Err(_) if failed || cut || self.disk_is_limited => self.report.checkpoints_failed += 1,
            Err(error) => return Err(Violation(format!("a checkpoint failed: {error}"))),
        }
        if cut { self.recover() } else { Ok(()) }
    }

    pub(crate) fn unload(&mut self) -> Result<(), Violation> {
        if self.random.chance(1, 2) {
            self.checkpoint()?;
        }
        self.world.engine().unload();
        Ok(())
    }

    /// As when memory is short: some of what is clean leaves memory, or all of it.
    pub(crate) fn evict(&mut self) -> Result<(), Violation> {
        let engine = self.world.engine();
        let before = engine.eviction_stats().keys;
        match self.random.below(4) {
            0 => drop(engine.evict_clean()),
            _ => drop(engine.evict(self.random.below(4_000))),
        }
        self.report.evicted += engine.eviction_stats().keys - before;
        if self.random.chance(1, 4) {
            self.learn_cold_keys()?;
        }
        if self.random.chance(1, 2) {
            // An error of a disk that is full is none of ours.
            drop(self.world.engine().cold().collect(15));
        }
        Ok(())
    }

    /// As the server does after a start.
    fn learn_cold_keys(&mut self) -> Result<(), Violation> {
        for id in PartitionId::all() {
            let made = self.world.engine().make_cold_filters(id);
            made.map_err(|error| Violation(format!("rows could not be gone over: {error}")))?;
        }
        Ok(())
    }

    pub(crate) fn sync(&mut self) -> Result<(), Violation> {
        match self.world.engine().log().sync_all() {
            Ok(()) => {
                self.state.acknowledge();
                Ok(())
            }
            Err(_) if self.disk_is_limited => Ok(()),
            Err(error) => Err(Violation(format!("the log cannot be synced: {error}"))),
        }
    }

    /// The journal's disk gets full, or there is space again.
    pub(crate) fn limit_or_free_disk(&mut self) -> Result<(), Violation> {
        if !self.disk_is_limited {
            self.world.disk.limit_capacity(Some(self.world.disk.used_bytes()));
            self.disk_is_limited = true;
            return Ok(());
        }
        self.world.disk.limit_capacity(None);
        let start = Instant::now();
        while self.world.engine().log().admit_all(ShardSet::ALL).is_err() {
            if start.elapsed() > SPACE_NOTICED_MAX {
                return Err(Violation::new("there is space again and the log does not notice"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.disk_is_limited = false;
        Ok(())
    }

    pub(crate) fn crash(&mut self) -> Result<(), Violation> {
        self.world.cut_power(self.random.next_u64());
        self.recover()
    }

    /// An orderly end: nothing may be lost, whatever the policy.
    pub(crate) fn restart(&mut self) -> Result<(), Violation> {
        self.end_slow_read()?;
        if !self.disk_is_limited {
            self.state.acknowledge();
        }
        self.recover()
    }

    fn recover(&mut self) -> Result<(), Violation> {
        self.slow = None;
        self.disk_is_limited = false;
        self.world.bury();
        self.world.open()?;
        self.report.recoveries += 1;
        let positions = self.world.engine().log().positions();
        self.state.roll_back(&positions)?;
        match self.random.below(3) {
            0 => self.compare_everything(),
            1 => {
                self.compare_everything()?;
                // Back to a memory that has only what the log's tail brought.
                self.world.restart()?;
                Ok(())
            }
            _ => self.compare_some(),
        }
    }
}
