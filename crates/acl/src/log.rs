//! ACL LOG: the latest denials.

use std::collections::VecDeque;

/// Bytes of an object or of a user's name that an entry keeps; Redis keeps all of them, so that a
/// client can fill its memory with keys that it may not use.
pub const OBJECT_BYTES_MAX: usize = 1024;

/// Denials that are alike and lie this close together share an entry.
const GROUPING_MS_MAX: u64 = 60_000;
/// Entries among which one that is alike is looked for.
const GROUPING_ENTRIES: usize = 10;

/// What was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A command.
    Command,
    /// A key.
    Key,
    /// A channel.
    Channel,
    /// Logging in.
    Auth,
}

impl Reason {
    /// The word in ACL LOG.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Command => "command",
            Reason::Key => "key",
            Reason::Channel => "channel",
            Reason::Auth => "auth",
        }
    }
}

/// Where it was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// To a client.
    TopLevel,
    /// Between MULTI and EXEC, or by EXEC.
    Multi,
    /// To a script.
    Lua,
}

impl Context {
    /// The word in ACL LOG.
    pub fn word(self) -> &'static str {
        match self {
            Context::TopLevel => "toplevel",
            Context::Multi => "multi",
            Context::Lua => "lua",
        }
    }
}

/// A denial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// What kind of thing was denied.
    pub reason: Reason,
    /// Where.
    pub context: Context,
    /// What: the name of the command, the key, the channel; for a login, the command.
    pub object: Vec<u8>,
    /// To whom.
    pub username: Vec<u8>,
    /// The client, as CLIENT LIST shows it.
    pub client: String,
    /// When, in unix milliseconds.
    pub now_ms: u64,
}

/// Denials that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The latest of them.
    pub latest: Occurrence,
    /// How many there were.
    pub count: u64,
    /// Its number since the start, from 0.
    pub id: u64,
    /// When the first was, in unix milliseconds.
    pub created_ms: u64,
}

/// The latest denials, the newest first.
#[derive(Debug, Default)]
pub struct AclLog {
    entries: VecDeque<LogEntry>,
    next_id: u64,
}

impl AclLog {
    /// Notes a denial and keeps at most `entries_max` entries.
    pub fn add(&mut self, mut occurrence: Occurrence, entries_max: usize) {
        occurrence.object.truncate(OBJECT_BYTES_MAX);
        occurrence.username.truncate(OBJECT_BYTES_MAX);
        let is_alike = |entry: &LogEntry| {
            let (one, other) = (&entry.latest, &occurrence);
            (one.reason, one.context) == (other.reason, other.context)
                && one.object == other.object
                && one.username == other.username
                && other.now_ms.saturating_sub(one.now_ms) <= GROUPING_MS_MAX
        };
        match self.entries.iter().take(GROUPING_ENTRIES).position(is_alike) {
            Some(at) => {
                if let Some(mut entry) = self.entries.remove(at) {
                    entry.latest = occurrence;
                    entry.count += 1;
                    self.entries.push_front(entry);
                }
            }
            None => {
                let (id, created_ms) = (self.next_id, occurrence.now_ms);
                self.next_id += 1;
                self.entries.push_front(LogEntry { latest: occurrence, count: 1, id, created_ms });
            }
        }
        self.entries.truncate(entries_max);
    }

    /// The newest entries, at most `count`.
    pub fn latest(&self, count: usize) -> Vec<LogEntry> {
        self.entries.iter().take(count).cloned().collect()
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial(object: &str, now_ms: u64) -> Occurrence {
        Occurrence {
            reason: Reason::Key,
            context: Context::TopLevel,
            object: object.as_bytes().to_vec(),
            username: b"alice".to_vec(),
            client: String::new(),
            now_ms,
        }
    }

    #[test]
    fn what_is_alike_and_close_shares_an_entry_that_comes_first() {
        let mut log = AclLog::default();
        log.add(denial("a", 1000), 10);
        log.add(denial("b", 1001), 10);
        log.add(denial("a", 61_000), 10);
        log.add(denial("b", 61_002), 10);
        let seen: Vec<_> = log
            .latest(10)
            .iter()
            .map(|it| (it.latest.object.clone(), it.count, it.id, it.created_ms))
            .collect();
        let expected = [
            (b"b".to_vec(), 1, 2, 61_002),
            (b"a".to_vec(), 2, 0, 1000),
            (b"b".to_vec(), 1, 1, 1001),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn it_keeps_as_much_as_it_may() {
        let mut log = AclLog::default();
        for number in 0..20 {
            log.add(denial(&number.to_string(), 1), 3);
        }
        assert_eq!(log.latest(10).len(), 3);
        assert_eq!(log.latest(2).len(), 2);
        log.add(denial(&"x".repeat(5000), 1), 3);
        assert_eq!(log.latest(1)[0].latest.object.len(), OBJECT_BYTES_MAX);
        log.add(denial("y", 1), 0);
        assert!(log.latest(10).is_empty());
    }
}
