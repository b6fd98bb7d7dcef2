//! What a script asks of the server that runs it.

use crate::words::Words;
use basalt_resp::{Output, Protocol};
use std::borrow::Cow;

/// The server, from a script's point of view. It watches over the script that it runs.
pub trait Host: Overseer {
    /// Runs a command. Its reply is one complete reply in `protocol`; an error is a reply, too.
    ///
    /// # Errors
    /// It is not run at all.
    fn call(&mut self, words: &Words, protocol: Protocol, out: &mut Output) -> Result<(), Denied>;

    /// The script takes long: whatever else its thread has to do is done now. Called when the
    /// overseer says [`Look::Attend`].
    fn attend(&mut self) {}

    /// Whether a user may run a command: `redis.acl_check_cmd`. `None` if there is no such command.
    fn may_call(&self, words: &Words) -> Option<bool>;
}

/// Why a call is not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Denied {
    /// The script is told this, code first, and can go on. The host has counted the error.
    Because(Cow<'static, str>),
    /// The script is not to go on: whatever it does now has no effect.
    GiveUp,
}

/// How important a line of `redis.log` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// `redis.LOG_DEBUG`
    Debug,
    /// `redis.LOG_VERBOSE`
    Verbose,
    /// `redis.LOG_NOTICE`
    Notice,
    /// `redis.LOG_WARNING`
    Warning,
}

impl Level {
    pub(crate) fn from_number(number: i64) -> Option<Level> {
        Some(match number {
            0 => Level::Debug,
            1 => Level::Verbose,
            2 => Level::Notice,
            3 => Level::Warning,
            _ => return None,
        })
    }
}

/// Watches over a running script.
pub trait Overseer {
    /// Called every millisecond or so while Lua runs.
    fn look(&self) -> Look;

    /// `redis.log`.
    fn log(&self, level: Level, text: &[u8]);
}

/// What an overseer says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Look {
    /// It may go on.
    GoOn,
    /// It may go on when [`Host::attend`] has been called.
    Attend,
    /// It ends with this error, and cannot catch it.
    End(&'static str),
    /// It is not to go on: whatever it does now has no effect, as [`Denied::GiveUp`].
    GiveUp,
}
