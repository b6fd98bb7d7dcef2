//! Versions of elements, as far as the model knows them.

/// A version of which is only known that there is one, until the engine has been asked.
pub(crate) const SOME_NUMBER: u64 = u64::MAX;

/// The version that an element has after a change, or after none; 0 for none.
pub(super) fn moved(version: u64, has_changed: bool) -> u64 {
    if version != 0 && has_changed { SOME_NUMBER } else { version }
}
