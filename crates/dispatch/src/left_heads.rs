//! What rows begin with that has been read for requests behind one that has waited.

use basalt_engine::ReadHeads;
use std::sync::Arc;

/// Heads that wait for their requests to run: of the client that was the last to have some, so that
/// what requests do not ask for after all takes the memory of one pipeline.
#[derive(Default)]
pub(super) struct LeftHeads {
    client: u64,
    read: Option<Arc<ReadHeads>>,
}

impl LeftHeads {
    /// What is there for a client.
    pub(super) fn take(&mut self, client: u64) -> Option<Arc<ReadHeads>> {
        if self.client == client { self.read.take() } else { None }
    }

    /// Keeps what a client's request has left of what was read, if that is something.
    pub(super) fn keep(&mut self, client: u64, read: Option<Arc<ReadHeads>>) {
        if let Some(read) = read.filter(|read| !read.is_empty()) {
            *self = LeftHeads { client, read: Some(read) };
        }
    }
}
