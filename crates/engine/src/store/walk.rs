//! Walking a database: a page at a time for SCAN, whole for KEYS, one key for RANDOMKEY.
//!
//! ```text
//! cursor = partition (10 bits) | leading 54 bits of the hash where it goes on; 0 = start, end
//! ```
//! A table keeps its buckets in the order of hashes, whatever its size, so a cursor is a place
//! among hashes and needs no state here: every key that exists from the walk's first call to its
//! last is visited, however tables grow and shrink between the calls, and a key that comes or goes
//! meanwhile may or may not be. Hash bits below the leading 54 are no loss: the edges of buckets
//! have none while a partition's table has fewer than 2^22 segments.
//!
//! One partition is locked at a time, for [`BUCKETS_A_LOCK`] buckets. Where one is not wholly in
//! memory, the walk goes over its rows, too (`store/rows_walked.rs`); nothing comes into memory by
//! it. A transaction's walk needs all in memory.

use crate::engine::Engine;
use crate::residency::rows_read::{RowsWanted, WalkedRows};
use crate::store::held::Held;
use crate::store::view::{Object, live};
use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_env::random::Random;
use basalt_keyspace::entry::Entry;
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::Partition;
use basalt_keyspace::table::Table;
use basalt_stdx::short_lock::LockWait;
use basalt_value::Kind;

/// Buckets that are visited under one lock: some 2,000 keys, about 100 µs.
const BUCKETS_A_LOCK: usize = 256;
/// Picks of a random key that may turn out to have expired before one is searched for in order.
const PICKS_MAX: usize = 32;

/// Bits of a hash that a cursor leaves out.
const HASH_SHIFT: u32 = PARTITIONS.trailing_zeros();
const PARTITION_SHIFT: u32 = u64::BITS - HASH_SHIFT;

/// Where a walk goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor(u64);

/// What is walked.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// Number of the database.
    pub db: u8,
    /// Now, in unix milliseconds: keys that have expired are passed over.
    pub now_ms: u64,
    /// How long the thread waits for a partition.
    pub wait: LockWait,
}

/// After how much a step of a walk ends. The last bucket is always finished, so a step may see a
/// few keys more.
#[derive(Clone, Copy, Debug)]
pub struct WalkLimits {
    /// Keys seen, expired ones included.
    pub keys: usize,
    /// Buckets visited, which bounds the work in a large table that holds little.
    pub buckets: usize,
}

/// Why a walk has ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkEnd {
    /// It has come to a partition that is not wholly in memory, and to a place in it for which no
    /// rows have been read: have them read and ask again.
    Unread(RowsWanted),
    /// Somebody holds a partition for longer than the thread waits: ask again later.
    Held,
}

impl From<Held> for WalkEnd {
    fn from(_: Held) -> WalkEnd {
        WalkEnd::Held
    }
}

impl Cursor {
    /// Where a walk begins, and what it gives at its end.
    pub const START: Cursor = Cursor(0);

    /// The cursor that a client brought back. Any number is one.
    pub fn from_number(number: u64) -> Cursor {
        Cursor(number)
    }

    /// The number to give to a client.
    pub fn number(self) -> u64 {
        self.0
    }

    fn at(partition: PartitionId, hash: u64) -> Cursor {
        debug_assert!(hash.trailing_zeros() >= HASH_SHIFT, "the edge of a bucket is a round hash");
        Cursor(u64::from(partition.number()) << PARTITION_SHIFT | hash >> HASH_SHIFT)
    }

    fn partition(self) -> PartitionId {
        PartitionId::new((self.0 >> PARTITION_SHIFT) as u16).expect("ten bits are a partition")
    }

    fn hash(self) -> u64 {
        self.0 << HASH_SHIFT
    }

    /// Where the walk goes on after a visit that ended before hash `next`, or at the partition's
    /// end.
    fn after(self, next: Option<u64>) -> Cursor {
        let partition = self.partition();
        match next {
            Some(hash) => Cursor::at(partition, hash),
            None => PartitionId::new(partition.number() + 1)
                .map_or(Cursor::START, |following| Cursor::at(following, 0)),
        }
    }
}

