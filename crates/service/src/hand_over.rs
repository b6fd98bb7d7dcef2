//! Commands that wait for keys, where another client's thread finds them: a thread that puts
//! something under a key runs the waiting command before its own next one.
//!
//! ```text
//! parked ──claim──▶ claimed ──served──▶ over        its thread sends the reply
//!   │ ▲                │
//!   │ └───park─────────┘  nothing for it
//!   └──take back──▶ with its own thread ──park──▶ parked
//! ```
//! A command is in one place at a time: in its client's `Slot`, or with the one thread that has
//! taken it out and runs it. So an element that is taken for a client is taken once, and a client
//! leaves (because its time is over, or it is unblocked, killed or closed) before it is served or
//! after that. The command is parked under the locks of the run that found nothing.

use basalt_engine::Gate;
use basalt_resp::Output;

/// Where a client's command, a `C`, is while it waits for keys.
#[derive(Debug)]
pub(crate) struct Slot<C> {
    parked: Option<Box<C>>,
    /// Another thread runs it.
    is_claimed: bool,
    /// Its own thread has asked for it meanwhile.
    is_asked_for: bool,
    /// Its client goes.
    is_abandoned: bool,
}

/// What a waiting client is answered by another client's thread.
#[derive(Debug)]
pub struct Served {
    /// The reply.
    pub reply: Output,
    /// What it waits for.
    pub gate: Gate,
}

/// What was asked of a command while another thread had it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// Its own thread is to run it.
    Run,
    /// Its client goes: it leaves its queues.
    Leave,
}

impl<C> Default for Slot<C> {
    fn default() -> Self {
        Slot { parked: None, is_claimed: false, is_asked_for: false, is_abandoned: false }
    }
}

impl<C> Slot<C> {
    /// The command waits.
    pub fn park(&mut self, command: Box<C>) {
        self.parked = Some(command);
        self.is_claimed = false;
    }

    /// Takes the command, to run it for its client; `None` if somebody has it already.
    pub fn claim(&mut self) -> Option<Box<C>> {
        let command = self.parked.take()?;
        self.is_claimed = true;
        Some(command)
    }

    /// Its own thread takes the command. If another has it, that one will say how it ended.
    pub(crate) fn take_back(&mut self) -> Option<Box<C>> {
        self.is_asked_for = self.parked.is_none();
        self.parked.take()
    }

    /// Takes the command because its client goes. If another thread has it, that one will see to
    /// the rest.
    pub(crate) fn abandon(&mut self) -> Option<Box<C>> {
        self.is_abandoned = self.parked.is_none();
        self.parked.take()
    }

    /// Another thread runs the command.
    pub(crate) fn is_claimed(&self) -> bool {
        self.is_claimed
    }

    /// The command is over.
    pub fn end(&mut self) {
        *self = Slot::default();
    }

    /// What was asked of the command since it was claimed; asked once.
    pub fn take_asked(&mut self) -> Asked {
        if std::mem::take(&mut self.is_abandoned) {
            Asked::Leave
        } else if std::mem::take(&mut self.is_asked_for) {
            Asked::Run
        } else {
            Asked::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_has_the_command_and_learns_what_others_wanted_of_it() {
        let mut slot = Slot::default();
        slot.park(Box::new(1));
        assert_eq!(
            (slot.claim(), slot.claim(), slot.is_claimed()),
            (Some(Box::new(1)), None, true)
        );
        assert_eq!((slot.take_back(), slot.take_asked()), (None, Asked::Run));
        assert_eq!((slot.abandon(), slot.take_asked()), (None, Asked::Leave));
        slot.park(Box::new(2));
        assert_eq!((slot.is_claimed(), slot.take_asked()), (false, Asked::Nothing));
        assert_eq!((slot.take_back(), slot.take_asked()), (Some(Box::new(2)), Asked::Nothing));
    }
}
