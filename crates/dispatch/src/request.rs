//! HOT PATH
//! A request with its command.

use super::dispatcher::Dispatcher;
use basalt_call::calls::Call;
use basalt_call::entry::Traits;
use basalt_engine::Key;
use basalt_resp::Arg;
use basalt_service::args::Args;
use basalt_service::prepared::Prepared;
use basalt_spec::{Command, CommandId};

/// A request whose command is known and may run.
pub(super) struct Request<'a> {
    pub(super) server: &'a Dispatcher,
    pub(super) id: CommandId,
    pub(super) call: &'a Call,
    pub(super) buffer: &'a [u8],
    pub(super) words: &'a [Arg],
    pub(super) prepared: &'a Prepared,
}

impl<'a> Request<'a> {
    /// Its words and keys.
    #[inline(always)]
    pub(super) fn args<'k>(&self, keys: &'k [Key<'k>]) -> Args<'k>
    where
        'a: 'k,
    {
        Args::new(self.buffer, self.words).with_keys(keys)
    }

    /// What its command's entry says for the dispatch.
    pub(super) fn traits(&self) -> &'a Traits {
        self.server.commands.traits(self.id)
    }

    /// All that there is to know about its command.
    pub(super) fn command(&self) -> &'a Command {
        self.server.commands.table.command(self.id)
    }
}