impl WalkLimits {
    /// The walk goes on to the end.
    pub const NONE: WalkLimits = WalkLimits { keys: usize::MAX, buckets: usize::MAX };

    /// Whether a walk with these ends.
    pub fn are_reached(self) -> bool {
        self.keys == 0 || self.buckets == 0
    }
}

impl Engine {
    /// Visits live keys from `from` on, in memory or not, one partition's lock held. Returns where
    /// to go on, or [`Cursor::START`] at the end. `left` becomes what is left of the limits: if
    /// they are not reached, the walk ended before rows that have to be read, or before a partition
    /// that somebody holds.
    ///
    /// # Errors
    /// The same right at `from`; nothing was visited.
    pub fn walk_keys(
        &self,
        walk: Walk,
        from: Cursor,
        left: &mut WalkLimits,
        rows: &WalkedRows,
        visit: &mut dyn FnMut(&[u8], Option<Kind>),
    ) -> Result<Cursor, WalkEnd> {
        self.go_over((None, walk, from), left, |id, at, partition, left| {
            let database = partition.database(walk.db);
            if !database.is_complete() {
                let hasher = self.keyspace.hasher();
                return rows.visit((walk, id, at), partition, hasher, left, visit);
            }
            Some(visit_some(database.table(), at, left, |entry| {
                if let Some(object) = live(entry, walk.now_ms) {
                    visit(entry.key(), object.collection().map(|value| value.kind()));
                }
            }))
        })
    }

