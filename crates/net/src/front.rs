//! HOT PATH
//! What turns a client's bytes into requests of a batch, and replies into bytes for the client.
//!
//! ```text
//! bytes ─▶ Front::next ─▶ words ─▶ Batch ─▶ command ─▶ Redis' protocol ─▶ ReplyForm ─▶ bytes
//! ```
//! Redis' protocol is the front that is built in (`wire.rs`): nothing of it is called through a
//! table, and its replies are as commands write them. Others come with the sockets that they are
//! for ([`Listening::add`](crate::Listening::add)), one of them for each connection.
//!
//! Whatever its front, a request takes the one way of all: dispatched by its words, in batches with
//! requests of other clients. So a front keeps for itself what it has to know of a request when
//! its reply ends, in the order of the requests, and forgets it in [`Front::rewind`].

use crate::input::Input;
use basalt_dispatch::ReplyForm;
use basalt_env::Instant;
use basalt_observe::counters::ThreadCounters;
use basalt_resp::{Arg, Output, Parser, Protocol, RequestLimits};
use std::time::Duration;

/// How one client's requests and replies look.
pub trait Front: ReplyForm {
    /// Parses the request where parsing stands ([`Input::parsed`]), and appends its words, as
    /// ranges of the input's bytes, to `words`; appends nothing unless it returns
    /// [`Next::Request`]. Not called when everything is parsed.
    ///
    /// What has been returned may be asked for again, after a [`Front::rewind`]. Bytes that it
    /// changes in place are to be kept before ([`Input::keep`]).
    fn next(&mut self, input: &mut Input, limits: &RequestLimits, words: &mut Vec<Arg>) -> Next;

    /// Parses again from the first request that has not run; all that was parsed behind it is
    /// forgotten, and so is the request under way. A request that is to be answered later has run.
    fn rewind(&mut self);

    /// Writes the answer of the front's own to the bytes for which it returned [`Next::Passed`].
    /// All requests before have been answered.
    fn answer(&mut self, out: &mut Output);

    /// Writes what a client is told whose bytes are no request: [`Next::Refused`]. All requests
    /// before have been answered, and the connection closes.
    fn refuse(&mut self, out: &mut Output);

    /// Writes an error that answers no request, code first, before the connection closes: because
    /// it may not come in, or because the log has lost what it had been about to be told.
    fn dismiss(&mut self, error: &str, out: &mut Output);

    /// Writes a message of pub/sub, which has been written in Redis' protocol.
    fn deliver(&mut self, message: Output, out: &mut Output);

    /// Adds what it has counted since it was asked last. Asked by its connection's thread, whose
    /// counters these are, when that sends what the client is owed.
    fn count(&mut self, counters: &ThreadCounters) {
        let _ = counters;
    }

    /// What CLIENT LIST calls it; `None` for Redis' protocol.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// The version of Redis' protocol in which commands write to it.
    fn protocol(&self) -> Protocol;

    /// Whether it lets in each request by itself, so that the connection needs no password: the
    /// commands that it passes on are allowed.
    fn lets_in(&self) -> bool {
        false
    }

    /// Asked about once a second while nothing of the connection runs or waits: whether the client
    /// has taken too long with the request that it is sending, of which `unparsed` bytes are there.
    /// If so it is told ([`Front::refuse`]), and the connection closes.
    fn is_late(&mut self, now: Instant, unparsed: usize) -> bool {
        let _ = (now, unparsed);
        false
    }

    /// Bytes that all clients of such fronts may have sent together of requests that are not wholly
    /// there, or have not run. One whose request finds no room is turned away
    /// ([`Front::turn_away`]).
    fn unfinished_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// There is no room for the rest of its client's request, but there will be again: writes what
    /// the client is told before the connection closes.
    fn turn_away(&mut self, out: &mut Output) {
        self.dismiss("TRYAGAIN too many requests are under way", out);
    }

    /// What its client has been sent last was the last reply: how much of what it still sends is
    /// read and dropped, so that it gets to read that reply, before the connection closes. `None`
    /// closes at once, which resets the connection of a client that is sending. `is_unread` is
    /// whether the client may have sent more than has been read; the front knows whether it is in
    /// the midst of a request.
    fn linger(&self, is_unread: bool) -> Option<Linger> {
        let _ = is_unread;
        None
    }

    /// How long its client may be silent, beside what the option `timeout` says.
    fn idle_max(&self) -> Option<Duration> {
        None
    }

    /// Whether it has a command to run that its client has not sent, a standing one: then
    /// [`Front::next`] is called though everything is parsed, as soon as the client has taken most
    /// of what it is owed.
    #[inline(always)]
    fn stands(&self) -> bool {
        false
    }

    /// Whether its client may say something while a standing command waits, which is then read and
    /// shown to [`Front::hear`].
    fn listens(&self) -> bool {
        false
    }

    /// Looks at what its client has said while a standing command waits; may answer it. Returns
    /// true if it is a request, for which the command is to be given up.
    fn hear(&mut self, input: &mut Input, out: &mut Output) -> bool {
        let _ = (input, out);
        false
    }

    /// Takes the standing command that waits out of the input, if [`Front::hear`] has heard a
    /// request since it began to wait; returns true if so.
    fn give_up(&mut self, input: &mut Input) -> bool {
        let _ = input;
        false
    }

    /// Asked about once a second, unless a request runs: does what is due by then.
    /// `owed_bytes` are owed to the client.
    fn beat(&mut self, now: Instant, owed_bytes: usize, out: &mut Output) -> Beat {
        let _ = (now, owed_bytes, out);
        Beat::Nothing
    }

    /// The server stops: writes what a client is told whose connection would go on without a
    /// request.
    fn say_goodbye(&mut self, out: &mut Output) {
        let _ = out;
    }

    /// Its client has gone. Returns true if commands are to be run for which nobody waits, such as
    /// those that give back what the client has held: [`Front::stands`] until it is done, when the
    /// last of them closes the connection. Everything has been rewound, and all input is to be
    /// removed.
    fn part(&mut self, input: &mut Input) -> bool {
        let _ = input;
        false
    }

    /// A command that waited has been answered, but its client was going.
    fn miss(&mut self, reply: Output) {
        let _ = reply;
    }

    /// The database in which the request runs that was parsed last, where `selected` is its
    /// connection's; good enough to prefetch.
    #[inline(always)]
    fn database(&self, selected: u8) -> u8 {
        selected
    }

    /// The parser, if requests are in Redis' protocol: then those that begin as the one before are
    /// taken without it.
    #[inline(always)]
    fn parser(&self) -> Option<&Parser> {
        None
    }
}

/// How much of what a client sends behind its last reply is read and dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linger {
    /// Bytes; with one more the connection closes.
    pub bytes_max: usize,
    /// From the reply on. It is looked at once a second.
    pub time_max: Duration,
}

/// What a front did in [`Front::beat`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Beat {
    /// Nothing.
    Nothing,
    /// It has written something.
    Wrote,
    /// The connection closes when what it may have written is sent.
    Closes,
}

/// What a front found where parsing stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Next {
    /// A request of this many bytes.
    Request {
        /// The next one is behind them.
        bytes: usize,
    },
    /// Bytes that no command runs for: the front answers them itself, or nobody does.
    Passed {
        /// How many.
        bytes: usize,
    },
    /// A request that is not wholly there.
    Incomplete {
        /// How many bytes there must be before parsing can get any further.
        wanted: usize,
    },
    /// A request that is there, but cannot be parsed before those before it have run.
    Later,
    /// No request: the client is told so, and the connection closes.
    Refused,
}
