//! HOT PATH
//! Bringing what an operation will touch into the cache before it runs.
//!
//! An operation on one element of a large collection reads places of which each is found by the one
//! before: where the segment is, the segment, its tags, the member's word, the member. One after the
//! other that takes a microsecond when the collection is larger than the caches. Thirty operations that go
//! there step by step, side by side, wait little longer than one. So who has a batch takes [`Step`]s:
//! each reads what the last one fetched, and fetches what stands behind it. Nothing depends on a step
//! having been taken.

use crate::form::{Form, FormRef};
use crate::packed::Packed;
use crate::set::member::hash_item;
use crate::{Kind, ValueRef, seed};

const LINE_BYTES: usize = 64;
/// Lines of a packed collection that are fetched: a walk through more is noticed by the processor.
const PACKED_LINES_MAX: usize = 6;

/// A step on the way to an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Where its segment is noted.
    Directory,
    /// The segment.
    Segment,
    /// Its word.
    Word,
    /// The element.
    Element,
}

impl Step {
    /// All steps in their order.
    pub const ALL: [Step; 4] = [Step::Directory, Step::Segment, Step::Word, Step::Element];
}

/// Brings a cache line in.
#[inline]
pub fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no effect but on the cache, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// Brings a value in that may begin anywhere in a cache line.
#[inline]
pub(crate) fn prefetch_value<T: ?Sized>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<u8>();
    prefetch(first);
    prefetch(first.wrapping_add(size_of_val(value).saturating_sub(1).min(LINE_BYTES)));
}

/// Brings all of a value in.
#[inline]
pub(crate) fn prefetch_all<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<u8>();
    for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
        prefetch(first.wrapping_add(offset));
    }
}

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
            prefetch_value(native);
            true
        }
    }
}

impl<'a> ValueRef<'a> {
    /// Brings in what its word points to. Gives its kind if there are [`Step`]s to take to an element.
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
        };
        is_table.then_some(self.kind())
    }

    /// Takes a step to the element with this [`element_hash`].
    #[inline]
    pub fn fetch_element(self, hash: u64, step: Step) {
        match self {
            ValueRef::Set(set) => {
                if let FormRef::Native(table) = set.0.read() {
                    table.fetch(hash, step);
                }
            }
            ValueRef::Hash(hashes) => {
                if let FormRef::Native(table) = hashes.0.read() {
                    table.fetch(hash, step);
                }
            }
            ValueRef::SortedSet(set) => {
                if let FormRef::Native(native) = set.0.read() {
                    native.fetch(hash, step);
                }
            }
            ValueRef::List(_) | ValueRef::Stream(_) => {}
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
