//! Changes of collections, made to the engine's and to the plain ones alike.
//!
//! A change is chosen without looking at the collection: it says "the seventh element" and means it
//! modulo the length. Nothing in it depends on the order of a hash table or on which expired fields
//! are still there.

pub(crate) mod hash;
pub(crate) mod list;
pub(crate) mod queue;
pub(crate) mod set;
pub(crate) mod sorted_set;
mod spelled;
pub(crate) mod stream;
pub(crate) mod version;

use crate::content::Content;
use basalt_engine::{Absent, Key, Txn};
use basalt_env::random::Random;
use basalt_value::hash::Terms;
use basalt_value::{Edits, Hash, Kind, List, Queue, Set, SortedSet, Stream, Value};

/// A change of a collection.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    List(list::Edit),
    Set(set::Edit),
    SortedSet(sorted_set::Edit),
    Hash(hash::Edit),
    Stream(stream::Edit),
    Queue(queue::Edit),
}

impl Edit {
    pub(crate) fn choose(kind: Kind, random: &mut Random) -> Edit {
        match kind {
            Kind::List => Edit::List(list::Edit::choose(random)),
            Kind::Set => Edit::Set(set::Edit::choose(random)),
            Kind::SortedSet => Edit::SortedSet(sorted_set::Edit::choose(random)),
            Kind::Hash => Edit::Hash(hash::Edit::choose(random)),
            Kind::Stream => Edit::Stream(stream::Edit::choose(random)),
            Kind::Queue => Edit::Queue(queue::Edit::choose(random)),
        }
    }

    /// One that needs no version: for a collection that is made before it has a key.
    pub(crate) fn choose_plain(kind: Kind, random: &mut Random) -> Edit {
        loop {
            let edit = Edit::choose(kind, random);
            if !edit.has_versions() {
                return edit;
            }
        }
    }

    /// It sees to it that an element has a version.
    fn has_versions(&self) -> bool {
        match self {
            Edit::Set(it) => matches!(it, set::Edit::Give(..)),
            Edit::SortedSet(it) => matches!(it, sorted_set::Edit::Give(..)),
            Edit::Hash(it) => matches!(it, hash::Edit::Give(..)),
            Edit::List(_) | Edit::Stream(_) | Edit::Queue(_) => false,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Edit::List(_) => Kind::List,
            Edit::Set(_) => Kind::Set,
            Edit::SortedSet(_) => Kind::SortedSet,
            Edit::Hash(_) => Kind::Hash,
            Edit::Stream(_) => Kind::Stream,
            Edit::Queue(_) => Kind::Queue,
        }
    }

    /// Changes what is under a key, unless it is of another kind.
    pub(crate) fn change(&self, txn: &mut Txn<'_>, key: &Key<'_>, absent: Absent) {
        let terms = Terms { now_ms: txn.now_ms(), limits: txn.limits() };
        // Of another kind, or not there and not to be made: nothing is to happen.
        let _ = match self {
            Edit::Set(it) if self.has_versions() => {
                txn.edit_versioned::<Set, _>(key, absent, |set, edits| {
                    it.change(set, &terms, edits)
                })
            }
            Edit::SortedSet(it) if self.has_versions() => {
                txn.edit_versioned::<SortedSet, _>(key, absent, |set, edits| {
                    it.change(set, &terms, edits);
                })
            }
            Edit::Hash(it) if self.has_versions() => {
                txn.edit_versioned::<Hash, _>(key, absent, |hash, edits| {
                    it.change(hash, &terms, edits);
                })
            }
            Edit::List(it) => {
                txn.edit::<List, _>(key, absent, |list, edits| it.change(list, &terms, edits))
            }
            Edit::Set(it) => {
                txn.edit::<Set, _>(key, absent, |set, edits| it.change(set, &terms, edits))
            }
            Edit::SortedSet(it) => {
                txn.edit::<SortedSet, _>(key, absent, |set, edits| it.change(set, &terms, edits))
            }
            Edit::Hash(it) => {
                txn.edit::<Hash, _>(key, absent, |hash, edits| it.change(hash, &terms, edits))
            }
            Edit::Stream(it) => {
                txn.edit::<Stream, _>(key, absent, |stream, edits| it.change(stream, &terms, edits))
            }
            Edit::Queue(it) => txn.edit::<Queue, _>(key, absent, |queue, edits| {
                it.change(queue, terms.now_ms, edits);
            }),
        };
    }

    /// Changes a collection of its kind that is not under a key yet.
    fn build(&self, value: &mut Value, terms: &Terms) {
        let edits = &mut Edits::none();
        match (self, value) {
            (Edit::List(it), Value::List(list)) => it.change(list, terms, edits),
            (Edit::Set(it), Value::Set(set)) => it.change(set, terms, edits),
            (Edit::SortedSet(it), Value::SortedSet(set)) => it.change(set, terms, edits),
            (Edit::Hash(it), Value::Hash(hash)) => it.change(hash, terms, edits),
            (Edit::Stream(it), Value::Stream(stream)) => it.change(stream, terms, edits),
            (Edit::Queue(it), Value::Queue(queue)) => it.change(queue, terms.now_ms, edits),
            _ => unreachable!("the value was made for these edits"),
        }
    }

    /// Does the same to a plain collection of its kind.
    pub(crate) fn imitate(&self, content: &mut Content, now_ms: u64) {
        match (self, content) {
            (Edit::List(it), Content::List(list)) => it.imitate(list),
            (Edit::Set(it), Content::Set(set)) => it.imitate(set),
            (Edit::SortedSet(it), Content::SortedSet(set)) => it.imitate(set),
            (Edit::Hash(it), Content::Hash(hash)) => it.imitate(hash, now_ms),
            (Edit::Stream(it), Content::Stream(stream)) => it.imitate(stream, now_ms),
            (Edit::Queue(it), Content::Queue(queue)) => it.imitate(queue, now_ms),
            _ => unreachable!("asked for its kind before"),
        }
    }
}

/// The collection that edits of one kind make of nothing.
pub(crate) fn built(edits: &[Edit], terms: &Terms) -> Value {
    let mut value = Value::new(edits[0].kind());
    edits.iter().for_each(|edit| edit.build(&mut value, terms));
    value
}

/// What the edits make, in plain maps.
pub(crate) fn imitated(edits: &[Edit], now_ms: u64) -> Content {
    let mut content = Content::new(edits[0].kind());
    edits.iter().for_each(|edit| edit.imitate(&mut content, now_ms));
    content
}
