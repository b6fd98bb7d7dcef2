//! HOT PATH
//! Bringing what an operation will touch into the cache before it runs.
//!
//! An operation on one element of a large collection reads places of which each is found by the one
//! before: where the segment is, the segment, its tags, the member's word, the member. One after
//! the other that takes a microsecond when the collection is larger than the caches. Thirty
//! operations that go there step by step, side by side, wait little longer than one. So a
//! batch takes [`Step`]s: each reads what the last one fetched, and says what is to be fetched
//! next. Nothing depends on a step having been taken.
//!
//! Most of the wait is for the page to be found in which something stands, and a fetch goes no
//! further before it is. So all addresses of a step are found first, and then fetched in a loop of
//! nothing else.

pub(crate) mod lines;
pub(crate) mod step;

pub use lines::prefetch_small;
pub use step::{Step, Way};

use crate::form::{Form, FormRef};
use crate::kind::Kind;
use crate::packed::Packed;
use crate::seed;
use crate::set::member::hash_item;
use crate::value::ValueRef;
use basalt_stdx::prefetch::{LINE_BYTES, prefetch};

/// Lines of a packed collection that are fetched: a walk through more is noticed by the processor.
const PACKED_LINES_MAX: usize = 6;

/// Brings the front of a packed collection in; nothing of it is read.
#[inline]
fn prefetch_packed(packed: &Packed) {
    let first = packed.address();
    for line in 0..PACKED_LINES_MAX {
        prefetch(first.wrapping_add(line * LINE_BYTES));
    }
}

/// Brings in what the word of a collection points to.
#[inline]
fn prefetch_form<N>(form: &Form<N>) -> bool {
    match form.read() {
        FormRef::Packed(packed) => {
            prefetch_packed(packed);
            false
        }
        FormRef::Native(native) => {
            prefetch_small(std::ptr::from_ref(native).cast());
            true
        }
    }
}

impl<'a> ValueRef<'a> {
    /// Brings in what its word points to. Returns its kind if there are [`Step`]s to take to an
    /// element.
    #[inline]
    pub fn fetch(self) -> Option<Kind> {
        let is_table = match self {
            ValueRef::Set(set) => prefetch_form(&set.0),
            ValueRef::Hash(hash) => prefetch_form(&hash.0),
            ValueRef::SortedSet(set) => prefetch_form(&set.0),
            ValueRef::List(list) => {
                prefetch_form(&list.0);
                false
            }
            ValueRef::Stream(stream) => {
                prefetch_form(&stream.0);
                false
            }
            ValueRef::Queue(queue) => {
                prefetch_form(&queue.0);
                false
            }
        };
        is_table.then_some(self.kind())
    }

    /// What a step would fetch is in the cache anyway, as a rule: it is small, and every element's
    /// way leads there.
    #[inline]
    pub fn is_near(self, step: Step) -> bool {
        const ELEMENTS_MAX: usize = 1 << 20;
        matches!(step, Step::Directory | Step::Segment) && self.len() <= ELEMENTS_MAX
    }

    /// Passes what a step on a way fetches to `fetch`, which may be nothing. A place in an order
    /// becomes a hash, once the element has been fetched.
    #[inline]
    pub fn ahead(self, way: &mut Way, step: Step, fetch: &mut impl FnMut(*const u8)) {
        match self {
            ValueRef::Set(set) => match (set.0.read(), *way) {
                (FormRef::Native(table), Way::Hash(hash)) => {
                    table.ahead(hash, step).into_iter().for_each(fetch);
                }
                (FormRef::Native(table), Way::Random(random)) => {
                    table.ahead_random(random, step, fetch);
                }
                _ => {}
            },
            ValueRef::Hash(fields) => {
                if let (FormRef::Native(table), Way::Hash(hash)) = (fields.0.read(), *way) {
                    table.ahead(hash, step).into_iter().for_each(fetch);
                }
            }
            ValueRef::SortedSet(set) => {
                if let FormRef::Native(native) = set.0.read() {
                    native.ahead(way, step).into_iter().for_each(fetch);
                }
            }
            ValueRef::List(_) | ValueRef::Stream(_) | ValueRef::Queue(_) => {}
        }
    }
}

/// The hash by which collections of a kind find an element.
#[inline]
pub fn element_hash(kind: Kind, element: &[u8]) -> u64 {
    match kind {
        Kind::SortedSet => seed::hash_member(element),
        _ => hash_item(crate::item::Item::of(element)),
    }
}
