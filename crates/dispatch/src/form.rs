//! Replies in a form of their own, for clients that do not speak Redis' protocol.
//!
//! Commands write Redis' protocol and nothing else. A client of another kind brings a
//! [`ReplyForm`], which is told where each reply begins and ends, and rewrites it there.

use super::halt::Halt;
use basalt_engine::Durability;
use basalt_resp::{Output, Protocol, Reply, ReplyMark};
use basalt_service::session::Session;
use basalt_service::wait::Afterwards;
use std::fmt::Debug;
use std::time::Duration;

/// The form in which a client gets its replies. It is told of each of its requests that run, in
/// their order.
pub trait ReplyForm: Debug + Send {
    /// A request of the client begins to run: its reply will be written to `out`. `now_ms` is the
    /// time, in unix milliseconds. Returns the terms under which it runs, if its connection has
    /// none.
    fn begin(&mut self, out: &mut Output, now_ms: u64) -> Option<Terms>;

    /// The request that has begun is of the user who has proven to be its sender: the session is to
    /// have that user's rights.
    fn log_in(&mut self, session: &mut Session) {
        let _ = session;
    }

    /// What has been written since [`ReplyForm::begin`], of which nothing has been sent, is all
    /// that the request writes for now. Returns what becomes of the client. Not called if the
    /// connection closes without a reply, as it does when a reply would take too much memory; what
    /// [`ReplyForm::begin`] has written is taken back then.
    fn end(&mut self, ended: Ended, out: &mut Output) -> Then;
}

/// What a request says of itself that a connection says for all of its requests in Redis' protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The database that it runs in.
    pub db: u8,
    /// How long it may wait for its keys, whatever it asks for.
    pub key_wait_max: Duration,
    /// Until when the reply waits for what the request changes.
    pub durability: Durability,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It has run, and its reply is written.
    Answered,
    /// It has run, and its reply comes later, between a beginning and an end of its own; no other
    /// request of the client runs before. Nothing has been written.
    AnsweredLater,
    /// It has not run, and begins again: at once, or after it has been parsed again. Nothing has
    /// been written.
    RunsAgain,
}

/// What becomes of a client that has got a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// It may go on.
    GoesOn,
    /// This was its last reply.
    Closes,
}

/// A reply in a form that has begun.
pub(super) struct Begun<'a> {
    form: &'a mut dyn ReplyForm,
    /// The end of the output before the form had begun, and its length.
    before: (ReplyMark, usize),
    /// Its length since.
    begun: usize,
}

impl<'a> Begun<'a> {
    pub(super) fn new(
        form: &'a mut dyn ReplyForm,
        session: &mut Session,
        (out, now_ms): (&mut Output, u64),
    ) -> Begun<'a> {
        let before = (Reply::new(out, Protocol::default()).mark(), out.len());
        let terms = form.begin(out, now_ms);
        form.log_in(session);
        if let Some(Terms { db, key_wait_max, .. }) = terms {
            (session.db, session.key_wait_max) = (db, Some(key_wait_max));
        }
        session.gate.demand(terms.map_or_else(Durability::default, |terms| terms.durability));
        Begun { form, before, begun: out.len() }
    }

    /// The request has ended, and has halted its client if there is a halt. Returns how its client
    /// is halted.
    pub(super) fn end(self, halt: Option<Halt>, out: &mut Output) -> Option<Halt> {
        if matches!(halt, Some(Halt::Closed)) && out.len() <= self.begun {
            // If all has been dropped, there is nothing to be taken back.
            let (mark, len) = self.before;
            if out.len() >= len {
                Reply::new(out, Protocol::default()).cut(mark);
            }
            return halt;
        }
        match self.form.end(Ended::of(halt.as_ref()), out) {
            Then::Closes if halt.is_none() => Some(Halt::Closed),
            _ => halt,
        }
    }
}

impl Ended {
    /// How the request ended that has halted its client, or none has.
    fn of(halt: Option<&Halt>) -> Ended {
        match halt {
            Some(Halt::Waits { wait, .. }) if wait.afterwards() == Afterwards::Reply => {
                Ended::AnsweredLater
            }
            Some(Halt::Waits { .. } | Halt::Later) => Ended::RunsAgain,
            Some(Halt::Closed) | None => Ended::Answered,
        }
    }
}
