//! Rows whose place on disk is known are read by one thread, many at a time.
//!
//! ```text
//! keys of the queue ▸ located ▸ under way ▸ the record ▸ resident ▸ their commands
//!        └─ not located ──┐         └─ failed, or not what was looked for ─┐
//!                         └───────────────────▸ left to the pool ◂─────────┘
//! ```
//! It waits for nothing but its reads: what may take longer, such as a partition that a script
//! holds, is left to the pool, and so is whatever goes wrong, which the pool tries again and tells.

use crate::engine::Engine;
use crate::residency::miss::install;
use crate::residency::queue::{KEYS_A_UNIT, Miss};
use crate::residency::rows::LoadedRow;
use basalt_cold::RowPlace;
use basalt_env::{Instant, ReadRing};
use basalt_stdx::short_lock::LockWait;

/// Bytes that are under way: what would be more is left to the pool.
const BYTES_MAX: usize = 4 << 20;
/// Rows that are longer are left to the pool: to decode one takes as long as many others.
const ROW_BYTES_MAX: usize = 256 << 10;

/// See the head of this file.
pub(crate) struct RingReader<'engine> {
    engine: &'engine Engine,
    ring: Box<dyn ReadRing>,
    /// By the ring's numbers.
    under_way: Box<[Option<Read>]>,
    count: usize,
    bytes: usize,
    /// Of one turn, kept for their memory.
    read: Vec<Miss>,
    durations: Vec<u64>,
}

/// A read that is under way.
struct Read {
    miss: Miss,
    place: RowPlace,
    since: Instant,
}

/// What a turn of the ring has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turned {
    GoesOn,
    /// The engine stops, and nothing is left to be read.
    Ended,
    /// The system does not go on with reads.
    Failed,
}

impl Engine {
    /// The thread of the ring. Returns when the engine stops, after answering what is queued; or at
    /// once if there is none.
    pub(crate) fn run_ring_thread(&self) {
        let Some(mut reader) = RingReader::open(self) else { return };
        self.misses.work.lock().ring = Some(reader.ring.waker());
        let end = loop {
            match reader.turn() {
                Turned::GoesOn => {}
                end => break end,
            }
        };
        if end == Turned::Failed {
            tracing::error!("the ring that reads values has failed; threads read them from now on");
        }
        self.misses.work.lock().ring = None;
        reader.leave_all();
        drop(reader);
        self.misses.added.notify_all();
        // The pool may have ended by now.
        while self.is_stopping() && self.answer_next_miss() {}
    }

    /// A ring reads rows.
    pub fn has_ring(&self) -> bool {
        self.misses.work.lock().ring.is_some()
    }
}

impl<'engine> RingReader<'engine> {
    /// Opens a ring, if there is to be one and can be.
    pub(crate) fn open(engine: &'engine Engine) -> Option<RingReader<'engine>> {
        let depth = match engine.options.miss_ring_depth {
            0 => return None,
            // Keys are taken by the unit.
            depth => depth.max(KEYS_A_UNIT),
        };
        match engine.cold.read_ring(depth) {
            Ok(ring) => Some(RingReader {
                engine,
                ring,
                under_way: std::iter::repeat_with(|| None).take(depth).collect(),
                count: 0,
                bytes: 0,
                read: Vec::new(),
                durations: Vec::new(),
            }),
            Err(error) => {
                tracing::info!(%error, "no io_uring: threads read keys that are not in memory");
                None
            }
        }
    }

    /// Begins reads, waits for some and has their commands go on.
    pub(crate) fn turn(&mut self) -> Turned {
        if !self.begin_all() {
            return Turned::Ended;
        }
        let RingReader { engine, ring, under_way, count, bytes: all_bytes, read, durations } = self;
        let waited = ring.wait(&mut |number, bytes| {
            let Some(Read { miss, place, since }) = under_way[number].take() else { return };
            *count -= 1;
            *all_bytes -= place.read.bytes;
            if bytes.is_ok_and(|bytes| engine.adopt(&miss, &place, bytes)) {
                durations.push(engine.env.clock.since(since).as_nanos() as u64);
                read.push(miss);
            } else {
                engine.misses.leave(vec![miss]);
            }
        });
        if !read.is_empty() {
            engine.misses.finish_keys(read, &Ok(()));
            engine.misses.note_durations(durations);
            read.clear();
            durations.clear();
        }
        if waited.is_ok() { Turned::GoesOn } else { Turned::Failed }
    }

    /// Begins to read what there is room for; returns false if there is nothing and never will be.
    fn begin_all(&mut self) -> bool {
        let mut work = self.engine.misses.work.lock();
        work.ring_waits = false;
        while self.ring.room() >= KEYS_A_UNIT {
            let Some(keys) = work.take_keys() else {
                if self.count == 0 && self.engine.is_stopping() {
                    return false;
                }
                work.ring_waits = true;
                break;
            };
            drop(work);
            let left: Vec<Miss> = keys.into_iter().filter_map(|miss| self.begin(miss)).collect();
            if !left.is_empty() {
                self.engine.misses.leave(left);
            }
            work = self.engine.misses.work.lock();
        }
        true
    }

    /// Begins to read a key's row; returns the key if it cannot.
    fn begin(&mut self, miss: Miss) -> Option<Miss> {
        let place = self.engine.cold.locate(&miss.row_key);
        let fits = |bytes| bytes <= ROW_BYTES_MAX && self.bytes + bytes <= BYTES_MAX;
        let Some(place) = place.filter(|place| fits(place.read.bytes)) else { return Some(miss) };
        let Some(number) = self.ring.push(&place.read) else { return Some(miss) };
        let since = self.engine.env.clock.now();
        self.count += 1;
        self.bytes += place.read.bytes;
        self.under_way[number] = Some(Read { miss, place, since });
        None
    }

    /// Leaves what is under way to the pool.
    fn leave_all(&mut self) {
        for read in self.under_way.iter_mut().filter_map(Option::take) {
            self.engine.misses.leave(vec![read.miss]);
        }
    }
}

impl Engine {
    /// Makes a key resident whose row was read; returns false if that is left to the pool.
    fn adopt(&self, miss: &Miss, place: &RowPlace, bytes: &[u8]) -> bool {
        let Some(row) = self.cold.row_at(&miss.row_key, place, bytes) else { return false };
        let Ok(Some(row)) = LoadedRow::decode(&row, &self.limits()) else { return false };
        let Some(mut locked) = self.keyspace.lock_within(miss.partition, LockWait::Brief) else {
            return false;
        };
        let partition = locked.partition_mut(miss.partition);
        install(partition, miss, Some(row), self.access_now());
        if partition.database(miss.db).may_expire() {
            self.note_expiring(miss.db);
        }
        true
    }
}
