//! A value, apart from any encoding and from how it is stored.
//!
//! Strings are borrowed from the payload where it has them as they are, and owned where they were
//! compressed or numbers. Command code borrows likewise from what it stores, so that `DUMP` copies
//! every byte once.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A string of a payload.
pub type Bytes<'a> = Cow<'a, [u8]>;

/// The largest expiry of a hash field, a unix time in milliseconds: 48 bits, as in Redis 7.4.
pub const EXPIRE_MS_MAX: u64 = 0xffff_ffff_ffff;

/// The most bytes that the names and values of a stream's entry may have together, for a node must
/// hold them: what Redis lets `XADD` take. Four times as many could not be encoded.
pub const STREAM_ENTRY_BYTES_MAX: usize = 1 << 30;

/// A value of any type.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload<'a> {
    /// A string.
    String(Bytes<'a>),
    /// A list, first element first; never empty.
    List(Vec<Bytes<'a>>),
    /// A set: no member twice, never empty; the order means nothing.
    Set(Vec<Bytes<'a>>),
    /// A sorted set: no member twice, never empty, no score that is not a number. Decoded ones are
    /// in order, by score, then by member.
    SortedSet(Vec<(Bytes<'a>, f64)>),
    /// A hash: no field twice, never empty; the order means nothing.
    Hash(Vec<Field<'a>>),
    /// A stream, which may be empty.
    Stream(Stream<'a>),
}

/// One field of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name.
    pub name: Bytes<'a>,
    /// Its value.
    pub value: Bytes<'a>,
    /// When it expires, as a unix time in milliseconds from 1 to [`EXPIRE_MS_MAX`]; it may have
    /// passed.
    pub expire_ms: Option<u64>,
}

/// The identity of a stream's entry. The first of all is `0-0`, which no entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct StreamId {
    /// Unix time in milliseconds, by custom.
    pub ms: u64,
    /// Number within the millisecond.
    pub sequence: u64,
}

/// A stream. The first identity that Redis writes into payloads is that of the first entry and not
/// kept apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stream<'a> {
    /// The entries that are not deleted, ascending.
    pub entries: Vec<StreamEntry<'a>>,
    /// The last identity given, not below that of any entry.
    pub last_id: StreamId,
    /// The highest identity of a deleted entry, `0-0` if there is none.
    pub max_deleted_id: StreamId,
    /// How many entries were ever added.
    pub entries_added: u64,
    /// The consumer groups: no name twice; the order means nothing.
    pub groups: Vec<Group<'a>>,
}

/// One entry of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEntry<'a> {
    /// Its identity.
    pub id: StreamId,
    /// Names and values in their order, at least one pair and at most [`STREAM_ENTRY_BYTES_MAX`]; a
    /// name may stand there twice.
    pub fields: Vec<(Bytes<'a>, Bytes<'a>)>,
}

/// A consumer group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group<'a> {
    /// Its name.
    pub name: Bytes<'a>,
    /// The last identity delivered.
    pub last_id: StreamId,
    /// How many entries were delivered, if that is known.
    pub entries_read: Option<u64>,
    /// Its consumers: no name twice; the order means nothing. The group's pending entries are
    /// theirs together, and no entry is pending for two of them.
    pub consumers: Vec<Consumer<'a>>,
}

/// A consumer of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer<'a> {
    /// Its name.
    pub name: Bytes<'a>,
    /// When it last tried anything, as a unix time in milliseconds.
    pub seen_ms: u64,
    /// When it last got anything; `None` if never. Redis below 7.2 does not tell: then it is
    /// `seen_ms`. It is not encoded.
    pub active_ms: Option<u64>,
    /// What it has not acknowledged, ascending.
    pub pending: Vec<Pending>,
}

/// An entry that was delivered and not acknowledged. The entry itself may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The entry's identity.
    pub id: StreamId,
    /// When it was last delivered, as a unix time in milliseconds.
    pub delivered_ms: u64,
    /// How often it was delivered.
    pub deliveries: u64,
}

impl Payload<'_> {
    /// This value with copies of all that was borrowed.
    pub fn into_owned(self) -> Payload<'static> {
        match self {
            Payload::String(value) => Payload::String(owned(value)),
            Payload::List(elements) => Payload::List(elements.into_iter().map(owned).collect()),
            Payload::Set(members) => Payload::Set(members.into_iter().map(owned).collect()),
            Payload::SortedSet(members) => {
                let members = members.into_iter().map(|(member, score)| (owned(member), score));
                Payload::SortedSet(members.collect())
            }
            Payload::Hash(fields) => {
                Payload::Hash(fields.into_iter().map(Field::into_owned).collect())
            }
            Payload::Stream(stream) => Payload::Stream(stream.into_owned()),
        }
    }

    /// Puts everything whose order means nothing in ascending order, so that equal values are equal
    /// payloads.
    pub fn sort(&mut self) {
        match self {
            Payload::String(_) | Payload::List(_) => {}
            Payload::Set(members) => members.sort_unstable(),
            Payload::SortedSet(members) => sort_by_score(members),
            Payload::Hash(fields) => fields.sort_unstable_by(|a, b| a.name.cmp(&b.name)),
            Payload::Stream(stream) => {
                stream.groups.sort_unstable_by(|a, b| a.name.cmp(&b.name));
                for group in &mut stream.groups {
                    group.consumers.sort_unstable_by(|a, b| a.name.cmp(&b.name));
                }
            }
        }
    }
}

impl Field<'_> {
    fn into_owned(self) -> Field<'static> {
        Field { name: owned(self.name), value: owned(self.value), expire_ms: self.expire_ms }
    }
}

impl Stream<'_> {
    fn into_owned(self) -> Stream<'static> {
        Stream {
            entries: self.entries.into_iter().map(StreamEntry::into_owned).collect(),
            last_id: self.last_id,
            max_deleted_id: self.max_deleted_id,
            entries_added: self.entries_added,
            groups: self.groups.into_iter().map(Group::into_owned).collect(),
        }
    }
}

impl StreamEntry<'_> {
    pub(crate) fn into_owned(self) -> StreamEntry<'static> {
        let fields = self.fields.into_iter().map(|(name, value)| (owned(name), owned(value)));
        StreamEntry { id: self.id, fields: fields.collect() }
    }
}

impl Group<'_> {
    fn into_owned(self) -> Group<'static> {
        let consumers = self.consumers.into_iter().map(|consumer| Consumer {
            name: owned(consumer.name),
            seen_ms: consumer.seen_ms,
            active_ms: consumer.active_ms,
            pending: consumer.pending,
        });
        Group {
            name: owned(self.name),
            last_id: self.last_id,
            entries_read: self.entries_read,
            consumers: consumers.collect(),
        }
    }
}

pub(crate) fn owned(bytes: Bytes<'_>) -> Bytes<'static> {
    Cow::Owned(bytes.into_owned())
}

/// The order of a sorted set.
pub(crate) fn by_score(a: &(Bytes<'_>, f64), b: &(Bytes<'_>, f64)) -> Ordering {
    // Scores are numbers, so they compare; 0 and -0 are equal to Redis, too.
    a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal).then_with(|| a.0.cmp(&b.0))
}

pub(crate) fn sort_by_score(members: &mut [(Bytes<'_>, f64)]) {
    members.sort_unstable_by(by_score);
}
