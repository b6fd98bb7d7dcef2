//! HOT PATH
//! Making entries, changing them in place, and freeing them.

use super::access::Access;
use super::content::{Content, NewValue, SHARED_BYTES_MIN};
use super::layout::{
    APART, EDITED, EXPIRY, HEADER_BYTES, LONG_KEY, SHORT_KEY_BYTES_MAX, STRING, TOMBSTONE,
    TYPE_MASK, VERSIONED,
};
use super::read::Entry;
use crate::memory::slab::{Slab, cell_bytes};
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_value::{Value, ValueMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Address of an entry. A plain pointer: the holder of the partition's lock may follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryPtr(NonNull<u8>);

impl EntryPtr {
    /// Allocates an entry.
    #[inline]
    pub fn create(slab: &mut Slab, content: Content<'_>) -> EntryPtr {
        let Content { key, value, expire_ms, access, version } = content;
        let (mut kind, value) = match value {
            NewValue::Tombstone => (TOMBSTONE, Stored::Inline(&[][..])),
            NewValue::Bytes(bytes, form) => (STRING | form_bit(form), Stored::Inline(bytes)),
            NewValue::Shared(shared, form) => {
                let word = Arc::into_raw(shared).cast_mut().cast();
                (STRING | APART | form_bit(form), Stored::Apart(word))
            }
            NewValue::Collection(value) => {
                (value.kind() as u8 | APART, Stored::Apart(value.into_word().as_ptr()))
            }
        };
        let value_bytes = value.inline_bytes();
        debug_assert!(value_bytes < SHARED_BYTES_MIN);
        let mut prefix_bytes = HEADER_BYTES + (usize::from(kind & APART) >> 3);
        if expire_ms != 0 {
            kind |= EXPIRY;
            prefix_bytes += 8;
        }
        if key.len() > SHORT_KEY_BYTES_MAX {
            kind |= LONG_KEY;
            prefix_bytes += 8;
        }
        if !version.is_none() {
            kind |= VERSIONED;
        }
        let behind_bytes = usize::from(kind & VERSIONED);
        let base = slab.allocate(prefix_bytes + key.len() + value_bytes + behind_bytes);
        let header = u64::from(kind)
            | (key.len() as u64 & 0xFF) << 8
            | (value_bytes as u64) << 16
            | u64::from(access.0) << 32;
        // SAFETY: the cell has room for the prefix, the key, the value and the version, and is
        // aligned to 8.
        unsafe {
            let mut at = base.as_ptr();
            at.cast::<u64>().write(header.to_le());
            at = at.add(HEADER_BYTES);
            if let Stored::Apart(word) = value {
                at.cast::<*mut u8>().write(word);
                at = at.add(8);
            }
            if expire_ms != 0 {
                at.cast::<u64>().write(expire_ms);
                at = at.add(8);
            }
            if kind & LONG_KEY != 0 {
                at.cast::<u64>().write(key.len() as u64);
                at = at.add(8);
            }
            at.copy_from_nonoverlapping(key.as_ptr(), key.len());
            at = at.add(key.len());
            if let Stored::Inline(bytes) = value {
                at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
            if kind & VERSIONED != 0 {
                at.add(value_bytes).cast::<Version>().write_unaligned(version);
            }
        }
        EntryPtr(base)
    }

    /// Frees the entry and its shared value.
    ///
    /// # Safety
    /// The entry came from [`EntryPtr::create`] with this slab and nobody uses it any more.
    #[inline]
    pub unsafe fn destroy(self, slab: &mut Slab) {
        // SAFETY: the entry is alive until `free` below.
        unsafe {
            let entry = self.entry();
            let bytes = entry.bytes();
            if entry.kind() & APART != 0 {
                match entry.collection_kind() {
                    Some(kind) => drop(Value::from_word(kind, entry.word())),
                    None => drop(Arc::from_raw(entry.shared_ptr())),
                }
            }
            slab.free(self.0, bytes);
        }
    }

    /// Reads the entry.
    ///
    /// # Safety
    /// The entry is alive and does not change during `'a`.
    #[inline]
    pub unsafe fn entry<'a>(self) -> Entry<'a> {
        Entry::at(self.0)
    }

    /// Overwrites the value in place if the new one fits the same cell and the key has no version;
    /// returns how many bytes the old one had.
    ///
    /// # Safety
    /// The entry is alive and nobody else reads it meanwhile.
    #[inline]
    pub unsafe fn overwrite(self, value: &[u8], form: StringForm) -> Option<usize> {
        // SAFETY: the caller owns the entry.
        unsafe {
            let entry = self.entry();
            let kind = entry.kind();
            if kind & (APART | VERSIONED | TYPE_MASK) != STRING || value.len() >= SHARED_BYTES_MIN {
                return None;
            }
            let (offset, key_bytes) = entry.key_offset_and_bytes();
            let (before, old_bytes) = (offset + key_bytes, entry.value_field_bytes());
            if old_bytes != value.len() {
                if cell_bytes(before + old_bytes) != cell_bytes(before + value.len()) {
                    return None;
                }
                self.0.as_ptr().add(2).cast::<u16>().write((value.len() as u16).to_le());
            }
            self.0.as_ptr().write(kind & !EDITED | form_bit(form));
            let place = self.0.as_ptr().add(before);
            place.copy_from_nonoverlapping(value.as_ptr(), value.len());
            Some(old_bytes)
        }
    }

    /// The collection, to be changed in place; `None` if the entry is none.
    ///
    /// # Safety
    /// The entry is alive and nobody else reads it during `'a`.
    #[inline]
    pub unsafe fn collection_mut<'a>(self) -> Option<ValueMut<'a>> {
        // SAFETY: says the caller; the entry's type is the kind of its word.
        unsafe {
            let entry = self.entry();
            let kind = entry.collection_kind()?;
            Some(ValueMut::at(kind, NonNull::new_unchecked(entry.word_ptr())))
        }
    }

    /// Takes the collection out and leaves an empty one of its kind; `None` if the entry is none.
    ///
    /// # Safety
    /// The entry is alive and nobody else reads it meanwhile.
    pub unsafe fn take_collection(self) -> Option<Value> {
        // SAFETY: says the caller; the word is replaced before anybody can take it twice.
        unsafe {
            let entry = self.entry();
            let kind = entry.collection_kind()?;
            let value = Value::from_word(kind, entry.word());
            let empty = Value::new(kind).into_word().as_ptr();
            entry.word_ptr().cast::<*mut u8>().write(empty);
            Some(value)
        }
    }

    /// The bytes of a string that stands in the entry, to be changed in place.
    ///
    /// # Safety
    /// The entry is alive and nobody else reads or writes it during `'a`.
    ///
    /// # Panics
    /// If the entry is a tombstone or its value is shared.
    #[inline]
    pub unsafe fn inline_mut<'a>(self) -> &'a mut [u8] {
        // SAFETY: the caller owns the entry; the value's bytes stand at `value_ptr`.
        unsafe {
            let entry = self.entry();
            let kind = entry.kind();
            assert_eq!(kind & (APART | TYPE_MASK), STRING, "no value in the entry");
            self.0.as_ptr().write(kind | EDITED);
            std::slice::from_raw_parts_mut(entry.value_ptr(), entry.value_field_bytes())
        }
    }

    /// Changes the expiry in place if the entry has room for it; returns true if it did.
    ///
    /// # Safety
    /// The entry is alive and nobody else reads it meanwhile.
    #[inline]
    pub unsafe fn overwrite_expiry(self, expire_ms: u64) -> bool {
        // SAFETY: the caller owns the entry.
        unsafe {
            let entry = self.entry();
            let has = entry.kind() & EXPIRY != 0;
            if has && expire_ms != 0 {
                self.0.as_ptr().add(entry.expiry_offset()).cast::<u64>().write(expire_ms);
                return true;
            }
            !has && expire_ms == 0
        }
    }

    /// Changes the version in place if the entry has room for it; returns true if it did.
    ///
    /// # Safety
    /// The entry is alive and nobody else reads it meanwhile.
    pub unsafe fn overwrite_version(self, version: Version) -> bool {
        // SAFETY: the caller owns the entry.
        unsafe {
            let entry = self.entry();
            let has = entry.is_versioned();
            if has && !version.is_none() {
                entry.version_ptr().write_unaligned(version);
                return true;
            }
            !has && version.is_none()
        }
    }

    /// Notes an access.
    ///
    /// # Safety
    /// The entry is alive and nobody else writes it meanwhile.
    #[inline]
    pub unsafe fn touch(self, access: Access) {
        // SAFETY: the access field is the second half of the header.
        unsafe {
            let field = self.0.as_ptr().add(4).cast::<u32>();
            let before = Access(field.read());
            // Once a second a key: a hit must not write a cache line that others read.
            if (before.0 ^ access.0) & Access::SECONDS_MASK != 0 {
                field.write(before.used(access, self.0.as_ptr().addr()).0);
            }
        }
    }

    /// Sets when and how often it was accessed.
    ///
    /// # Safety
    /// The entry is alive and nobody else uses it meanwhile.
    pub unsafe fn set_access(self, access: Access) {
        // SAFETY: the access field is the second half of the header.
        unsafe { self.0.as_ptr().add(4).cast::<u32>().write(access.0) };
    }

    /// The address, 48 bits, the lowest three of them zero.
    #[inline]
    pub fn addr(self) -> NonNull<u8> {
        self.0
    }

    /// The entry at an address that [`EntryPtr::addr`] gave.
    #[inline]
    pub fn from_addr(addr: NonNull<u8>) -> EntryPtr {
        EntryPtr(addr)
    }
}

/// How a value is written.
enum Stored<'a> {
    Inline(&'a [u8]),
    Apart(*mut u8),
}

impl Stored<'_> {
    #[inline]
    fn inline_bytes(&self) -> usize {
        match self {
            Stored::Inline(bytes) => bytes.len(),
            Stored::Apart(_) => 0,
        }
    }
}

#[inline]
fn form_bit(form: StringForm) -> u8 {
    match form {
        StringForm::Whole => 0,
        StringForm::Edited => EDITED,
    }
}
