//! Changing a string that stands apart from its entry.

use super::layout::{APART, EDITED};
use super::pointer::EntryPtr;
use std::mem::ManuallyDrop;
use std::sync::Arc;

impl EntryPtr {
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
            self.entry.addr().as_ptr().write(kind | EDITED);
        }
    }

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
