//! What a command sees that is not about keys.

use basalt_change::place::{PartitionId, ShardId, ShardSet};
use basalt_config::Settings;
use basalt_engine::{
    Attempt, CommandContext, Cursor, DatabaseTotals, Held, Issuer, LockWait, Refusal, Transaction,
    Walk, WalkEnd, WalkLimits, WalkedRows,
};
use basalt_env::Random;
use basalt_service::error::CommandError;
use basalt_service::push::Outbox;
use basalt_service::server::Server;
use basalt_service::session::Session;
use basalt_service::wait::Wait;
use basalt_value::Kind;
use std::ops::Range;

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
    /// How long its thread waits for a partition.
    pub lock_wait: LockWait,
    /// The moment at which time stands still, in unix microseconds: in a script, and nowhere else.
    pub frozen_us: Option<u64>,
    /// It is not one of the commands of a transaction or a script: it may wait.
    pub runs_alone: bool,
    /// The transaction that it is part of, which holds every partition if the command is one that
    /// concerns whole databases.
    pub transaction: Option<Transaction<'a>>,
}

impl Context<'_> {
    /// Now, in unix microseconds.
    pub fn now_us(&self) -> u64 {
        self.frozen_us.unwrap_or_else(|| self.server.engine.clock().unix_us())
    }

    /// A walk over the selected database.
    pub fn walk(&self) -> Walk {
        Walk { db: self.session.db, now_ms: self.now_ms, wait: self.lock_wait }
    }

    /// Visits keys of the selected database from `from` on, with what they hold (`None` is a
    /// string): [`Engine::walk_keys`](basalt_engine::Engine::walk_keys). `rows` have been read for
    /// it, and `left` becomes what is left of the limits.
    ///
    /// # Errors
    /// Rows have to be read, or a partition is held for long.
    pub fn walk_keys(
        &self,
        from: Cursor,
        left: &mut WalkLimits,
        rows: &WalkedRows,
        visit: &mut dyn FnMut(&[u8], Option<Kind>),
    ) -> Result<Cursor, WalkEnd> {
        match &self.transaction {
            // It has all in memory.
            Some(transaction) => transaction.scan(self.walk(), from, left, |key, object| {
                visit(key, object.collection().map(|value| value.kind()));
            }),
            None => self.server.engine.walk_keys(self.walk(), from, left, rows, visit),
        }
    }

    /// From where a walk meets some key first that is about as likely as another; `None` if there
    /// is no key.
    ///
    /// # Errors
    /// A partition is held for long.
    pub fn random_place(&self, random: &mut Random) -> Result<Option<Cursor>, Held> {
        self.server.engine.random_place(self.walk(), random)
    }

    /// Some key of the selected database, for a command of a transaction; `None` if there is none.
    /// Outside of one the outer `None`.
    pub fn random_key_within(&self, random: &mut Random) -> Option<Option<Vec<u8>>> {
        let transaction = self.transaction.as_ref()?;
        Some(transaction.random_key(self.walk(), random).unwrap_or_default())
    }

    /// What the selected database holds.
    ///
    /// # Errors
    /// A partition is held for long.
    pub fn totals(&self) -> Result<DatabaseTotals, Held> {
        match &self.transaction {
            Some(transaction) => Ok(transaction.totals(self.session.db)),
            None => self.server.engine.totals_within(self.session.db, self.lock_wait),
        }
    }

    /// Empties databases.
    ///
    /// # Errors
    /// A partition is held for long.
    pub fn flush(&mut self, databases: Range<u8>) -> Result<(), Held> {
        let session = self.key_session();
        match &mut self.transaction {
            Some(transaction) => transaction.flush(databases, session),
            None => {
                return self.server.engine.flush(databases, self.lock_wait, &mut self.session.gate);
            }
        }
        self.gate_reads_of_everything();
        Ok(())
    }

    /// Exchanges two databases.
    ///
    /// # Errors
    /// A partition is held for long.
    pub fn swap(&mut self, db: u8, other: u8) -> Result<(), Held> {
        let session = self.key_session();
        match &mut self.transaction {
            Some(transaction) => transaction.swap(db, other, session),
            None => {
                return self.server.engine.swap(db, other, self.lock_wait, &mut self.session.gate);
            }
        }
        self.gate_reads_of_everything();
        Ok(())
    }

    /// As whom the connection's commands see keys.
    pub fn key_session(&self) -> CommandContext {
        CommandContext {
            db: self.session.db,
            now_ms: self.now_ms,
            touch: self.session.touch,
            value_bytes_max: self.settings.network.bulk_bytes_max,
            client: self.session.client.id,
            attempt: Attempt::First,
            lock_wait: self.lock_wait,
            issuer: Issuer::Client,
        }
    }

    /// Asks the log before a change of whole databases: what to wait for if it is not ready for
    /// one.
    ///
    /// # Errors
    /// The log takes no changes.
    pub fn admit_change(&self) -> Result<Option<Wait>, CommandError> {
        if self.transaction.is_some() {
            return Ok(None); // It was asked before the first command.
        }
        let log = self.server.engine.log();
        for shard in ShardId::all() {
            match log.admit_removal(shard) {
                Ok(()) => {}
                Err(Refusal::Busy) => return Ok(Some(Wait::LogRoom(ShardSet::of(shard)))),
                Err(refusal) => return Err(CommandError::log_refused(&refusal)),
            }
        }
        Ok(None)
    }

    /// Asks the log before a change of libraries of functions: what to wait for if it is not ready
    /// for one.
    ///
    /// # Errors
    /// The log takes no changes.
    pub fn admit_change_of_libraries(&self) -> Result<Option<Wait>, CommandError> {
        let shard = PartitionId::LIBRARIES.shard();
        match self.server.engine.log().admit(shard) {
            Ok(()) => Ok(None),
            Err(Refusal::Busy) => Ok(Some(Wait::LogRoom(ShardSet::of(shard)))),
            Err(refusal) => Err(CommandError::log_refused(&refusal)),
        }
    }

    /// The reply saw keys all over a database: it waits for every change so far.
    pub fn gate_reads_of_everything(&mut self) {
        let log = self.server.engine.log();
        if log.gates_replies() {
            log.latest(ShardSet::ALL, &mut self.session.gate);
        }
    }
}
