//! The consumers that have asked for messages of queues lately.
//!
//! They are no part of a queue: a consumer that asks and gets nothing writes nothing to the log,
//! and a restart forgets them. A partition has them under its lock.
//!
//! ```text
//! queues   queue ─▶ name ─▶ place in the order
//! order    (when it asked last, number) ─▶ queue, name       the first gives way
//! ```
//! Queues and names are the client's to choose, so their number is bounded for the partition as a
//! whole, and what they take counts as memory of the keyspace.

use crate::interest::KeyId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a consumer is remembered that asks no more.
const KEPT_MS: u64 = 512_000;
/// Consumers of a partition that are remembered; the one that asked longest ago gives way.
const WORKERS_MAX: usize = 1_024;
/// Consumers that are forgotten at a time, when another one comes, since they ask no more: more
/// than come, so that they become fewer.
const FORGOTTEN_AT_ONCE: usize = 2;

/// When a consumer asked last, and a number that no other one has.
type Place = (u64, u64);

/// See the head of this file.
#[derive(Debug, Default)]
pub struct Workers {
    queues: BTreeMap<KeyId, BTreeMap<Arc<[u8]>, Place>>,
    order: BTreeMap<Place, (KeyId, Arc<[u8]>)>,
    next_number: u64,
    name_bytes: usize,
}

impl Workers {
    /// A consumer of this name asks for messages of this queue.
    pub fn note(&mut self, queue: KeyId, name: &[u8], now_ms: u64) {
        if let Some(place) = self.queues.get_mut(&queue).and_then(|names| names.get_mut(name)) {
            if place.0 != now_ms
                && let Some(worker) = self.order.remove(place)
            {
                place.0 = now_ms;
                self.order.insert(*place, worker);
            }
            return;
        }
        self.forget_old(now_ms);
        let (name, place): (Arc<[u8]>, _) = (name.into(), (now_ms, self.next_number));
        self.next_number += 1;
        self.name_bytes += name.len();
        self.queues.entry(queue).or_default().insert(Arc::clone(&name), place);
        self.order.insert(place, (queue, name));
    }

    /// Makes room for one more, and forgets some that ask no more.
    fn forget_old(&mut self, now_ms: u64) {
        for _ in 0..FORGOTTEN_AT_ONCE {
            let is_full = self.order.len() >= WORKERS_MAX;
            let Some(first) = self.order.first_entry() else { return };
            if !is_full && is_recent(first.key().0, now_ms) {
                return;
            }
            let (queue, name) = first.remove();
            self.name_bytes -= name.len();
            if let Some(names) = self.queues.get_mut(&queue) {
                names.remove(&name);
                if names.is_empty() {
                    self.queues.remove(&queue);
                }
            }
        }
    }

    /// Bytes of memory that they take.
    pub fn heap_bytes(&self) -> usize {
        // Nodes of B-trees are two thirds full, about; a name has two counts beside it.
        const WORKER: usize = (2 * size_of::<(Arc<[u8]>, Place)>() + size_of::<KeyId>()) * 3 / 2
            + 2 * size_of::<usize>();
        // A queue's map has a node with room for eleven.
        const QUEUE: usize = 11 * size_of::<(Arc<[u8]>, Place)>();
        size_of::<Workers>()
            + self.order.len() * WORKER
            + self.queues.len() * QUEUE
            + self.name_bytes
    }

    /// Visits the consumers of a queue, and when they asked last.
    pub fn visit(&self, queue: KeyId, now_ms: u64, visit: &mut dyn FnMut(&[u8], u64)) {
        let workers = self.queues.get(&queue).into_iter().flatten();
        let recent = workers.filter(|&(_, &(seen_ms, _))| is_recent(seen_ms, now_ms));
        recent.for_each(|(name, &(seen_ms, _))| visit(name, seen_ms));
    }
}

fn is_recent(seen_ms: u64, now_ms: u64) -> bool {
    seen_ms.saturating_add(KEPT_MS) > now_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: KeyId = KeyId { hash: 7, db: 0 };

    fn names(workers: &Workers, now_ms: u64) -> Vec<(Vec<u8>, u64)> {
        let mut names = Vec::new();
        workers.visit(QUEUE, now_ms, &mut |name, seen_ms| names.push((name.to_vec(), seen_ms)));
        names
    }

    fn all(workers: &Workers) -> usize {
        workers.queues.values().map(BTreeMap::len).sum()
    }

    #[test]
    fn those_who_ask_no_more_are_forgotten() {
        let mut workers = Workers::default();
        workers.note(QUEUE, b"a", 0);
        workers.note(QUEUE, b"b", 10);
        workers.note(QUEUE, b"a", 20);
        workers.note(KeyId { db: 1, ..QUEUE }, b"c", 20);
        assert_eq!(names(&workers, 30), [(b"a".to_vec(), 20), (b"b".to_vec(), 10)]);
        assert_eq!(names(&workers, 10 + KEPT_MS), [(b"a".to_vec(), 20)]);
        // Others that come push them out, not only out of sight.
        workers.note(QUEUE, b"d", 10 * KEPT_MS);
        workers.note(QUEUE, b"e", 10 * KEPT_MS);
        assert_eq!((all(&workers), workers.order.len(), workers.name_bytes), (2, 2, 2));
    }

    #[test]
    #[cfg_attr(miri, ignore = "it counts all for each of thousands")]
    fn consumers_of_all_queues_together_are_bounded() {
        let mut workers = Workers::default();
        for number in 0..3 * WORKERS_MAX as u64 {
            workers.note(QUEUE, &number.to_be_bytes(), number);
            workers.note(KeyId { hash: number, db: 1 }, &[b'x'; 128], number);
            assert!(all(&workers) <= WORKERS_MAX);
        }
        assert_eq!((all(&workers), workers.order.len()), (WORKERS_MAX, WORKERS_MAX));
        // Those that asked last have stayed.
        assert_eq!(names(&workers, 3 * WORKERS_MAX as u64).len(), WORKERS_MAX / 2);
        let bytes = workers.heap_bytes();
        assert!((WORKERS_MAX / 2 * 136..WORKERS_MAX * 1_024).contains(&bytes), "{bytes}");
    }
}
