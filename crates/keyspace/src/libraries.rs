//! The libraries of functions: texts by name that are no keys, but belong to the server as a whole.
//!
//! One partition has them all, so that they are logged, copied and recovered with it: its mark says
//! up to which position they are in the cold tier. No flush of a database touches them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// See the head of this file.
#[derive(Debug, Default)]
pub struct Libraries {
    by_name: BTreeMap<Vec<u8>, Arc<Vec<u8>>>,
    /// Those that have changed since they were copied for the cold tier.
    unwritten: BTreeSet<Vec<u8>>,
    /// Those that have been copied and have not arrived there yet.
    copied: BTreeSet<Vec<u8>>,
}

impl Libraries {
    /// A library has this text now; none if it has gone.
    pub fn change(&mut self, name: &[u8], code: &Arc<Vec<u8>>) {
        self.unwritten.insert(name.to_vec());
        match code.is_empty() {
            true => drop(self.by_name.remove(name)),
            false => drop(self.by_name.insert(name.to_vec(), Arc::clone(code))),
        }
    }

    /// The cold tier has this library.
    pub fn restore(&mut self, name: &[u8], code: &[u8]) {
        self.by_name.insert(name.to_vec(), Arc::new(code.to_vec()));
    }

    /// All, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Arc<Vec<u8>>)> {
        self.by_name.iter().map(|(name, code)| (&name[..], code))
    }

    /// Those that have changed: the text, or nothing where one has gone.
    pub fn to_copy(&self) -> impl Iterator<Item = (&[u8], Option<&Arc<Vec<u8>>>)> {
        self.unwritten.iter().map(|name| (&name[..], self.by_name.get(name)))
    }

    /// What was to be copied has been.
    pub(crate) fn note_copied(&mut self) {
        self.copied.append(&mut self.unwritten);
    }

    /// The cold tier has what was copied.
    pub(crate) fn note_arrived(&mut self) {
        self.copied.clear();
    }

    /// What was copied does not arrive.
    pub(crate) fn note_lost(&mut self) {
        self.unwritten.append(&mut self.copied);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_copy(libraries: &Libraries) -> Vec<(&[u8], Option<&[u8]>)> {
        libraries.to_copy().map(|(name, code)| (name, code.map(|code| &code[..]))).collect()
    }

    #[test]
    fn what_has_not_arrived_is_copied_again() {
        let mut libraries = Libraries::default();
        libraries.restore(b"old", b"text");
        assert_eq!(to_copy(&libraries), []);
        let change = |libraries: &mut Libraries, name: &[u8], code: &[u8]| {
            libraries.change(name, &Arc::new(code.to_vec()));
        };
        change(&mut libraries, b"new", b"one");
        change(&mut libraries, b"old", b"");
        let both = [(&b"new"[..], Some(&b"one"[..])), (b"old", None)];
        assert_eq!(to_copy(&libraries), both);
        libraries.note_copied();
        assert_eq!(to_copy(&libraries), []);
        libraries.note_lost();
        assert_eq!(to_copy(&libraries), both);
        libraries.note_copied();
        change(&mut libraries, b"new", b"two");
        libraries.note_arrived();
        libraries.note_lost();
        assert_eq!(to_copy(&libraries), [(&b"new"[..], Some(&b"two"[..]))]);
        assert_eq!(libraries.iter().count(), 1);
    }
}
