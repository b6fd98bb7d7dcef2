//! Changes of spread collections that recovery has found in the log and not made.
//!
//! To make one, the collection would have to be read, which takes as long as it is large, and a
//! start must not. So they wait here, in their order, until somebody reads it: a command, the
//! loading of the partition, or the next checkpoint.

use basalt_change::version::Version;
use std::collections::HashMap;
use std::sync::Arc;

/// A change that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Elements change.
    Edit {
        /// Number of the collection's kind.
        kind: u8,
        /// What changes, as its type has it.
        edits: Box<[u8]>,
    },
    /// It expires at this unix time in milliseconds, 0 for never.
    Expire(u64),
    /// It has this version.
    Version(Version),
}

/// Changes by key.
#[derive(Default, Debug)]
pub(crate) struct Deferred(HashMap<Box<[u8]>, Arc<Vec<Change>>>);

impl Deferred {
    pub(crate) fn add(&mut self, key: &[u8], change: Change) {
        match self.0.get_mut(key) {
            Some(changes) => Arc::make_mut(changes).push(change),
            None => drop(self.0.insert(key.into(), Arc::new(vec![change]))),
        }
    }

    pub(crate) fn of(&self, key: &[u8]) -> Option<Arc<Vec<Change>>> {
        self.0.get(key).map(Arc::clone)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(|key| &**key)
    }

    pub(crate) fn forget(&mut self, key: &[u8]) {
        self.0.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_their_order_and_go_together() {
        let mut deferred = Deferred::default();
        for expire_ms in [3, 1, 2] {
            deferred.add(b"k", Change::Expire(expire_ms));
        }
        deferred.add(b"other", Change::Edit { kind: 1, edits: b"edits"[..].into() });
        let changes = deferred.of(b"k").expect("there are some");
        assert_eq!(*changes, [3, 1, 2].map(Change::Expire));
        deferred.forget(b"k");
        assert_eq!(deferred.of(b"k"), None);
        assert_eq!(deferred.keys().collect::<Vec<_>>(), [b"other"]);
    }
}
