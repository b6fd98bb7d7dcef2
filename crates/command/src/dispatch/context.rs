//! What a command sees that is not about keys.

use crate::error::CommandError;
use crate::push::Outbox;
use crate::server::Server;
use crate::session::Session;
use crate::wait::Wait;
use basalt_config::Settings;
use basalt_engine::{Refusal, Walk};

/// What a session command sees.
pub struct Context<'a> {
    /// What all connections share.
    pub server: &'a Server,
    /// Its connection.
    pub session: &'a mut Session,
    /// What its thread has published in this turn.
    pub outbox: &'a mut Outbox,
    /// This moment's settings.
    pub settings: &'a Settings,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
}

impl Context<'_> {
    /// A walk over the selected database.
    pub fn walk(&self) -> Walk {
        Walk { db: self.session.db, now_ms: self.now_ms }
    }

    /// Asks the log before a change of whole databases: what to wait for if it is not ready for one.
    ///
    /// # Errors
    /// The log takes no changes.
    pub fn admit_change(&self) -> Result<Option<Wait>, CommandError> {
        match self.server.engine.log().admit() {
            Ok(()) => Ok(None),
            Err(Refusal::Busy) => Ok(Some(Wait::LogRoom)),
            Err(refusal) => Err(CommandError::log_refused(&refusal)),
        }
    }

    /// The reply saw keys all over a database: it waits for every change so far.
    pub fn gate_reads_of_everything(&mut self) {
        let log = self.server.engine.log();
        if log.gates_replies() {
            log.latest(&mut self.session.gate);
        }
    }
}
