//! HOT PATH
//! An entry: header, key and value of one object in one allocation.
//!
//! ```text
//!  0        1        2          4            8
//!  kind:u8  klen:u8  vlen:u16   access:u32   [word:ptr] [expire_ms:u64] [klen:u64] key value
//!                                            [version:u64]
//!
//!  kind   = type (low 3 bits: 0 tombstone, 1 string, 2… the kinds of collections)
//!           | VERSIONED 0x08 | EXPIRY 0x10 | LONG_KEY 0x20 | APART 0x40 | EDITED 0x80
//!  access = seconds of the last access (24 bits, wraps) | frequency ^ 5 (8 bits)
//! ```
//! A 16-byte key with a 64-byte value takes 88 bytes and two cache lines. Keys of more than 255
//! bytes keep their length in front of the key. Strings of [`SHARED_BYTES_MIN`] bytes and more live
//! in an `Arc<Vec<u8>>` of their own, whose address is the word: a reply or a checkpoint can then
//! hold the value without copying it while a writer replaces it. A collection is its word
//! (`basalt_value::form`); the word is aligned, so that the collection can be borrowed where it
//! stands.
//!
//! A tombstone has a key and no value: the key is gone, but the cold tier still has a row for it.
//!
//! The version stands at the end, where no look at key or value has to pass it, and its flag beside
//! the type: what overwrites a string in place compares the two together, and so leaves an entry
//! with a version alone without asking for it.

use crate::memory::slab::{Slab, cell_bytes};
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_value::{Kind, Value, ValueMut, ValueRef};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

/// Values of this size and more are shared objects of their own.
pub const SHARED_BYTES_MIN: usize = 2048;

const HEADER_BYTES: usize = 8;
const TYPE_MASK: u8 = 0x07;
const TOMBSTONE: u8 = 0;
const STRING: u8 = 1;
/// As many as the bytes that it stands for.
const VERSIONED: u8 = 0x08;
const EXPIRY: u8 = 0x10;
const LONG_KEY: u8 = 0x20;
const APART: u8 = 0x40;
const EDITED: u8 = 0x80;
const SHORT_KEY_BYTES_MAX: usize = 255;
const _: () = assert!(Kind::Queue as u8 <= TYPE_MASK, "the type has three bits");

/// What [`EntryPtr::create`] makes an entry of.
pub struct Content<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: NewValue<'a>,
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// See [`Access`].
    pub access: Access,
    /// The version of the key.
    pub version: Version,
}

/// A value to be stored.
pub enum NewValue<'a> {
    /// None: the entry is a tombstone.
    Tombstone,
    /// A string, copied.
    Bytes(&'a [u8], StringForm),
    /// A string of [`SHARED_BYTES_MIN`] or more, taken over.
    Shared(Arc<Vec<u8>>, StringForm),
    /// A collection, taken over.
    Collection(Value),
}

impl<'a> NewValue<'a> {
    /// A string stored the way that its size asks for.
    pub fn string(bytes: &'a [u8], form: StringForm) -> NewValue<'a> {
        if bytes.len() < SHARED_BYTES_MIN {
            NewValue::Bytes(bytes, form)
        } else {
            NewValue::Shared(Arc::new(bytes.to_vec()), form)
        }
    }
}

/// When and how often an entry was used, for `OBJECT IDLETIME`, `OBJECT FREQ` and eviction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access(u32);

impl Access {
    const SECONDS_MASK: u32 = 0x00FF_FFFF;
    /// What a new key's frequency is, as Redis': stands in the byte as 0.
    const FREQUENCY_NEW: u8 = 5;

    /// Accessed now, for the first time.
    #[inline]
    pub fn at(unix_seconds: u32) -> Access {
        Access(unix_seconds & Access::SECONDS_MASK)
    }

    /// Seconds since the last access. Wraps after 194 days, as Redis' clock does.
    pub fn idle_seconds(self, unix_seconds: u32) -> u32 {
        unix_seconds.wrapping_sub(self.0) & Access::SECONDS_MASK
    }

    /// Not accessed for these seconds, or for the longest time that can be told.
    pub fn idle_for(unix_seconds: u32, idle_seconds: u64) -> Access {
        let idle = idle_seconds.min(Access::SECONDS_MASK.into()) as u32;
        Access::at(unix_seconds.wrapping_sub(idle))
    }

