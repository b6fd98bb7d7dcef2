//! The model: what the engine ought to hold, as maps, and how it came about.
//!
//! A shard's history is a list of changes by position in its stream. After a crash the log says how
//! far each stream goes, and the model goes back to just there. An expired key stays in the model
//! until it is overwritten: whether the engine has already removed it is the engine's affair, but
//! it must never be seen again.

use crate::content::Content;
use crate::log::Given;
use crate::violation::Violation;
use basalt_change::place::{SHARDS, ShardId, Slot};
use basalt_change::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a key holds, as it ought to be.
#[derive(Clone, PartialEq)]
pub struct Value {
    /// What it holds. Shared: it stands in the history as often as it was put.
    pub content: Arc<Content>,
    /// Unix time in milliseconds, 0 for never.
    pub expire_ms: u64,
    /// Its key's version.
    pub version: Version,
}

impl Value {
    /// Whether it can be seen at this time.
    pub fn is_live(&self, now_ms: u64) -> bool {
        (self.expire_ms == 0 || self.expire_ms > now_ms) && self.content.is_live(now_ms)
    }

    /// The engine may hold this at this time.
    pub(crate) fn may_be(&self, there: &Value, now_ms: u64) -> bool {
        let same = |content: &Content, other: &Content| content.may_be(other, now_ms);
        self.expire_ms == there.expire_ms
            && match self.is_live(now_ms) {
                true => self.version == there.version && same(&self.content, &there.content),
                // What nobody sees may have any versions.
                false => same(&self.content.unversioned(), &there.content.unversioned()),
            }
    }

    /// The bytes of a string.
    ///
    /// # Panics
    /// If it is none.
    pub fn string(&self) -> &[u8] {
        match &*self.content {
            Content::String(bytes, _) => bytes,
            other => panic!("a string is expected, not a {other:?}"),
        }
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, until {}, {:?}", self.content, self.expire_ms, self.version)
    }
}

/// A change of one shard.
#[derive(Clone, Debug)]
pub enum Change {
    /// The key now has this value.
    Put(u8, Vec<u8>, Value),
    /// The key is gone.
    Delete(u8, Vec<u8>),
    /// The database is empty.
    Flush(u8),
    /// The databases changed places.
    Swap(u8, u8),
}

type Databases = Vec<BTreeMap<Vec<u8>, Value>>;

/// What one command did to one shard.
#[derive(Clone, Debug)]
struct Entry {
    /// Positions of the stream before and after.
    before: u64,
    after: u64,
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
struct Shard {
    base: Databases,
    now: Databases,
    history: Vec<Entry>,
    /// Everything up to this position must survive.
    durable: u64,
    last: u64,
}

/// See the head of this file.
#[derive(Clone, Debug)]
pub struct State {
    shards: Vec<Shard>,
    /// Commands over several shards: the positions before and after in each.
    atomic: Vec<Vec<(usize, u64, u64)>>,
}

impl State {
    /// An empty database.
    pub fn new(databases: u8) -> State {
        let empty = vec![BTreeMap::new(); usize::from(databases)];
        let shard =
            Shard { base: empty.clone(), now: empty, history: Vec::new(), durable: 0, last: 0 };
        State { shards: vec![shard; SHARDS], atomic: Vec::new() }
    }

    /// The value under a key, expired or not.
    pub fn value(&self, db: u8, key: &[u8]) -> Option<&Value> {
        let shard = Slot::of(key).partition().shard();
        self.shards[shard.index()].now[usize::from(db)].get(key)
    }

    /// All keys of a database, expired ones included.
    pub fn keys(&self, db: u8) -> impl Iterator<Item = (&[u8], &Value)> {
        let maps = self.shards.iter().map(move |shard| &shard.now[usize::from(db)]);
        maps.flat_map(|map| map.iter().map(|(key, value)| (key.as_slice(), value)))
    }

