//! A connection on which a client gets what happens without asking for each of it: a feed.
//!
//! ```text
//! GET … ─▶ opening ─▶ standing command ─▶ its reply ─▶ events, or frames ─▶ sent ─┐
//!          once        ▲ waits for something                                      │
//!                      └──────────────────────────────────────────────────────────┘
//! ```
//! The request becomes the opening command, whose reply says whether there is a feed at all. From
//! then on the front runs a standing command whenever the client has taken what it was told: one
//! that waits, such as XREAD with BLOCK. Its words stand in the query buffer, as if the client had
//! sent them, so that to the rest of the server it is a request like any other. What the client of
//! a WebSocket asks for comes before it.
//!
//! One command of a feed runs at a time: what the next one is depends on the reply.
//!
//! What is fed is `stream.rs`, `channel.rs` and `queue.rs`; in which form, `events.rs` and
//! `socket.rs`.

mod channel;
mod client;
mod end;
mod events;
mod next;
mod note;
mod opening;
mod orders;
mod queue;
mod replies;
mod request;
mod socket;
mod speech;
mod stream;
mod subject;

pub(crate) use opening::Opening;
pub(crate) use speech::Form;

use crate::general::General;
use crate::plan::Ending;
use basalt_dispatch::Dispatcher;
use basalt_env::Instant;
use basalt_http1::CloseCode;
use basalt_net::Input;
use basalt_resp::{Output, Protocol, Reply};
use orders::Announced;
use request::{Asked, Request};
use std::sync::Arc;
use subject::Subject;

/// See the head of this file.
pub(crate) struct Feed {
    server: Arc<Dispatcher>,
    subject: Subject,
    form: Form,
    general: General,
    ending: Ending,
    /// The command that is about to run, or waits.
    request: Option<Request>,
    /// The client has been told that there is a feed.
    is_open: bool,
    /// What the client has announced the body of.
    announced: Option<Announced>,
    /// What is to be answered before anything else runs.
    answer: Vec<u8>,
    /// Why it ends, if the client is to be told.
    end: Option<(CloseCode, String)>,
    /// The client has gone: tokens of what it held.
    parting: Option<Vec<Vec<u8>>>,
    /// Since when the client has been told nothing.
    silent_since: Instant,
}

impl Feed {
    /// The feed that a request opens, whose head stands where parsing does.
    pub(crate) fn open(
        opening: Opening,
        (input, head_bytes): (&mut Input, usize),
        server: &Arc<Dispatcher>,
    ) -> Feed {
        let Opening { subject, general, ending, form } = opening;
        let words = subject.opening();
        let request = Request::place(input, head_bytes, &words, Asked::Opening);
        Feed {
            server: Arc::clone(server),
            subject,
            form,
            general,
            ending,
            request: Some(request),
            is_open: false,
            announced: None,
            answer: Vec::new(),
            end: None,
            parting: None,
            silent_since: server.env.clock.now(),
        }
    }

    /// The database that its commands run in, and the rest of what the request has said of them.
    pub(crate) fn general(&self) -> General {
        self.general
    }

    /// Tells the client something: the silence is over.
    fn send(&mut self, bytes: &[u8], out: &mut Output) {
        if !bytes.is_empty() {
            self.silent_since = self.server.env.clock.now();
            Reply::new(out, Protocol::Resp3).raw(bytes);
        }
    }
}
