//! What a key holds, as the standard library would hold it.

use crate::choice::CROWD;
use crate::edit::hash::PlainHash;
use crate::edit::list::PlainList;
use crate::edit::queue::PlainQueue;
use crate::edit::set::PlainSet;
use crate::edit::sorted_set::PlainSortedSet;
use crate::edit::stream::PlainStream;
use crate::edit::{hash, list, queue, set, sorted_set, stream};
use basalt_change::op::StringForm;
use basalt_engine::Object;
use basalt_value::{Kind, ValueRef};

/// Elements that are shown of a collection.
const SHOWN_MAX: usize = 4;

/// What a key holds.
#[derive(Clone, PartialEq)]
pub enum Content {
    /// A string, set whole or edited.
    String(Vec<u8>, StringForm),
    /// A list.
    List(PlainList),
    /// A set.
    Set(PlainSet),
    /// A sorted set.
    SortedSet(PlainSortedSet),
    /// A hash, with fields that have expired.
    Hash(PlainHash),
    /// A stream.
    Stream(PlainStream),
    /// A queue, in which time may have done its work or not.
    Queue(PlainQueue),
}

impl Content {
    /// Nothing yet, of this kind.
    pub fn new(kind: Kind) -> Content {
        match kind {
            Kind::List => Content::List(PlainList::default()),
            Kind::Set => Content::Set(PlainSet::default()),
            Kind::SortedSet => Content::SortedSet(PlainSortedSet::default()),
            Kind::Hash => Content::Hash(PlainHash::default()),
            Kind::Stream => Content::Stream(PlainStream::default()),
            Kind::Queue => Content::Queue(PlainQueue::default()),
        }
    }

    /// What an object of the engine holds.
    pub(crate) fn of(object: Object<'_>) -> Content {
        match object.collection() {
            None => {
                let string = object.string().expect("an object is a collection or a string");
                Content::String(string.bytes().to_vec(), object.form())
            }
            Some(ValueRef::List(it)) => Content::List(list::plain(it)),
            Some(ValueRef::Set(it)) => Content::Set(set::plain(it)),
            Some(ValueRef::SortedSet(it)) => Content::SortedSet(sorted_set::plain(it)),
            Some(ValueRef::Hash(it)) => Content::Hash(hash::plain(it)),
            Some(ValueRef::Stream(it)) => Content::Stream(stream::plain(it)),
            Some(ValueRef::Queue(it)) => Content::Queue(queue::plain(it)),
        }
    }

    /// Its kind, if it is a collection.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Content::String(..) => None,
            Content::List(_) => Some(Kind::List),
            Content::Set(_) => Some(Kind::Set),
            Content::SortedSet(_) => Some(Kind::SortedSet),
            Content::Hash(_) => Some(Kind::Hash),
            Content::Stream(_) => Some(Kind::Stream),
            Content::Queue(_) => Some(Kind::Queue),
        }
    }

    /// Bytes or elements.
    pub fn len(&self) -> usize {
        match self {
            Content::String(bytes, _) => bytes.len(),
            Content::List(it) => it.len(),
            Content::Set(it) => it.len(),
            Content::SortedSet(it) => it.len(),
            Content::Hash(it) => it.len(),
            Content::Stream(it) => it.entries.len(),
            Content::Queue(it) => it.messages.len(),
        }
    }

    /// Elements have versions that nobody has removed because they had expired.
    pub(crate) fn has_versions(&self, now_ms: u64) -> bool {
        match self {
            Content::Set(it) => it.values().any(|&version| version != 0),
            Content::SortedSet(it) => it.iter().any(|&(_, _, version)| version != 0),
            Content::Hash(it) => {
                it.values().any(|field| field.version != 0 && field.is_live(now_ms))
            }
            _ => false,
        }
    }

    /// The versions of its elements, 0 for none, to be changed; always in the same order.
    pub(crate) fn versions_mut(&mut self) -> Vec<(&[u8], &mut u64)> {
        match self {
            Content::Set(it) => it.iter_mut().map(|(name, version)| (&name[..], version)).collect(),
            Content::SortedSet(it) => {
                it.iter_mut().map(|(_, name, version)| (&name[..], version)).collect()
            }
            Content::Hash(it) => {
                it.iter_mut().map(|(name, field)| (&name[..], &mut field.version)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A copy of which no element has a version.
    pub(crate) fn unversioned(&self) -> Content {
        let mut content = self.clone();
        content.versions_mut().into_iter().for_each(|(_, version)| *version = 0);
        content
    }

    /// It has nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// It is a collection that takes long to build: it shall be changed all the more.
    pub(crate) fn is_crowd(&self) -> bool {
        self.kind().is_some() && self.len() as u64 >= CROWD
    }

    /// A key that should hold this is not there: a collection that is empty, unless it is a stream
    /// or a queue.
    pub(crate) fn is_gone(&self) -> bool {
        let stays = matches!(self, Content::String(..) | Content::Stream(_) | Content::Queue(_));
        self.is_empty() && !stays
    }

    /// It is not a hash of which all fields have expired.
    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        match self {
            Content::Hash(fields) => fields.values().any(|field| field.is_live(now_ms)),
            _ => true,
        }
    }

    /// Time has done something to it, which the engine may have noted by a change: a field of a
    /// hash has expired, or a message of a queue has, or has come back.
    pub(crate) fn has_aged(&self, now_ms: u64) -> bool {
        match self {
            Content::Hash(fields) => fields.values().any(|field| !field.is_live(now_ms)),
            Content::Queue(queue) => queue.passed(now_ms) != *queue,
            _ => false,
        }
    }

    /// The engine may hold this. Of fields that have expired it may have removed some, which is its
    /// own affair, but it must not have others.
    pub(crate) fn may_be(&self, there: &Content, now_ms: u64) -> bool {
        match (self, there) {
            (Content::Hash(wanted), Content::Hash(there)) => {
                let is_kept = |name| there.contains_key(name);
                let mut live = wanted.iter().filter(|(_, field)| field.is_live(now_ms));
                there.iter().all(|(name, field)| wanted.get(name) == Some(field))
                    && live.all(|(name, _)| is_kept(name))
            }
            // Whether time has been made to do its work is the engine's affair, too.
            (Content::Queue(wanted), Content::Queue(there)) => {
                wanted.passed(now_ms) == there.passed(now_ms)
            }
            _ => self == there,
        }
    }
}

/// Short: values may have thousands of bytes.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let len = self.len();
        match self {
            Content::String(bytes, form) => {
                let start = &bytes[..len.min(SHOWN_MAX)];
                write!(f, "{start:02x?}… of {len} bytes, {form:?}")
            }
            Content::List(it) => write!(f, "list of {len}, {:?}…", start(it.iter())),
            Content::Set(it) => write!(f, "set of {len}, {:?}…", start(it.iter())),
            Content::SortedSet(it) => write!(f, "sorted set of {len}, {:?}…", start(it.iter())),
            Content::Hash(it) => write!(f, "hash of {len}, {:?}…", start(it.iter())),
            Content::Queue(it) => write!(f, "queue of {len}, {:?}…", start(it.messages.iter())),
            Content::Stream(it) => {
                write!(f, "stream of {len} up to {:?}, {:?}…", it.last_id, it.groups)
            }
        }
    }
}

fn start<T>(elements: impl Iterator<Item = T>) -> Vec<T> {
    elements.take(SHOWN_MAX).collect()
}
