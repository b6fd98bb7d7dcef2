//! A log in memory: it acknowledges at once and keeps its records, so that a test can replay them.

use basalt_change::op;
use basalt_change::place::{SHARDS, ShardId, ShardSet};
use basalt_engine::{CommitLog, Fate, Gate, LogError, Refusal, Ticket};
use basalt_stdx::lent::{LentBytes, Parts};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A record with its shard and its position in the shard's stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    pub shard: ShardId,
    pub position: u64,
    pub bytes: Vec<u8>,
}

/// The log.
pub struct MemoryLog {
    state: Mutex<State>,
    /// The last one: one for each change, however many are in a record.
    tickets: AtomicU64,
    /// Atomic or not.
    appends: AtomicU64,
    /// Tickets up to this one are acknowledged; all of them while replies are not gated.
    acknowledged: AtomicU64,
    gates_replies: AtomicBool,
    /// Why changes are refused, and of which shards.
    refusal: Mutex<Option<(Refusal, ShardSet)>>,
    fails_syncs: AtomicBool,
}

struct State {
    positions: Vec<u64>,
    records: Vec<Record>,
    keeps_records: bool,
    /// How many bytes [`CommitLog::append_all`] was given, and lent.
    copied_bytes: usize,
    lent_bytes: usize,
    /// What it was lent and has not given back, if it is slow to do so.
    unreturned: Option<Vec<LentBytes>>,
}

impl MemoryLog {
    /// A log whose streams go on after these positions.
    pub fn new(floor: &[u64]) -> MemoryLog {
        assert_eq!(floor.len(), SHARDS);
        let state = State {
            positions: floor.to_vec(),
            records: Vec::new(),
            keeps_records: true,
            copied_bytes: 0,
            lent_bytes: 0,
            unreturned: None,
        };
        MemoryLog {
            state: Mutex::new(state),
            tickets: AtomicU64::new(0),
            appends: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            gates_replies: AtomicBool::new(false),
            refusal: Mutex::new(None),
            fails_syncs: AtomicBool::new(false),
        }
    }

    /// Everything appended so far, oldest first.
    pub fn records(&self) -> Vec<Record> {
        self.state.lock().records.clone()
    }

