//! The consumers that have asked for messages of queues lately.
//!
//! They are no part of a queue: a consumer that asks and gets nothing writes nothing to the log,
//! and a restart forgets them. A partition has them under its lock, those of few queues together,
//! so they are lists that are walked.

use crate::interest::KeyId;
use std::collections::BTreeMap;

/// How long a consumer is remembered that asks no more.
const KEPT_MS: u64 = 512_000;
/// Consumers of a queue that are remembered; the one that asked longest ago gives way.
const WORKERS_MAX: usize = 1_024;
/// Queues of a partition whose consumers are remembered.
const QUEUES_MAX: usize = 1_024;

/// See the head of this file.
#[derive(Debug, Default)]
pub struct Workers {
    queues: BTreeMap<KeyId, BTreeMap<Box<[u8]>, u64>>,
}

impl Workers {
    /// A consumer of this name asks for messages of this queue.
    pub fn note(&mut self, queue: KeyId, name: &[u8], now_ms: u64) {
        if !self.queues.contains_key(&queue) && self.queues.len() >= QUEUES_MAX {
            self.forget_old(now_ms);
            if self.queues.len() >= QUEUES_MAX {
                return;
            }
        }
        let workers = self.queues.entry(queue).or_default();
        if let Some(seen_ms) = workers.get_mut(name) {
            *seen_ms = now_ms;
            return;
        }
        if workers.len() >= WORKERS_MAX {
            let oldest = workers.iter().min_by_key(|&(_, &seen_ms)| seen_ms);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.map(|name| workers.remove(&name));
        }
        workers.insert(name.into(), now_ms);
    }

    fn forget_old(&mut self, now_ms: u64) {
        self.queues.retain(|_, workers| {
            workers.retain(|_, seen_ms| is_recent(*seen_ms, now_ms));
            !workers.is_empty()
        });
    }

    /// Visits the consumers of a queue, and when they asked last.
    pub fn visit(&self, queue: KeyId, now_ms: u64, visit: &mut dyn FnMut(&[u8], u64)) {
        let workers = self.queues.get(&queue).into_iter().flatten();
        let recent = workers.filter(|&(_, &seen_ms)| is_recent(seen_ms, now_ms));
        recent.for_each(|(name, &seen_ms)| visit(name, seen_ms));
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

    #[test]
    fn those_who_ask_no_more_are_forgotten() {
        let mut workers = Workers::default();
        workers.note(QUEUE, b"a", 0);
        workers.note(QUEUE, b"b", 10);
        workers.note(QUEUE, b"a", 20);
        workers.note(KeyId { db: 1, ..QUEUE }, b"c", 20);
        assert_eq!(names(&workers, 30), [(b"a".to_vec(), 20), (b"b".to_vec(), 10)]);
        assert_eq!(names(&workers, 10 + KEPT_MS), [(b"a".to_vec(), 20)]);
    }

    #[test]
    fn consumers_and_queues_are_bounded() {
        let mut workers = Workers::default();
        for number in 0..3 * WORKERS_MAX as u64 {
            workers.note(QUEUE, &number.to_be_bytes(), number);
            workers.note(KeyId { hash: number, db: 1 }, b"a", number);
        }
        assert_eq!(names(&workers, 3 * WORKERS_MAX as u64).len(), WORKERS_MAX);
        assert_eq!(workers.queues.len(), QUEUES_MAX);
        workers.note(KeyId { hash: 1 << 40, db: 1 }, b"a", 10 * KEPT_MS);
        assert_eq!(workers.queues.len(), 1);
    }
}