    /// Accessed now or before, and this often on Redis' logarithmic scale.
    pub fn with_frequency(self, frequency: u8) -> Access {
        let byte = u32::from(frequency ^ Access::FREQUENCY_NEW);
        Access(self.0 & Access::SECONDS_MASK | byte << 24)
    }

    /// How often it was used on Redis' logarithmic scale, a point less for each of these periods
    /// since the last access.
    pub fn frequency(self, unix_seconds: u32, period_seconds: u32) -> u8 {
        let frequency = (self.0 >> 24) as u8 ^ Access::FREQUENCY_NEW;
        let periods = self.idle_seconds(unix_seconds) / period_seconds;
        frequency.saturating_sub(periods.min(u8::MAX.into()) as u8)
    }
}

/// Address of an entry. A plain pointer: the holder of the partition's lock may follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryPtr(NonNull<u8>);

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

/// A string value.
#[derive(Clone, Copy, Debug)]
pub enum StringValue<'a> {
    /// Stored in the entry.
    Inline(&'a [u8]),
    /// Stored apart.
    Shared(SharedValue<'a>),
}

/// A value that stands apart from its entry and can outlive it.
#[derive(Clone, Copy, Debug)]
pub struct SharedValue<'a> {
    /// From `Arc::into_raw`; the entry holds one reference count.
    ptr: *const Vec<u8>,
    guard: std::marker::PhantomData<&'a u8>,
}

impl<'a> SharedValue<'a> {
    /// The bytes.
    #[inline]
    pub fn vec(self) -> &'a Vec<u8> {
        // SAFETY: the entry's reference count keeps the vector alive during 'a, and nobody changes
        // it while an `Entry<'a>` exists.
        unsafe { &*self.ptr }
    }

    /// Whether it has other owners than its entry. One may go at any time; another comes only while
    /// the entry can be read.
    pub fn is_held_elsewhere(self) -> bool {
        // SAFETY: `ptr` came from `Arc::into_raw` and its count is at least one; the reference
        // that is made of it is not counted and not dropped.
        let shared = unsafe { ManuallyDrop::new(Arc::from_raw(self.ptr)) };
        Arc::strong_count(&shared) > 1
    }

    /// Whether it is this value, and not only an equal one.
    pub fn is(self, value: &Arc<Vec<u8>>) -> bool {
        std::ptr::eq(self.ptr, Arc::as_ptr(value))
    }

    /// Another owner of the value.
    pub fn to_arc(self) -> Arc<Vec<u8>> {
        // SAFETY: `ptr` came from `Arc::into_raw` and its count is at least one.
        unsafe {
            Arc::increment_strong_count(self.ptr);
            Arc::from_raw(self.ptr)
        }
    }
}

