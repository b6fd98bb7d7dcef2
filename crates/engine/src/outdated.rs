//! Copies of keys that clients keep and that are out of date, as they are gathered and told.

use basalt_keyspace::interest::{Call, Outdated};
use basalt_keyspace::waiters::Waiter;
use std::sync::Arc;

/// Copies that clients keep and that are out of date.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutdatedCopies {
    /// All copies are.
    pub all: bool,
    /// Copies of these keys are.
    pub keys: Vec<Outdated>,
}

impl OutdatedCopies {
    /// Nothing is out of date.
    pub fn is_empty(&self) -> bool {
        !self.all && self.keys.is_empty()
    }

    /// Sorts out what is to be done when the locks are gone; returns the clients to be served.
    pub fn sort(&mut self, called: Vec<Call>) -> Vec<Arc<dyn Waiter>> {
        let mut waiters = Vec::new();
        for call in called {
            match call {
                Call::Waiter(client) => waiters.push(client),
                Call::Outdated(outdated) => self.keys.push(outdated),
                Call::AllOutdated => self.all = true,
            }
        }
        waiters
    }
}
