//! HOT PATH
//! A member of a native set: a number in place, or a string of its own. 16 bytes either way.

use crate::item::Item;
use crate::seed::hash_member;

/// A member, or another item that outlives the collection that it is from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member {
    /// It spells this number.
    Number(i64),
    /// It spells no number.
    Bytes(Box<[u8]>),
}

const _: () = assert!(size_of::<Member>() == 16, "the string's address tells the two apart");

impl Member {
    #[inline]
    pub(crate) fn of(item: Item<'_>) -> Member {
        match item {
            Item::Number(number) => Member::Number(number),
            Item::Bytes(bytes) => Member::Bytes(bytes.into()),
        }
    }

    /// As an item.
    #[inline]
    pub fn item(&self) -> Item<'_> {
        match self {
            Member::Number(number) => Item::Number(*number),
            Member::Bytes(bytes) => Item::Bytes(bytes),
        }
    }

    /// Bytes that it takes beside its 16, as the allocator rounds them.
    #[inline]
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Member::Number(_) => 0,
            Member::Bytes(bytes) => bytes.len().next_multiple_of(16).max(8),
        }
    }

    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        hash_item(self.item())
    }
}

/// The hash of a member.
#[inline]
pub(crate) fn hash_item(item: Item<'_>) -> u64 {
    match item {
        Item::Number(number) => hash_member(&number.to_le_bytes()),
        Item::Bytes(bytes) => hash_member(bytes),
    }
}