impl<'a> StringValue<'a> {
    /// The bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            StringValue::Inline(bytes) => bytes,
            StringValue::Shared(shared) => shared.vec(),
        }
    }
}

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
        Entry { base: self.0, guard: std::marker::PhantomData }
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

    /// The shared value, to be changed in place.
    ///
    /// # Safety
    /// The entry is alive, its value is shared, and nobody else reads the entry during `'a`.
    pub unsafe fn shared_mut<'a>(self) -> SharedMut<'a> {
        // SAFETY: says the caller.
        unsafe {
            debug_assert!(self.entry().kind() & APART != 0);
            SharedMut { ptr: self.entry().word_ptr(), entry: self, guard: Default::default() }
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

    /// Notes an access; the frequency stays.
    ///
    /// # Safety
    /// The entry is alive and nobody else writes it meanwhile.
    #[inline]
    pub unsafe fn touch(self, access: Access) {
        // SAFETY: the access field is the second half of the header.
        unsafe {
            let field = self.0.as_ptr().add(4).cast::<u32>();
            let changed = (field.read() ^ access.0) & Access::SECONDS_MASK;
            // Once a second a key: a hit must not write a cache line that others read.
            if changed != 0 {
                field.write(field.read() ^ changed);
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

/// Exclusive access to a shared value; puts the reference back when dropped.
pub struct SharedMut<'a> {
    ptr: *mut u8,
    entry: EntryPtr,
    guard: std::marker::PhantomData<&'a mut u8>,
}

impl SharedMut<'_> {
    /// Changes the bytes: in place if nobody else holds them, else in a copy.
    pub fn edit(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let slot = self.ptr.cast::<*const Vec<u8>>(); // Aligned: it is the entry's word.
        // SAFETY: the field holds a pointer from `Arc::into_raw`; it is taken out, changed and put
        // back, even if `change` unwinds.
        unsafe {
            let shared = ManuallyDrop::new(Arc::from_raw(slot.read()));
            let mut taken = TakenOut { slot, shared };
            change(Arc::make_mut(&mut taken.shared));
            drop(taken);
            let kind = self.entry.entry().kind();
            self.entry.0.as_ptr().write(kind | EDITED);
        }
    }
}

impl SharedMut<'_> {
    /// Puts another value in its place; returns the one that was there.
    pub fn swap(&mut self, new: Arc<Vec<u8>>) -> Arc<Vec<u8>> {
        let slot = self.ptr.cast::<*const Vec<u8>>(); // Aligned: it is the entry's word.
        // SAFETY: the field holds a pointer from `Arc::into_raw`, whose count goes to the caller,
        // and gets another one.
        unsafe {
            let old = Arc::from_raw(slot.read());
            slot.write(Arc::into_raw(new));
            old
        }
    }
}

/// A shared value that has been taken out of its entry and is put back when this goes.
struct TakenOut {
    /// Where it stood.
    slot: *mut *const Vec<u8>,
    shared: ManuallyDrop<Arc<Vec<u8>>>,
}

impl Drop for TakenOut {
    fn drop(&mut self) {
        // SAFETY: the place is in the entry that the value was taken out of, which is alive and
        // borrowed mutably; the value is taken once.
        unsafe { self.slot.write(Arc::into_raw(ManuallyDrop::take(&mut self.shared))) };
    }
}

impl<'a> Entry<'a> {
    #[inline]
    fn kind(self) -> u8 {
        // SAFETY: an `Entry` is alive, says who made it.
        unsafe { self.base.as_ptr().read() }
    }

    #[inline]
    fn value_field_bytes(self) -> usize {
        // SAFETY: as above; the field is aligned to 2.
        usize::from(u16::from_le(unsafe { self.base.as_ptr().add(2).cast::<u16>().read() }))
    }

    #[inline]
    fn key_offset_and_bytes(self) -> (usize, usize) {
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

    fn version_ptr(self) -> *mut Version {
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
    fn value_ptr(self) -> *mut u8 {
        let (offset, bytes) = self.key_offset_and_bytes();
        // SAFETY: the value stands behind the key.
        unsafe { self.base.as_ptr().add(offset + bytes) }
    }

    #[inline]
    fn expiry_offset(self) -> usize {
        HEADER_BYTES + (usize::from(self.kind() & APART) >> 3)
    }

    /// Where the word stands, if APART is set.
    #[inline]
    fn word_ptr(self) -> *mut u8 {
        // SAFETY: inside the entry, which has a key or more behind its header.
        unsafe { self.base.as_ptr().add(HEADER_BYTES) }
    }

    /// The word. APART is set.
    #[inline]
    fn word(self) -> NonNull<u8> {
        debug_assert!(self.kind() & APART != 0);
        // SAFETY: only called when APART is set: an address stands there, which is not null.
        unsafe { NonNull::new_unchecked(self.word_ptr().cast::<*mut u8>().read()) }
    }

    #[inline]
    fn shared_ptr(self) -> *const Vec<u8> {
        self.word().as_ptr().cast_const().cast()
    }

    #[inline]
    fn collection_kind(self) -> Option<Kind> {
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

/// Whether the bytes at `at` are these: word by word, the last word overlapping the one before.
///
/// # Safety
/// As many bytes can be read at `at`.
#[inline]
unsafe fn equal(at: *const u8, bytes: &[u8]) -> bool {
    const WORD: usize = size_of::<u64>();
    let (other, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: every read lies within the first `len` bytes of both.
    unsafe {
        if len < WORD {
            return equal_below_a_word(std::slice::from_raw_parts(at, len), bytes);
        }
        let same = |offset: usize| {
            at.add(offset).cast::<u64>().read_unaligned()
                == other.add(offset).cast::<u64>().read_unaligned()
        };
        let last = len - WORD;
        let mut offset = 0;
        while offset < last {
            if !same(offset) {
                return false;
            }
            offset += WORD;
        }
        same(last)
    }
}

/// Compares up to seven bytes: two halves of a word, which overlap if there are fewer than
/// eight.
#[inline]
fn equal_below_a_word(one: &[u8], other: &[u8]) -> bool {
    match one.first_chunk::<4>() {
        Some(first) => {
            Some(first) == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk()
        }
        None => one.iter().eq(other),
    }
}

#[inline]
fn form_bit(form: StringForm) -> u8 {
    match form {
        StringForm::Whole => 0,
        StringForm::Edited => EDITED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::pages::PagePool;

    /// Entries with and without an expiry and a value that stands apart, and keys of every length
    /// that is compared in another way.
    #[test]
    fn an_entry_knows_its_key_whatever_stands_in_front_of_it() {
        let mut slab = Slab::new(Arc::new(PagePool::default()));
        let large = vec![b'v'; SHARED_BYTES_MIN];
        for key_bytes in (0..20).chain([32, 255, 256, 300]) {
            let key: Vec<u8> = (0..key_bytes).map(|byte| byte as u8).collect();
            for (expire_ms, value) in [(0, &b"v"[..]), (7, b"v"), (0, &large), (7, &large)] {
                let value = NewValue::string(value, StringForm::Whole);
                let (access, version) = (Access::default(), Version::NONE);
                let content = Content { key: &key, value, expire_ms, access, version };
                let entry = EntryPtr::create(&mut slab, content);
                // SAFETY: the entry lives until it is destroyed, once, and nobody changes it.
                unsafe {
                    assert!(entry.entry().has_key(&key));
                    for at in 0..key.len() {
                        let mut other = key.clone();
                        other[at] ^= 1;
                        assert!(!entry.entry().has_key(&other), "byte {at} of {key_bytes}");
                    }
                    assert!(!entry.entry().has_key(&[&key[..], b"x"].concat()));
                    entry.destroy(&mut slab);
                }
            }
        }
    }

    #[test]
    fn a_version_takes_eight_bytes_and_disturbs_nothing() {
        let mut slab = Slab::new(Arc::new(PagePool::default()));
        let large = vec![b'v'; SHARED_BYTES_MIN];
        for key in [&b""[..], b"key", &[b'k'; 300]] {
            for (expire_ms, bytes) in [(0, &b"value"[..]), (7, b""), (0, &large), (7, &large)] {
                let content = |version| Content {
                    key,
                    value: NewValue::string(bytes, StringForm::Whole),
                    expire_ms,
                    access: Access::default(),
                    version,
                };
                let plain = EntryPtr::create(&mut slab, content(Version::NONE));
                let versioned = EntryPtr::create(&mut slab, content(Version::new(1 << 60)));
                // SAFETY: the entries live until they are destroyed, once; nobody else uses them.
                unsafe {
                    let entry = versioned.entry();
                    assert_eq!(entry.bytes(), plain.entry().bytes() + 8);
                    assert_eq!(entry.key(), key);
                    assert_eq!(entry.string().expect("it is one").bytes(), bytes);
                    assert_eq!(entry.expire_ms(), expire_ms);
                    assert_eq!(entry.version(), Version::new(1 << 60));
                    assert_eq!(plain.entry().version(), Version::NONE);
                    assert_eq!(versioned.overwrite(bytes, StringForm::Whole), None);
                    assert!(!plain.overwrite_version(Version::new(1)));
                    assert!(!versioned.overwrite_version(Version::NONE));
                    assert!(versioned.overwrite_version(Version::new(9)));
                    assert_eq!(versioned.entry().version(), Version::new(9));
                    assert_eq!(versioned.entry().string().expect("it is one").bytes(), bytes);
                    plain.destroy(&mut slab);
                    versioned.destroy(&mut slab);
                }
            }
        }
    }
}
