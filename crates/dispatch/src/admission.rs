//! HOT PATH
//! What may keep a client's commands from running, or from running a short way: one list
//! of conditions, gone through once for a client and a batch, and again after a command that may
//! have changed one.
//!
//! Beside it stand only what depends on the command (its arity, whether it takes memory) and
//! [`basalt_service::unusual::Unusual::any`], which another thread may change at any moment.

use super::dispatcher::Dispatcher;
use super::worker::Worker;
use basalt_resp::Protocol;
use basalt_service::session::{Replies, Session};

/// Conditions that hold for a client, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Admission(u16);

impl Admission {
    /// The client has to say who it is before it runs commands.
    pub(super) const UNAUTHENTICATED: u16 = 1;
    /// Memory in use is over `maxmemory`: commands that take memory do not run.
    pub(super) const OUT_OF_MEMORY: u16 = 1 << 1;
    /// It has subscribed, and speaks a protocol in which a reply could not be told from a message.
    pub(super) const SUBSCRIBED: u16 = 1 << 2;
    /// Commands are queued.
    pub(super) const QUEUEING: u16 = 1 << 3;
    /// Replies are not simply sent.
    pub(super) const SILENT: u16 = 1 << 4;
    /// Its command has waited.
    const WAITING: u16 = 1 << 5;
    /// Somebody listens for events of keys, or the keys that the client reads are tracked.
    pub(super) const LISTENING: u16 = 1 << 6;
    /// Every command is timed by itself.
    const TIMED: u16 = 1 << 7;
    /// Its user may not do everything: each command is checked.
    pub(super) const RESTRICTED: u16 = 1 << 8;
    /// Its command has waited for keys that somebody held for long.
    pub(super) const HELD: u16 = 1 << 9;
    /// There is no memory for commands that take some, but keys are leaving it: they wait.
    pub(super) const MEMORY_LATER: u16 = 1 << 10;
    /// Commands that take memory do not run now.
    pub(super) const NO_MEMORY: u16 = Admission::OUT_OF_MEMORY | Admission::MEMORY_LATER;
    /// There is something to be done before or after its command.
    pub(super) const ASIDE: u16 = Admission::SILENT | Admission::HELD;

    /// Goes through the conditions. If users have changed, the client's rights are renewed first.
    #[inline]
    pub(super) fn of(server: &Dispatcher, worker: &Worker, session: &mut Session) -> Admission {
        session.renew_rights(&server.access);
        let is_subscribed = session.has_channels() && session.protocol == Protocol::Resp2;
        let is_listening =
            !worker.changes.event_classes().is_empty() || session.read_tracking.is_some();
        let conditions = [
            (Admission::UNAUTHENTICATED, !session.rights.is_admitted()),
            (Admission::OUT_OF_MEMORY, server.is_out_of_memory(&worker.settings)),
            (Admission::MEMORY_LATER, server.is_short_of_memory()),
            (Admission::SUBSCRIBED, is_subscribed),
            (Admission::QUEUEING, session.is_queueing()),
            (Admission::SILENT, session.replies != Replies::On),
            (Admission::WAITING, session.waiting.is_some()),
            (Admission::LISTENING, is_listening),
            (Admission::TIMED, worker.times_every_command),
            (Admission::RESTRICTED, session.rights.is_restricted()),
            (Admission::HELD, session.held_since.is_some()),
        ];
        Admission(conditions.iter().map(|&(bit, holds)| if holds { bit } else { 0 }).sum())
    }

    /// Whether a condition holds.
    #[inline(always)]
    pub(super) fn has(self, condition: u16) -> bool {
        self.0 & condition != 0
    }

    /// Whether nothing about the client asks for a closer look at its commands, but for the rights
    /// that they take. Commands on keys leave it so.
    #[inline(always)]
    pub(super) fn opens_short_ways(self) -> bool {
        self.0 & !(Admission::NO_MEMORY | Admission::RESTRICTED) == 0
    }
}
