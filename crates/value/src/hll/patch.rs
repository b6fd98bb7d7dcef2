//! HOT PATH
//! What a change of one register does to the string: some bytes in one place.

use std::ops::Range;

/// The longest: of a sparse string, two runs that are merged on either side of one that is split in
/// three.
pub(super) const PATCH_BYTES_MAX: usize = 22;

/// Bytes of a string that give way to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patch {
    at: usize,
    removed: u8,
    len: u8,
    bytes: [u8; PATCH_BYTES_MAX],
}

impl Patch {
    /// What turns `old`, which stands at `at`, into `new`: what they begin and end with alike
    /// stays.
    ///
    /// # Panics
    /// If `new` has more than [`PATCH_BYTES_MAX`] bytes.
    #[inline]
    pub(super) fn between(at: usize, old: &[u8], new: &[u8]) -> Patch {
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[same..], &new[same..]);
        let pairs = old.iter().rev().zip(new.iter().rev());
        let same_end = pairs.take_while(|(old, new)| old == new).count();
        let (removed, new) = (old.len() - same_end, &new[..new.len() - same_end]);
        let mut bytes = [0; PATCH_BYTES_MAX];
        bytes[..new.len()].copy_from_slice(new);
        Patch { at: at + same, removed: removed as u8, len: new.len() as u8, bytes }
    }

    /// The bytes of the string that go.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + usize::from(self.removed)
    }

    /// Those that come.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Makes the change.
    #[inline]
    pub(super) fn apply(&self, string: &mut Vec<u8>) {
        string.splice(self.range(), self.bytes().iter().copied());
    }
}
