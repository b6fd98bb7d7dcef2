//! Keys that a command finds out about while it runs: SORT makes their names of elements.
//!
//! Locks are taken before a command runs, in order, and what is not in memory is fetched before. So
//! a command that finds that it needs more keys than it has named says which ([`Txn::reach`]),
//! returns having changed nothing, and runs again from the start as a
//! [`Transaction`](crate::Transaction) that claims them as well. Whatever it has seen before may
//! have changed meanwhile: each run finds out again which keys it needs.

use crate::store::ask::Ask;
use crate::store::context::RunMode;
use crate::store::txn::Txn;
use crate::store::view::View;

impl Txn<'_> {
    /// Whether every key is held and in memory, so that the command may look at any.
    pub fn reaches_everything(&self) -> bool {
        self.run_mode == RunMode::Everything
    }

    /// Has the command run again under the locks of these keys, too. It returns without a reply.
    ///
    /// # Panics
    /// If something has been changed already: a change would be made twice.
    pub fn reach(&mut self, names: Vec<Vec<u8>>) {
        assert!(self.changes.is_empty(), "a command asks for its keys before it changes any");
        self.changes.ask = Some(Ask::Reach(names));
    }

    /// What a command of a transaction has said with [`Txn::reach`].
    pub fn take_reach(&mut self) -> Option<Vec<Vec<u8>>> {
        self.changes.ask.take().and_then(Ask::names)
    }
}

impl View<'_> {
    /// As [`Txn::reaches_everything`].
    pub fn reaches_everything(&self) -> bool {
        self.run_mode == RunMode::Everything
    }

    /// As [`Txn::reach`].
    pub fn reach(&self, names: Vec<Vec<u8>>) {
        self.ask.set(Some(Ask::Reach(names)));
        self.asks.set(true);
    }

    /// As [`Txn::take_reach`].
    pub fn take_reach(&self) -> Option<Vec<Vec<u8>>> {
        self.ask.take().and_then(Ask::names)
    }
}