    /// Notes what one command has changed, and to which positions that has brought the streams.
    ///
    /// # Errors
    /// If something has changed and was not logged.
    pub fn commit(&mut self, changes: Vec<Change>, positions: &[u64]) -> Result<(), Violation> {
        let mut by_shard: BTreeMap<usize, Vec<Change>> = BTreeMap::new();
        for change in changes {
            match &change {
                Change::Put(_, key, _) | Change::Delete(_, key) => {
                    let shard = Slot::of(key).partition().shard().index();
                    by_shard.entry(shard).or_default().push(change);
                }
                Change::Flush(_) | Change::Swap(..) => {
                    for shard in ShardId::all() {
                        by_shard.entry(shard.index()).or_default().push(change.clone());
                    }
                }
            }
        }
        let mut touched = Vec::new();
        for (index, changes) in by_shard {
            let shard = &mut self.shards[index];
            let (before, after) = (shard.last, positions[index]);
            if after <= before {
                // A flush and a swap of what is empty change nothing. What has expired may have
                // gone before.
                let staying = staying(&shard.now);
                changes.iter().for_each(|change| apply(&mut shard.now, change));
                if self::staying(&shard.now) == staying {
                    continue;
                }
                return Err(Violation(format!("shard {index}: not logged: {changes:?}")));
            }
            changes.iter().for_each(|change| apply(&mut shard.now, change));
            shard.history.push(Entry { before, after, changes });
            touched.push((index, before, after));
        }
        if touched.len() > 1 {
            self.atomic.push(touched);
        }
        self.note_positions(positions);
        Ok(())
    }

    /// Time has changed what a key holds, in a way that nobody can see, and moved its version.
    ///
    /// # Errors
    /// If there is nothing that has a version and that time changes.
    pub(crate) fn move_version(&mut self, given: &Given, now_ms: u64) -> Result<(), Violation> {
        let shard = &mut self.shards[given.shard.index()];
        let aged = shard.now[usize::from(given.db)].get(&given.key).filter(|value| {
            value.is_live(now_ms) && !value.version.is_none() && value.content.has_aged(now_ms)
        });
        let Some(value) = aged else {
            return Err(Violation(format!("time has changed nothing: {given:?}")));
        };
        let value = Value { version: given.version, ..value.clone() };
        let change = Change::Put(given.db, given.key.clone(), value);
        apply(&mut shard.now, &change);
        // Of what else time has done between, nothing stands here: it begins where it ends.
        let (before, after) = (given.position, given.position);
        shard.history.push(Entry { before, after, changes: vec![change] });
        Ok(())
    }

    /// The streams have come to these positions by changes that nobody can see.
    pub fn note_positions(&mut self, positions: &[u64]) {
        for (shard, &position) in self.shards.iter_mut().zip(positions) {
            shard.last = position;
        }
    }

    /// Everything up to here must survive.
    pub fn acknowledge(&mut self) {
        self.shards.iter_mut().for_each(|shard| shard.durable = shard.last);
    }

    /// Goes back to where the log ends after a crash.
    ///
    /// # Errors
    /// If the log ends too early, too late, or within a command.
    pub fn roll_back(&mut self, positions: &[u64]) -> Result<(), Violation> {
        for (index, (shard, &position)) in self.shards.iter_mut().zip(positions).enumerate() {
            let (durable, last) = (shard.durable, shard.last);
            if position < durable || position > last {
                let text = format!(
                    "shard {index} ends at {position} but {durable} were acknowledged of {last}"
                );
                return Err(Violation(text));
            }
            shard
                .roll_back(position)
                .map_err(|error| Violation(format!("shard {index}: {error}")))?;
        }
        for command in std::mem::take(&mut self.atomic) {
            let there =
                command.iter().filter(|&&(index, _, after)| after <= positions[index]).count();
            if there != 0 && there != command.len() {
                return Err(Violation(format!("half of a command survived: {command:?}")));
            }
        }
        Ok(())
    }
}

impl Shard {
    fn roll_back(&mut self, position: u64) -> Result<(), String> {
        for entry in self.history.drain(..) {
            if entry.after <= position {
                entry.changes.iter().for_each(|change| apply(&mut self.base, change));
            } else if entry.before < position {
                return Err(format!("position {position} is within a command: {entry:?}"));
            }
        }
        self.now = self.base.clone();
        self.durable = position;
        self.last = position;
        Ok(())
    }
}

/// The keys of each database that never expire.
fn staying(databases: &Databases) -> Vec<Vec<Vec<u8>>> {
    let stays = |value: &Value| value.is_live(u64::MAX);
    let keys = |database: &BTreeMap<Vec<u8>, Value>| {
        database.iter().filter(|(_, value)| stays(value)).map(|(key, _)| key.clone()).collect()
    };
    databases.iter().map(keys).collect()
}

fn apply(databases: &mut Databases, change: &Change) {
    match change {
        Change::Put(db, key, value) => {
            databases[usize::from(*db)].insert(key.clone(), value.clone());
        }
        Change::Delete(db, key) => {
            databases[usize::from(*db)].remove(key);
        }
        Change::Flush(db) => databases[usize::from(*db)].clear(),
        Change::Swap(db, other) => databases.swap(usize::from(*db), usize::from(*other)),
    }
}