    /// Takes out everything appended so far, oldest first.
    #[allow(dead_code, reason = "not every user of this file looks at records")]
    pub fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut self.state.lock().records)
    }

    /// Takes out everything appended so far, change by change. How many stand in a record is not
    /// told.
    #[allow(dead_code, reason = "not every user of this file looks at changes")]
    pub fn take_changes(&self) -> Vec<String> {
        let mut changes = Vec::new();
        for record in self.take_records() {
            let (scope, ops) = op::decode(&record.bytes).expect("a record");
            let change = |op| format!("{:?} {scope:?} {op:?}", record.shard);
            changes.extend(ops.map(|op| change(op.expect("a change"))));
        }
        changes
    }

    /// Takes over records that another log held.
    pub fn restore(&self, records: &[Record]) {
        let mut state = self.state.lock();
        for record in records {
            let position = &mut state.positions[record.shard.index()];
            *position = (*position).max(record.position);
        }
        state.records.extend_from_slice(records);
    }

    /// From here on forgets what is appended.
    #[allow(dead_code, reason = "only measurements need it")]
    pub fn forget_records(&self) {
        let mut state = self.state.lock();
        state.keeps_records = false;
        state.records = Vec::new();
    }

    /// How many bytes were copied into it, and lent to it, since the last call, by appends of
    /// several records or of lent strings.
    #[allow(dead_code, reason = "not every user of this file has long strings")]
    pub fn take_bytes(&self) -> (usize, usize) {
        let mut state = self.state.lock();
        (std::mem::take(&mut state.copied_bytes), std::mem::take(&mut state.lent_bytes))
    }

    /// From here on keeps what it is lent, as if it could not be written yet.
    #[allow(dead_code, reason = "not every user of this file has long strings")]
    pub fn keep_what_is_lent(&self) {
        self.state.lock().unreturned = Some(Vec::new());
    }

    /// How many appends there were, those of several records counted once.
    #[allow(dead_code, reason = "not every user of this file counts")]
    pub fn appends(&self) -> u64 {
        self.appends.load(Ordering::Relaxed)
    }

    /// From here on acknowledges nothing.
    pub fn stop_acknowledging(&self) {
        self.acknowledged.store(self.tickets.load(Ordering::Relaxed), Ordering::Relaxed);
        self.gates_replies.store(true, Ordering::Relaxed);
    }

    /// From here on has replies wait, and acknowledges everything at once.
    #[allow(dead_code, reason = "not every user of this file has canaries")]
    pub fn acknowledge_early(&self) {
        self.acknowledged.store(u64::MAX, Ordering::Relaxed);
        self.gates_replies.store(true, Ordering::Relaxed);
    }

    /// Acknowledges what was appended so far.
    #[allow(dead_code, reason = "not every user of this file holds replies back")]
    pub fn acknowledge(&self) {
        self.acknowledged.fetch_max(self.tickets.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// From here on cannot be synced, or can again.
    #[allow(dead_code, reason = "not every user of this file takes checkpoints")]
    pub fn fail_syncs(&self, fails: bool) {
        self.fails_syncs.store(fails, Ordering::Relaxed);
    }

    /// From here on refuses changes, or takes them again.
    pub fn refuse(&self, refusal: Option<Refusal>) {
        *self.refusal.lock() = refusal.map(|refusal| (refusal, ShardSet::ALL));
    }

    /// From here on refuses changes of these shards, and of no others.
    #[allow(dead_code, reason = "not every user of this file looks at shards")]
    pub fn refuse_shards(&self, refusal: Refusal, shards: ShardSet) {
        *self.refusal.lock() = Some((refusal, shards));
    }

    /// That of an append of this many changes.
    fn ticket(&self, changes: u64) -> Ticket {
        self.appends.fetch_add(1, Ordering::Relaxed);
        let before = self.tickets.fetch_add(changes, Ordering::Relaxed);
        Ticket { stream: 0, position: before + changes }
    }
}

impl State {
    /// How many changes are in a record; those that are forgotten are not counted.
    fn changes_in(&self, record: impl FnOnce() -> Vec<u8>) -> u64 {
        if !self.keeps_records {
            return 1;
        }
        op::decode(&record()).map_or(1, |(_, changes)| changes.count() as u64)
    }

    fn append(&mut self, shard: ShardId, record: &[u8]) -> u64 {
        let position = &mut self.positions[shard.index()];
        *position += 1;
        let position = *position;
        if self.keeps_records {
            self.records.push(Record { shard, position, bytes: record.to_vec() });
        }
        position
    }

    /// Appends one of several records, or one that is lent something.
    fn append_parts(&mut self, shard: ShardId, record: Parts<'_>) -> u64 {
        self.copied_bytes += record.copied.len();
        self.lent_bytes += record.len() - record.copied.len();
        if let Some(unreturned) = &mut self.unreturned {
            unreturned.extend(record.lent.cloned());
        }
        if self.keeps_records {
            self.append(shard, &record.to_vec())
        } else {
            self.append(shard, record.copied)
        }
    }
}

impl CommitLog for MemoryLog {
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket) {
        let mut state = self.state.lock();
        (state.append(shard, record), self.ticket(state.changes_in(|| record.to_vec())))
    }

    fn append_all(&self, records: &[(ShardId, Parts<'_>)], appended: &mut Vec<(u64, Ticket)>) {
        let mut state = self.state.lock();
        let changes = records.iter().map(|(_, record)| state.changes_in(|| record.to_vec())).sum();
        let ticket = self.ticket(changes);
        let append =
            |&(shard, record): &(ShardId, Parts<'_>)| (state.append_parts(shard, record), ticket);
        appended.extend(records.iter().map(append));
    }

    fn gates_replies(&self) -> bool {
        self.gates_replies.load(Ordering::Relaxed)
    }

    fn ticket_stream(&self, _: ShardId) -> u16 {
        0
    }

    fn fate(&self, ticket: Ticket) -> Fate {
        let is_acknowledged = ticket.position <= self.acknowledged.load(Ordering::Relaxed);
        if is_acknowledged || !self.gates_replies() { Fate::Acknowledged } else { Fate::Pending }
    }

    fn latest(&self, _: ShardSet, gate: &mut Gate) {
        gate.add(Ticket { stream: 0, position: self.tickets.load(Ordering::Relaxed) });
    }

    fn admit(&self, shard: ShardId) -> Result<(), Refusal> {
        match &*self.refusal.lock() {
            Some((refusal, shards)) if shards.contains(shard) => Err(refusal.clone()),
            _ => Ok(()),
        }
    }

    fn admitting(&self) -> ShardSet {
        match &*self.refusal.lock() {
            Some((_, shards)) => ShardId::all().filter(|&shard| !shards.contains(shard)).collect(),
            None => ShardSet::ALL,
        }
    }

    fn admit_removal(&self, shard: ShardId) -> Result<(), Refusal> {
        match self.admit(shard) {
            Err(Refusal::DiskFull) => Ok(()),
            admitted => admitted,
        }
    }

    fn kick(&self) {}

    fn subscribe(&self, _: Arc<dyn Fn() + Send + Sync>) {}

    fn sync(&self, _: &[(ShardId, u64)]) -> Result<(), LogError> {
        if self.fails_syncs.load(Ordering::Relaxed) {
            return Err(LogError("it cannot be synced".to_owned()));
        }
        Ok(())
    }

    fn positions(&self) -> Vec<u64> {
        self.state.lock().positions.clone()
    }

    fn trim(&self, through: &[u64]) {
        self.state.lock().records.retain(|record| record.position > through[record.shard.index()]);
    }

    fn bytes_to_replay(&self) -> u64 {
        self.state.lock().records.iter().map(|record| record.bytes.len() as u64).sum()
    }
}
