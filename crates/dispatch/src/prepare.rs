//! HOT PATH
//! What is found out about a request before the batch runs.

use super::dispatcher::Dispatcher;
use super::long::is_large;
use basalt_call::calls::{Call, Commands};
use basalt_change::place::PartitionId;
use basalt_engine::Engine;
use basalt_resp::{Arg, Front};
use basalt_service::collection_target::CollectionTarget;
use basalt_service::prepared::Prepared;
use basalt_spec::{CommandId, Found};
use std::ops::Range;

/// A request of a batch.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'a> {
    /// What has been found out about it.
    pub(super) prepared: &'a Prepared,
    /// Where its words are.
    pub(super) buffer: &'a [u8],
    /// Its words.
    pub(super) words: &'a [Arg],
}

/// What a thread found out last: pipelines repeat themselves, and comparing a name is a fifth of
/// finding its command, comparing a key a fifth of hashing it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    name: Option<ShortName>,
    id: Option<CommandId>,
    /// What requests of the same command begin with, if it has come twice in a row.
    front: Front,
    front_id: Option<CommandId>,
    key: LastKey,
}

/// The key that was hashed last.
#[derive(Clone, Copy, Debug)]
struct LastKey {
    /// Where it is, in the buffer of the next request, too; [`NO_KEY`] if it is not.
    word: Arg,
    end: u32,
    hash: u64,
    partition: PartitionId,
}

/// A word of a length that none has.
const NO_KEY: Arg = Arg { start: 0, len: usize::MAX };

/// The last four bytes of a key; 0 if it has fewer.
#[inline(always)]
fn end_of(key: &[u8]) -> u32 {
    key.last_chunk().map_or(0, |end| u32::from_le_bytes(*end))
}

/// A name of 1 to 16 bytes, packed so that two of them are compared without a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ShortName {
    len: usize,
    /// The first four bytes and the last four, of more than eight the first eight and the last
    /// eight, which may overlap; of up to three the first, the middle and the last.
    bytes: [u64; 2],
}

impl ShortName {
    #[inline]
    fn new(name: &[u8]) -> Option<ShortName> {
        let len = name.len();
        let bytes = match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) if len <= 8 => {
                [u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()]
            }
            (None, None) if len > 0 => {
                let byte = |index: usize| u64::from(name[index]);
                [byte(0) | byte(len / 2) << 8 | byte(len - 1) << 16, 0]
            }
            _ if len <= 16 => {
                [u64::from_le_bytes(*name.first_chunk()?), u64::from_le_bytes(*name.last_chunk()?)]
            }
            _ => return None,
        };
        Some(ShortName { len, bytes })
    }
}

impl Default for Last {
    fn default() -> Last {
        let (front, front_id) = (Front::default(), None);
        Last { name: None, id: None, front, front_id, key: LastKey::default() }
    }
}

impl Default for LastKey {
    fn default() -> LastKey {
        LastKey { word: NO_KEY, end: 0, hash: 0, partition: PartitionId::default() }
    }
}

impl LastKey {
    /// Whether this is the key. Keys of one shape differ at their ends, so most are told apart
    /// without a look at the other.
    #[inline(always)]
    fn is(&self, key: &[u8], buffer: &[u8]) -> bool {
        self.word.len == key.len() && self.end == end_of(key) && self.word.of(buffer) == key
    }

    /// Hashes a key; returns true if it is the one before once more.
    #[inline(always)]
    fn hash(&mut self, engine: &Engine, word: Arg, buffer: &[u8]) -> bool {
        let bytes = word.of(buffer);
        let repeats = self.is(bytes, buffer);
        if !repeats {
            let key = engine.key(bytes);
            let (hash, partition) = (key.hash, key.partition);
            *self = LastKey { word, end: end_of(bytes), hash, partition };
        }
        repeats
    }
}

impl Last {
    /// Forgets the key: what comes next stands in another buffer, or another batch.
    #[inline]
    pub(super) fn forget_key(&mut self) {
        self.key.word = NO_KEY;
    }

    /// What requests of the same command begin with.
    #[inline]
    pub(super) fn front(&self) -> &Front {
        &self.front
    }

    /// The command of requests that begin with [`Last::front`].
    #[inline]
    pub(super) fn command_again(&self) -> Option<CommandId> {
        self.front_id
    }

