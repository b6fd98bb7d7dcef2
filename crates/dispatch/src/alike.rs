//! HOT PATH
//! What requests of a row have in common, and what has become of them.

use super::dispatcher::Dispatcher;
use super::prepare::Incoming;
use basalt_call::calls::Call;
use basalt_engine::Key;
use basalt_service::session::Flow;
use basalt_spec::CommandId;

/// What has become of a row.
pub(super) struct Row {
    /// This many have run, and nothing else is to be done for them.
    pub(super) ran: usize,
    /// What has become of the one behind these, if it has begun to run: after it something is to be
    /// done, or it has to run again.
    pub(super) next: Option<Flow>,
}

impl Row {
    /// None has run.
    pub(super) const NONE: Row = Row { ran: 0, next: None };
}

/// What all requests of a row have in common.
#[derive(Clone, Copy)]
pub(super) struct Alike<'a> {
    pub(super) server: &'a Dispatcher,
    pub(super) id: CommandId,
    pub(super) call: &'a Call,
    pub(super) words: usize,
}

impl Alike<'_> {
    /// Whether the request is one of the row.
    #[inline(always)]
    pub(super) fn has(&self, request: Incoming<'_>) -> bool {
        request.prepared.command == Some(self.id) && request.words.len() == self.words
    }

    /// The first key of a request; `None` if the request is not one of the row or has none.
    #[inline(always)]
    pub(super) fn key_of<'a>(&self, request: Incoming<'a>) -> Option<Key<'a>> {
        if self.has(request) { request.prepared.key_in(request.buffer) } else { None }
    }
}
