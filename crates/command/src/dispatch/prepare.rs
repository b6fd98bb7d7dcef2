//! HOT PATH
//! What is found out about a request before the batch runs.

use crate::commands::Commands;
use crate::server::Server;
use basalt_change::place::PartitionId;
use basalt_engine::Engine;
use basalt_resp::Arg;
use basalt_spec::{CommandId, Found};
use basalt_value::sorted_set::Direction;

/// A request whose command has been found.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    pub(super) command: Option<CommandId>,
    /// Of its first key.
    pub(super) hash: u64,
    /// Of its first key, if it has one.
    pub(super) partition: Option<PartitionId>,
    /// The database that was selected when it was parsed; good enough to fetch ahead.
    pub(super) db: u8,
    /// What of a collection is fetched ahead.
    pub(super) ahead: Ahead,
}

/// What of a collection a command will touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Ahead {
    /// It works on no collection.
    #[default]
    Nothing,
    /// The collection under the key that is this word.
    Collection { key: u8 },
    /// The same, and in it the element that is this word; if options stand before it, another word,
    /// which is looked for in vain.
    Element { key: u8, element: u8 },
    /// The collection and, if no word follows, the element that [`crate::draws::draw`] chooses.
    Random { key: u8 },
    /// The collection and, if no word follows, its first element in this direction, which goes.
    End { key: u8, direction: Direction },
}

/// The command that a thread looked up last: pipelines repeat themselves, and comparing a name is a
/// fifth of finding it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastCommand {
    name: Option<ShortName>,
    id: Option<CommandId>,
}

/// A name of 1 to 8 bytes, packed so that two of them are compared without a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ShortName {
    len: usize,
    /// The first four bytes and the last four, which overlap if there are fewer than eight; of a
    /// name of up to three bytes the first, the middle and the last.
    bytes: u64,
}

impl ShortName {
    #[inline]
    fn new(name: &[u8]) -> Option<ShortName> {
        let len = name.len();
        let bytes = match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) if len <= 8 => {
                u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
            }
            (None, None) if len > 0 => {
                let byte = |index: usize| u64::from(name[index]);
                byte(0) | byte(len / 2) << 8 | byte(len - 1) << 16
            }
            _ => return None,
        };
        Some(ShortName { len, bytes })
    }
}

impl LastCommand {
    #[inline]
    fn find(&mut self, commands: &Commands, buffer: &[u8], words: &[Arg]) -> Option<CommandId> {
        let name = words[0].of(buffer);
        let short = ShortName::new(name);
        if self.id.is_some() && short == self.name {
            return self.id;
        }
        self.look_up(commands, name, short, words.get(1).map(|word| word.of(buffer)))
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        commands: &Commands,
        name: &[u8],
        short: Option<ShortName>,
        second: Option<&[u8]>,
    ) -> Option<CommandId> {
        let Found::Command(command) = commands.table.resolve(name, second) else { return None };
        // A container's meaning depends on the second word, so it is looked up every time.
        let alone = command.container.is_none() && command.subcommands.is_empty();
        self.id = (alone && short.is_some()).then_some(command.id);
        self.name = short;
        Some(command.id)
    }
}

impl Prepared {
    /// There is something of a collection to be fetched ahead.
    #[inline]
    pub fn looks_ahead(&self) -> bool {
        self.ahead != Ahead::Nothing
    }
}

/// Finds a request's command and hashes its first key.
#[inline(always)]
pub fn prepare(
    server: &Server,
    last: &mut LastCommand,
    db: u8,
    buffer: &[u8],
    words: &[Arg],
) -> Prepared {
    let Server { commands, engine, .. } = server;
    let command = last.find(commands, buffer, words);
    let (first, ahead) = match command.map(|id| commands.call(id)) {
        Some(call) => (usize::from(call.first_key), call.ahead),
        None => (0, Ahead::Nothing),
    };
    match words.get(first) {
        Some(word) if first > 0 => {
            let key = engine.key(word.of(buffer));
            Prepared { command, hash: key.hash, partition: Some(key.partition), db, ahead }
        }
        _ => Prepared { command, hash: 0, partition: None, db, ahead: Ahead::Nothing },
    }
}

impl Prepared {
    /// Brings the bucket of the first key into the cache.
    #[inline]
    pub fn prefetch_bucket(&self, engine: &Engine) {
        if let Some(partition) = self.partition {
            engine.prefetch_bucket(self.db, self.hash, partition);
        }
    }

    /// Brings the entry of the first key into the cache.
    #[inline]
    pub fn prefetch_entry(&self, engine: &Engine) {
        if let Some(partition) = self.partition {
            engine.prefetch_entry(self.db, self.hash, partition);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ShortName;

    #[test]
    fn short_names_are_equal_only_if_their_bytes_are() {
        let names =
            ["a", "ab", "abc", "abd", "aac", "abcd", "abcde", "abcdefgh", "abcdefgg", "Abc"];
        for one in names {
            for other in names {
                let same = ShortName::new(one.as_bytes()) == ShortName::new(other.as_bytes());
                assert_eq!(same, one == other, "{one} {other}");
            }
        }
        assert_eq!(ShortName::new(b""), None);
        assert_eq!(ShortName::new(b"abcdefghi"), None);
    }
}
