//! In which form a client is told: server-sent events, or frames of a WebSocket.

use super::events;
use super::note::Note;
use super::socket::{self, Socket};
use crate::plan::Ending;
use crate::problem::Problem;
use crate::respond::{begin_events, begin_socket};
use crate::response::Circumstances;
use basalt_config::HttpSettings;
use basalt_dispatch::Dispatcher;
use basalt_env::Instant;
use basalt_http1::CloseCode;
use basalt_resp::{Output, Protocol, Reply};
use std::sync::atomic::{AtomicU64, Ordering};

/// See the head of this file.
#[derive(Debug)]
pub(crate) enum Form {
    Events,
    Socket(Box<Socket>),
}

impl Form {
    /// Frames, where this is what the client's key is answered with.
    pub(crate) fn socket(accept: String) -> Form {
        Form::Socket(Box::new(Socket::new(accept)))
    }

    /// How many clients are told so.
    fn open<'a>(&self, server: &'a Dispatcher) -> &'a AtomicU64 {
        match self {
            Form::Events => &server.feeds.events,
            Form::Socket(_) => &server.feeds.sockets,
        }
    }

    /// Writes what the feed begins with.
    pub(super) fn begin(
        &self,
        server: &Dispatcher,
        ending: Ending,
        out: &mut Output,
        circumstances: Circumstances<'_>,
    ) {
        // Relaxed: only the number matters.
        self.open(server).fetch_add(1, Ordering::Relaxed);
        match self {
            Form::Events => {
                begin_events(ending, out, circumstances);
                Reply::new(out, Protocol::Resp3).raw(&events::beginning());
            }
            Form::Socket(socket) => begin_socket(&socket.accept, ending, out, circumstances),
        }
    }

    /// A feed that has begun ends.
    pub(super) fn end(&self, server: &Dispatcher) {
        self.open(server).fetch_sub(1, Ordering::Relaxed);
    }

    /// Appends what the client is told.
    pub(super) fn write(&self, note: &Note<'_>, out: &mut Vec<u8>) {
        match self {
            Form::Events => events::write(note, out),
            Form::Socket(_) => socket::write(note, out),
        }
    }

    /// Why the feed ends.
    pub(super) fn problem(&self, problem: &Problem) -> Vec<u8> {
        match self {
            Form::Events => events::problem(problem),
            Form::Socket(_) => {
                let mut sent = Vec::new();
                socket::write_end(CloseCode::POLICY, &problem.detail, &mut sent);
                sent
            }
        }
    }

    /// Appends what shows that both sides are there, if it is due. Returns false if the client is
    /// not.
    pub(super) fn ask(
        &mut self,
        (now, silent_since): (Instant, Instant),
        settings: &HttpSettings,
        out: &mut Vec<u8>,
    ) -> bool {
        match self {
            Form::Events => {
                if settings.events_ping.is_some_and(|every| now - silent_since >= every) {
                    out.extend(events::ping());
                }
                true
            }
            Form::Socket(socket) => match settings.socket_ping {
                Some(every) => socket.ask(now, every, out),
                None => true,
            },
        }
    }
}
