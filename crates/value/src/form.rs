//! HOT PATH
//! The two forms of a collection in one word.
//!
//! ```text
//! word = address (8-aligned) | 0   packed: a header and the elements in one allocation
//!      = address (8-aligned) | 1   native: a boxed structure
//! ```
//! Most collections are small. One word in the entry, one allocation for everything in it: a small
//! hash costs one cache miss and 16 bytes beside its elements, where a tagged enum of vectors would
//! cost 40 (a tenth of a hash of ten short fields) and one miss more.

use crate::packed::Packed;
use std::marker::PhantomData;
use std::ptr::NonNull;

const NATIVE: usize = 1;

/// A collection in one of its two forms.
#[repr(transparent)]
pub struct Form<N> {
    word: NonNull<u8>,
    owned: PhantomData<Box<N>>,
}

// SAFETY: a form owns what its word points to: bytes, or an `N`.
unsafe impl<N: Send> Send for Form<N> {}
// SAFETY: as above; `&Form` gives out `&N` and `&Packed` only.
unsafe impl<N: Sync> Sync for Form<N> {}

/// A form to be read.
pub enum FormRef<'a, N> {
    /// Packed.
    Packed(&'a Packed),
    /// Native.
    Native(&'a N),
}

/// A form to be changed.
pub enum FormMut<'a, N> {
    /// Packed.
    Packed(&'a mut Packed),
    /// Native.
    Native(&'a mut N),
}

impl<N> Form<N> {
    /// An empty packed one. Allocates nothing.
    #[inline]
    pub fn new() -> Form<N> {
        Form::packed(Packed::new())
    }

    /// A packed one.
    #[inline]
    pub fn packed(packed: Packed) -> Form<N> {
        Form { word: packed.into_raw(), owned: PhantomData }
    }

    /// A native one.
    pub fn native(native: Box<N>) -> Form<N> {
        const { assert!(align_of::<N>() > NATIVE, "the lowest bit of the address is the tag") };
        let address = NonNull::from(Box::leak(native)).cast::<u8>();
        Form { word: address.map_addr(|address| address | NATIVE), owned: PhantomData }
    }

    #[inline]
    fn native_address(&self) -> Option<NonNull<N>> {
        let address = self.word.addr().get();
        // SAFETY: the address without its tag is a box's, which is not null.
        (address & NATIVE != 0).then(|| unsafe {
            NonNull::new_unchecked(self.word.as_ptr().map_addr(|address| address & !NATIVE).cast())
        })
    }

    /// To be read.
    #[inline]
    pub fn read(&self) -> FormRef<'_, N> {
        match self.native_address() {
            // SAFETY: the form owns the box.
            Some(native) => FormRef::Native(unsafe { native.as_ref() }),
            // SAFETY: without the tag the word is a `Packed`'s, which is one transparent pointer.
            None => FormRef::Packed(unsafe { &*(&raw const self.word).cast::<Packed>() }),
        }
    }

    /// To be changed.
    #[inline]
    pub fn change(&mut self) -> FormMut<'_, N> {
        match self.native_address() {
            // SAFETY: the form owns the box and is borrowed mutably.
            Some(mut native) => FormMut::Native(unsafe { native.as_mut() }),
            // SAFETY: as in `read`; every address that a `Packed` can have is untagged.
            None => FormMut::Packed(unsafe { &mut *(&raw mut self.word).cast::<Packed>() }),
        }
    }

    /// The native one of a collection that is packed only while it has nothing: then `untouched`.
    #[inline]
    pub fn native_or<'a>(&'a self, untouched: &'a N) -> &'a N {
        match self.read() {
            FormRef::Native(native) => native,
            FormRef::Packed(_) => untouched,
        }
    }

    /// Becomes its word.
    #[inline]
    pub(crate) fn into_word(self) -> NonNull<u8> {
        std::mem::ManuallyDrop::new(self).word
    }

    /// Takes a form back from its word.
    ///
    /// # Safety
    /// The word is from [`Form::into_word`] of the same type, and nobody else takes it.
    #[inline]
    pub(crate) unsafe fn from_word(word: NonNull<u8>) -> Form<N> {
        Form { word, owned: PhantomData }
    }
}

impl<N: Default> Form<N> {
    /// The native one, to be changed, of a collection that is packed only while it has nothing: it
    /// becomes native.
    #[inline]
    pub fn make_native(&mut self) -> &mut N {
        if let FormRef::Packed(_) = self.read() {
            *self = Form::native(Box::default());
        }
        match self.change() {
            FormMut::Native(native) => native,
            FormMut::Packed(_) => unreachable!("it was just made native"),
        }
    }
}

impl<N> Default for Form<N> {
    fn default() -> Form<N> {
        Form::new()
    }
}

impl<N> Drop for Form<N> {
    fn drop(&mut self) {
        match self.native_address() {
            // SAFETY: the address is from `Box::leak`, and the form is its owner.
            Some(native) => drop(unsafe { Box::from_raw(native.as_ptr()) }),
            // SAFETY: without the tag the word is a `Packed`'s, given up by `into_raw`.
            None => drop(unsafe { Packed::from_raw(self.word) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_live_in_a_word() {
        assert_eq!(size_of::<Form<Vec<u64>>>(), 8);
        let mut form: Form<Vec<u64>> = Form::new();
        match form.change() {
            FormMut::Packed(packed) => packed.splice(0..0, b"abc"),
            FormMut::Native(_) => unreachable!("a new form is packed"),
        }
        let word = form.into_word();
        // SAFETY: the word was just given up.
        let mut form: Form<Vec<u64>> = unsafe { Form::from_word(word) };
        assert!(matches!(form.read(), FormRef::Packed(packed) if packed.bytes() == b"abc"));
        form = Form::native(Box::new(vec![1, 2, 3]));
        match form.change() {
            FormMut::Native(native) => native.push(4),
            FormMut::Packed(_) => unreachable!("it was made native"),
        }
        assert!(matches!(form.read(), FormRef::Native(native) if native[..] == [1, 2, 3, 4]));
    }
}
