//! HOT PATH
//! Reading an entry.

use super::access::Access;
use super::equal::equal;
use super::layout::{
    APART, EDITED, EXPIRY, HEADER_BYTES, LONG_KEY, STRING, TOMBSTONE, TYPE_MASK, VERSIONED,
};
use super::string::{SharedValue, StringValue};
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_value::{Kind, ValueRef};
use std::ptr::NonNull;

/// An entry that cannot change while this reference lives.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    base: NonNull<u8>,
    guard: std::marker::PhantomData<&'a u8>,
}

/// What an entry holds.
#[derive(Clone, Copy)]
pub enum EntryValue<'a> {
    /// A string.
    String(StringValue<'a>),
    /// A collection.
    Collection(ValueRef<'a>),
}

impl<'a> Entry<'a> {
    /// The one at this address, which is alive and does not change during `'a`.
    #[inline]
    pub(super) fn at(base: NonNull<u8>) -> Entry<'a> {
        Entry { base, guard: std::marker::PhantomData }
    }

    #[inline]
    pub(super) fn kind(self) -> u8 {
        // SAFETY: an `Entry` is alive, says who made it.
        unsafe { self.base.as_ptr().read() }
    }

    #[inline]
    pub(super) fn value_field_bytes(self) -> usize {
        // SAFETY: as above; the field is aligned to 2.
        usize::from(u16::from_le(unsafe { self.base.as_ptr().add(2).cast::<u16>().read() }))
    }

    #[inline]
    pub(super) fn key_offset_and_bytes(self) -> (usize, usize) {
        let kind = self.kind();
        let word_bytes = usize::from(kind & APART) >> 3;
        let expiry_bytes = usize::from(kind & EXPIRY) >> 1;
        let offset = HEADER_BYTES + word_bytes + expiry_bytes;
        if kind & LONG_KEY == 0 {
            // SAFETY: inside the header.
            (offset, usize::from(unsafe { self.base.as_ptr().add(1).read() }))
        } else {
            // SAFETY: LONG_KEY says that eight bytes of length stand here.
            let bytes = unsafe { self.base.as_ptr().add(offset).cast::<u64>().read() };
            (offset + 8, bytes as usize)
        }
    }

    /// Bytes that were allocated for the entry, before rounding.
    #[inline]
    pub fn bytes(self) -> usize {
        self.version_offset() + usize::from(self.kind() & VERSIONED)
    }

    /// Where the version stands if there is one: behind the value.
    #[inline]
    fn version_offset(self) -> usize {
        let (offset, key_bytes) = self.key_offset_and_bytes();
        offset + key_bytes + self.value_field_bytes()
    }

    pub(super) fn version_ptr(self) -> *mut Version {
        // SAFETY: inside the entry, or just behind it if there is no version.
        unsafe { self.base.as_ptr().add(self.version_offset()).cast() }
    }

    /// The key has a version.
    #[inline]
    pub fn is_versioned(self) -> bool {
        self.kind() & VERSIONED != 0
    }

    /// The version of the key.
    #[inline]
    pub fn version(self) -> Version {
        if !self.is_versioned() {
            return Version::NONE;
        }
        // SAFETY: VERSIONED says that it stands there.
        unsafe { self.version_ptr().read_unaligned() }
    }

    /// The key.
    #[inline]
    pub fn key(self) -> &'a [u8] {
        let (offset, bytes) = self.key_offset_and_bytes();
        // SAFETY: the key stands there and does not change during 'a.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(offset), bytes) }
    }

    /// Whether the key is this one: what `key() == key` says, without a call.
    #[inline]
    pub fn has_key(self, key: &[u8]) -> bool {
        let (offset, bytes) = self.key_offset_and_bytes();
        // SAFETY: a key of that length stands there.
        bytes == key.len() && unsafe { equal(self.base.as_ptr().add(offset), key) }
    }

    #[inline]
    pub(super) fn value_ptr(self) -> *mut u8 {
        let (offset, bytes) = self.key_offset_and_bytes();
        // SAFETY: the value stands behind the key.
        unsafe { self.base.as_ptr().add(offset + bytes) }
    }

    #[inline]
    pub(super) fn expiry_offset(self) -> usize {
        HEADER_BYTES + (usize::from(self.kind() & APART) >> 3)
    }

    /// Where the word stands, if APART is set.
    #[inline]
    pub(super) fn word_ptr(self) -> *mut u8 {
        // SAFETY: inside the entry, which has a key or more behind its header.
        unsafe { self.base.as_ptr().add(HEADER_BYTES) }
    }

    /// The word. APART is set.
    #[inline]
    pub(super) fn word(self) -> NonNull<u8> {
        debug_assert!(self.kind() & APART != 0);
        // SAFETY: only called when APART is set: an address stands there, which is not null.
        unsafe { NonNull::new_unchecked(self.word_ptr().cast::<*mut u8>().read()) }
    }

    #[inline]
    pub(super) fn shared_ptr(self) -> *const Vec<u8> {
        self.word().as_ptr().cast_const().cast()
    }

    #[inline]
    pub(super) fn collection_kind(self) -> Option<Kind> {
        Kind::from_number(self.kind() & TYPE_MASK)
    }

    /// The value, or `None` for a tombstone.
    #[inline]
    pub fn value(self) -> Option<EntryValue<'a>> {
        match self.string() {
            Some(string) => Some(EntryValue::String(string)),
            None => self.collection().map(EntryValue::Collection),
        }
    }

    /// The string, or `None` for a tombstone or a collection.
    #[inline]
    pub fn string(self) -> Option<StringValue<'a>> {
        let kind = self.kind();
        if kind & TYPE_MASK != STRING {
            return None;
        }
        if kind & APART == 0 {
            // SAFETY: the value's bytes stand there and do not change during 'a.
            let bytes =
                unsafe { std::slice::from_raw_parts(self.value_ptr(), self.value_field_bytes()) };
            return Some(StringValue::Inline(bytes));
        }
        Some(StringValue::Shared(SharedValue { ptr: self.shared_ptr(), guard: self.guard }))
    }

    /// The collection, or `None` for a tombstone or a string.
    #[inline]
    pub fn collection(self) -> Option<ValueRef<'a>> {
        let kind = self.collection_kind()?;
        // SAFETY: the entry's type is the kind of its word, which does not change during 'a.
        Some(unsafe { ValueRef::at(kind, NonNull::new_unchecked(self.word_ptr())) })
    }

    /// True for a key that is gone but still has a row in the cold tier.
    #[inline]
    pub fn is_tombstone(self) -> bool {
        self.kind() & TYPE_MASK == TOMBSTONE
    }

    /// Unix time in milliseconds, 0 for none.
    #[inline]
    pub fn expire_ms(self) -> u64 {
        if self.kind() & EXPIRY == 0 {
            return 0;
        }
        // SAFETY: EXPIRY says that it stands here.
        unsafe { self.base.as_ptr().add(self.expiry_offset()).cast::<u64>().read() }
    }

    /// How `OBJECT ENCODING` calls the value.
    #[inline]
    pub fn form(self) -> StringForm {
        if self.kind() & EDITED != 0 { StringForm::Edited } else { StringForm::Whole }
    }

    /// When it was last used.
    pub fn access(self) -> Access {
        // SAFETY: inside the header.
        Access(unsafe { self.base.as_ptr().add(4).cast::<u32>().read() })
    }

    /// Bytes of a value that stands apart, 0 if the value is inline.
    #[inline]
    pub fn apart_bytes(self) -> usize {
        if self.kind() & APART == 0 {
            return 0;
        }
        match self.value() {
            Some(EntryValue::String(StringValue::Shared(shared))) => shared.vec().capacity(),
            Some(EntryValue::Collection(value)) => value.heap_bytes(),
            _ => 0,
        }
    }
}