    /// The command of the request at `start`.
    #[inline]
    pub(super) fn command(
        &mut self,
        server: &Dispatcher,
        buffer: &[u8],
        start: usize,
        words: &[Arg],
    ) -> Option<CommandId> {
        let name = words[0].of(buffer);
        let short = ShortName::new(name);
        if self.id.is_some() && short == self.name {
            (self.front, self.front_id) = (Front::of(buffer, start, words), self.id);
            return self.id;
        }
        let second = words.get(1).map(|word| word.of(buffer));
        self.look_up(&server.commands, name, short, second)
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

/// How requests of one command are prepared.
#[derive(Clone, Copy)]
pub(super) struct Preparing<'a> {
    engine: &'a Engine,
    /// The word that is the first key; 0 if it has none.
    first_key: usize,
    /// The command, if its words say where its keys are.
    by_words: Option<&'a Call>,
    target: CollectionTarget,
}

impl<'a> Preparing<'a> {
    /// For this command.
    #[inline(always)]
    pub(super) fn new(server: &'a Dispatcher, command: Option<CommandId>) -> Preparing<'a> {
        let engine = &*server.engine;
        let call = command.map(|id| server.commands.call(id));
        let (first_key, target) = match call {
            Some(call) => (usize::from(call.first_key), call.target),
            None => (0, CollectionTarget::Nothing),
        };
        let by_words = call.filter(|call| call.has_key_by_words);
        Preparing { engine, first_key, by_words, target }
    }

    /// The command works on a collection, of which something may be prefetched.
    #[inline]
    pub(super) fn prefetches_collection(&self) -> bool {
        self.target != CollectionTarget::Nothing
    }

    /// Hashes the first key of a request. `last` has forgotten its key unless it is of the same
    /// buffer and the same batch.
    #[inline(always)]
    pub(super) fn prepare(
        &self,
        last: &mut Last,
        prepared: &mut Prepared,
        buffer: &[u8],
        words: &[Arg],
    ) {
        if self.first_key > 0
            && let Some(&key) = words.get(self.first_key)
        {
            prepared.key = key;
            self.hash_short(&mut last.key, prepared, buffer);
        } else if let Some(call) = self.by_words {
            self.prepare_by_words(call, last, prepared, (buffer, words));
        }
    }

    /// Hashes the key of a request that has one key behind a word of its own, or the first of those
    /// that it has counted. Of several behind a word nothing is known.
    #[inline(never)]
    fn prepare_by_words(
        &self,
        call: &Call,
        last: &mut Last,
        prepared: &mut Prepared,
        (buffer, words): (&[u8], &[Arg]),
    ) {
        let position = call.position_by_words(words, buffer);
        if position > 0 {
            prepared.key = words[position];
            self.hash_short(&mut last.key, prepared, buffer);
        }
    }

    /// Hashes a key unless that takes long: then the request runs apart, and hashes it there.
    #[inline(always)]
    fn hash_short(&self, last: &mut LastKey, prepared: &mut Prepared, buffer: &[u8]) {
        if !is_large(prepared.key.len) {
            self.hash(last, prepared, buffer);
        }
    }

    /// Prepares requests of which the word behind the name is known and none is long
    /// ([`basalt_resp::Repeats`]); `words` are those of the whole batch.
    #[inline(always)]
    pub(super) fn prepare_all<'r>(
        &self,
        last: &mut Last,
        requests: impl Iterator<Item = (&'r mut Prepared, Range<usize>)>,
        buffer: &[u8],
        words: &[Arg],
    ) {
        if self.first_key == 1 {
            // Of its own, so that it need not be written with each request.
            let mut key = last.key;
            for (prepared, range) in requests {
                if range.len() > 1 {
                    self.hash(&mut key, prepared, buffer);
                }
            }
            last.key = key;
        } else if self.first_key > 0 || self.by_words.is_some() {
            for (prepared, range) in requests {
                self.prepare(last, prepared, buffer, &words[range]);
            }
        }
    }

    #[inline(always)]
    fn hash(&self, last: &mut LastKey, prepared: &mut Prepared, buffer: &[u8]) {
        prepared.repeats = last.hash(self.engine, prepared.key, buffer);
        (prepared.hash, prepared.partition) = (last.hash, Some(last.partition));
        if self.target != CollectionTarget::Nothing {
            prepared.target = self.target;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LastKey, NO_KEY, ShortName};
    use basalt_resp::Arg;

    #[test]
    fn short_names_are_equal_only_if_their_bytes_are() {
        let names =
            ["a", "ab", "abc", "abd", "aac", "abcd", "abcde", "abcdefgh", "abcdefgg", "Abc"];
        let long = ["sismember", "sismembes", "zrangebyscore", "zrangebylcore", "zrevrangebyscore"];
        let names: Vec<&str> = names.into_iter().chain(long).collect();
        for one in &names {
            for other in &names {
                let same = ShortName::new(one.as_bytes()) == ShortName::new(other.as_bytes());
                assert_eq!(same, one == other, "{one} {other}");
            }
        }
        assert_eq!(ShortName::new(b""), None);
        assert_eq!(ShortName::new(&[b'a'; 17]), None);
    }

    #[test]
    fn a_key_repeats_only_if_all_of_its_bytes_do() {
        let keys =
            ["", "a", "b", "abc", "abd", "1234", "a1234", "b1234", "ab12345678", "bb12345678"];
        let buffer = keys.concat();
        let mut start = 0;
        let words = keys.map(|key| {
            start += key.len();
            Arg { start: start - key.len(), len: key.len() }
        });
        let mut last = LastKey::default();
        assert_eq!(last.word, NO_KEY);
        for one in words {
            (last.word, last.end) = (one, super::end_of(one.of(buffer.as_bytes())));
            for other in words {
                let (bytes, same) = (other.of(buffer.as_bytes()), one == other);
                assert_eq!(last.is(bytes, buffer.as_bytes()), same, "{one:?} {other:?}");
            }
            last.word = NO_KEY;
            assert!(!last.is(one.of(buffer.as_bytes()), buffer.as_bytes()));
        }
    }
}