    /// A place from which a walk meets some key first that is about as likely as another; `None` if
    /// there is no key.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn random_place(&self, walk: Walk, random: &mut Random) -> Result<Option<Cursor>, Held> {
        let (mut keys_so_far, mut chosen) = (0, None);
        for id in PartitionId::all() {
            let keys =
                self.look(None, id, walk.wait, |partition| partition.database(walk.db).keys())?;
            keys_so_far += keys;
            if random.below(keys_so_far) < keys {
                chosen = Some(id);
            }
        }
        Ok(chosen.map(|id| Cursor::at(id, random.next_u64() >> HASH_SHIFT << HASH_SHIFT)))
    }

    /// Visits live keys in memory from `from` on, one partition's lock held. Returns where to go
    /// on, or [`Cursor::START`] at the end. `left` becomes what is left of the limits.
    ///
    /// # Errors
    /// The partition at `from` is not wholly in memory; nothing was visited.
    pub fn scan(
        &self,
        walk: Walk,
        from: Cursor,
        left: &mut WalkLimits,
        visit: impl FnMut(&[u8], Object<'_>),
    ) -> Result<Cursor, WalkEnd> {
        self.scan_in(None, walk, from, left, visit)
    }

    /// Goes on with a walk of [`Engine::scan`], for a caller that may hold every partition.
    pub(crate) fn scan_in(
        &self,
        held: Option<&Locked<'_>>,
        walk: Walk,
        from: Cursor,
        left: &mut WalkLimits,
        mut visit: impl FnMut(&[u8], Object<'_>),
    ) -> Result<Cursor, WalkEnd> {
        self.go_over((held, walk, from), left, |_, at, partition, left| {
            let database = partition.database(walk.db);
            database.is_complete().then(|| {
                visit_some(database.table(), at, left, |entry| {
                    if let Some(object) = live(entry, walk.now_ms) {
                        visit(entry.key(), object);
                    }
                })
            })
        })
    }

    /// Has `visit` visit some buckets of one partition after the other, until the limits are
    /// reached. It gets the hash where to begin, and returns the one where to go on (`None` at the
    /// partition's end), or that it cannot without further rows.
    fn go_over(
        &self,
        (held, walk, from): (Option<&Locked<'_>>, Walk, Cursor),
        left: &mut WalkLimits,
        mut visit: impl FnMut(PartitionId, u64, &Partition, &mut WalkLimits) -> Option<Option<u64>>,
    ) -> Result<Cursor, WalkEnd> {
        let mut at = from;
        loop {
            let (id, hash) = (at.partition(), at.hash());
            let visited =
                self.look(held, id, walk.wait, |partition| visit(id, hash, partition, left));
            let next = match visited {
                Ok(Some(next)) => next,
                // What has been visited is not visited again.
                _ if at != from => return Ok(at),
                Ok(None) => return Err(WalkEnd::Unread(RowsWanted::new(walk, id, hash, *left))),
                Err(Held) => return Err(WalkEnd::Held),
            };
            at = at.after(next);
            if at == Cursor::START || left.are_reached() {
                return Ok(at);
            }
        }
    }

    /// Some live key, each of those in memory about as likely as another; `None` if there is none.
    /// For a caller that holds every partition.
    ///
    /// # Errors
    /// No key is in memory, but some are in a partition that is not.
    pub(crate) fn random_key_in(
        &self,
        held: Option<&Locked<'_>>,
        walk: Walk,
        random: &mut Random,
    ) -> Result<Option<Vec<u8>>, WalkEnd> {
        let Some(id) = self.random_partition(held, walk, random)? else { return Ok(None) };
        let picked = self.look(held, id, walk.wait, |partition| {
            let table = partition.database(walk.db).table();
            (0..PICKS_MAX)
                .map_while(|_| table.random(random.next_u64()))
                .find(|entry| live(*entry, walk.now_ms).is_some())
                .map(|entry| entry.key().to_vec())
        });
        match picked? {
            Some(key) => Ok(Some(key)),
            None => self.first_key(held, walk),
        }
    }

    /// A partition, by its share of the keys in memory.
    fn random_partition(
        &self,
        held: Option<&Locked<'_>>,
        walk: Walk,
        random: &mut Random,
    ) -> Result<Option<PartitionId>, WalkEnd> {
        let mut keys_so_far = 0;
        let mut chosen = None;
        let mut incomplete = None;
        for id in PartitionId::all() {
            self.look(held, id, walk.wait, |partition| {
                let database = partition.database(walk.db);
                let keys = database.table().counts().live as u64;
                keys_so_far += keys;
                if random.below(keys_so_far) < keys {
                    chosen = Some(id);
                }
                if !database.is_complete() {
                    incomplete = Some(id);
                }
            })?;
        }
        match (chosen, incomplete) {
            (None, Some(id)) => {
                Err(WalkEnd::Unread(RowsWanted::new(walk, id, 0, WalkLimits::NONE)))
            }
            (chosen, _) => Ok(chosen),
        }
    }

    /// The first live key: for a database whose keys have nearly all expired.
    fn first_key(&self, held: Option<&Locked<'_>>, walk: Walk) -> Result<Option<Vec<u8>>, WalkEnd> {
        const STEP: WalkLimits = WalkLimits { keys: 256, buckets: BUCKETS_A_LOCK };
        let mut at = Cursor::START;
        loop {
            let mut first = None;
            at = self.scan_in(held, walk, at, &mut { STEP }, |key, _| {
                first.get_or_insert_with(|| key.to_vec());
            })?;
            if first.is_some() || at == Cursor::START {
                return Ok(first);
            }
        }
    }

    /// Looks at a partition: under `held`, which holds it, or under its own lock.
    ///
    /// # Errors
    /// Somebody holds it for longer than the thread waits.
    pub(crate) fn look<R>(
        &self,
        held: Option<&Locked<'_>>,
        id: PartitionId,
        wait: LockWait,
        look: impl FnOnce(&Partition) -> R,
    ) -> Result<R, Held> {
        match held {
            Some(locked) => Ok(look(locked.partition(id))),
            None => self.keyspace.with(id, wait, look).ok_or(Held),
        }
    }
}

/// Visits the entries that are not tombstones of some buckets; returns the hash where to go on.
pub(crate) fn visit_some(
    table: &Table,
    from: u64,
    left: &mut WalkLimits,
    mut visit: impl FnMut(Entry<'_>),
) -> Option<u64> {
    let mut from = from;
    for _ in 0..BUCKETS_A_LOCK {
        left.buckets = left.buckets.saturating_sub(1);
        from = table.scan(from, 1, |entry| {
            if !entry.is_tombstone() {
                left.keys = left.keys.saturating_sub(1);
                visit(entry);
            }
        })?;
        if left.are_reached() {
            break;
        }
    }
    Some(from)
}
