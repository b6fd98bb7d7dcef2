//! The keys that SORT and SORT_RO read.

use basalt_engine::{Issuer, Key, Object, Txn, View};

/// Access to keys, of either kind of command.
#[derive(Clone, Copy)]
pub(super) enum Keys<'a, 'e> {
    /// Of SORT_RO.
    Read(&'a View<'e>),
    /// Of SORT.
    Write(&'a Txn<'e>),
}

impl<'a> Keys<'a, '_> {
    /// What is under a key.
    pub(super) fn get(self, key: &Key<'_>) -> Option<Object<'a>> {
        match self {
            Keys::Read(view) => view.get(key),
            Keys::Write(txn) => txn.get(key),
        }
    }

    /// What is under a key that is held.
    pub(super) fn find(self, name: &[u8]) -> Option<Object<'a>> {
        let engine = match self {
            Keys::Read(view) => view.engine(),
            Keys::Write(txn) => txn.engine(),
        };
        self.get(&engine.key(name))
    }

    /// Now, in unix milliseconds.
    pub(super) fn now_ms(self) -> u64 {
        match self {
            Keys::Read(view) => view.now_ms(),
            Keys::Write(txn) => txn.now_ms(),
        }
    }

    /// The caller of the command.
    pub(super) fn issuer(self) -> Issuer {
        match self {
            Keys::Read(view) => view.issuer(),
            Keys::Write(txn) => txn.issuer(),
        }
    }

    /// Every key is held.
    pub(super) fn reaches_everything(self) -> bool {
        match self {
            Keys::Read(view) => view.reaches_everything(),
            Keys::Write(txn) => txn.reaches_everything(),
        }
    }
}
