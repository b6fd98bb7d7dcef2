//! The slow log: the latest commands that took longer than a limit.

use parking_lot::Mutex;
use std::collections::VecDeque;

/// Arguments kept of a command; the last one kept then says how many more there were.
pub const ARGUMENTS_MAX: usize = 32;
/// Bytes kept of an argument.
pub const ARGUMENT_BYTES_MAX: usize = 128;

/// One slow command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its number, counting from 0 since the start.
    pub id: u64,
    /// When it ran, in unix seconds.
    pub unix_s: u64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// Its words, shortened.
    pub arguments: Vec<Vec<u8>>,
    /// Address of the client.
    pub client_address: String,
    /// Name of the client.
    pub client_name: Vec<u8>,
}

/// The latest slow commands.
#[derive(Debug, Default)]
pub struct SlowLog {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The latest first.
    entries: VecDeque<Entry>,
    next_id: u64,
}

impl SlowLog {
    /// Adds a command; `entry.id` is set here. Keeps at most `entries_max`.
    #[cold]
    pub fn push(&self, mut entry: Entry, entries_max: usize) {
        let mut inner = self.inner.lock();
        entry.id = inner.next_id;
        inner.next_id += 1;
        inner.entries.push_front(entry);
        inner.entries.truncate(entries_max);
    }

    /// The latest `count`, latest first.
    pub fn latest(&self, count: usize) -> Vec<Entry> {
        self.inner.lock().entries.iter().take(count).cloned().collect()
    }

    /// How many there were since the start, also those that are no longer kept.
    pub fn total(&self) -> u64 {
        self.inner.lock().next_id
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.inner.lock().entries.len()
    }

    /// None is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all.
    pub fn reset(&self) {
        self.inner.lock().entries.clear();
    }
}

/// A command's words as the slow log keeps them.
pub fn shorten<'a>(words: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let count = words.len();
    let kept = if count > ARGUMENTS_MAX { ARGUMENTS_MAX - 1 } else { count };
    let mut arguments: Vec<Vec<u8>> = words.take(kept).map(shorten_word).collect();
    if count > kept {
        arguments.push(format!("... ({} more arguments)", count - kept).into_bytes());
    }
    arguments
}

fn shorten_word(word: &[u8]) -> Vec<u8> {
    if word.len() <= ARGUMENT_BYTES_MAX {
        return word.to_vec();
    }
    let mut kept = word[..ARGUMENT_BYTES_MAX].to_vec();
    kept.extend_from_slice(
        format!("... ({} more bytes)", word.len() - ARGUMENT_BYTES_MAX).as_bytes(),
    );
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_latest_and_shortens() {
        let log = SlowLog::default();
        for duration_us in 0..5 {
            let entry = Entry {
                id: 0,
                unix_s: 0,
                duration_us,
                arguments: Vec::new(),
                client_address: String::new(),
                client_name: Vec::new(),
            };
            log.push(entry, 3);
        }
        let ids: Vec<u64> = log.latest(10).iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [4, 3, 2]);
        let long = vec![b'x'; 200];
        let words: Vec<&[u8]> = vec![&long; 40];
        let shortened = shorten(words.into_iter());
        assert_eq!(shortened.len(), 32);
        assert_eq!(shortened[31], b"... (9 more arguments)");
        assert!(shortened[0].ends_with(b"... (72 more bytes)"));
    }
}
