//! Asking another server, while a command waits for its answers.
//!
//! The process has the sockets ([`Host::ask_peer`](crate::host::Host::ask_peer)). The command is
//! parked meanwhile, and runs again when the answers are there.

use crate::wait::Done;
use basalt_stdx::lock_rank::RankedMutex;
use std::sync::Arc;
use std::time::Duration;

/// What another server is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerCall {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How long finding and connecting, taking each part of the requests, and each reply may take.
    pub timeout: Duration,
    /// Requests of Redis' protocol, which are all sent at once.
    pub requests: Vec<u8>,
    /// How many there are.
    pub count: usize,
}

/// What another server has answered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PeerAnswers {
    /// The replies that have come: nothing, or the text of the error.
    pub replies: Vec<Result<(), String>>,
    /// Why there are not as many as requests.
    pub failure: Option<PeerFailure>,
}

/// Why another server has not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PeerFailure {
    /// It could not be reached.
    Connecting,
    /// It did not take the requests.
    Writing,
    /// It did not answer in time, or not in one line.
    Reading,
}

/// A key that is on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentKey {
    /// The key.
    pub key: Vec<u8>,
    /// Its value, as a payload.
    pub payload: Vec<u8>,
    /// When it expires; 0 for never.
    pub expire_ms: u64,
}

/// A call that a command waits for.
#[derive(Default)]
pub struct Errand {
    /// What was sent.
    pub sent: Vec<SentKey>,
    state: RankedMutex<State>,
}

#[derive(Default)]
struct State {
    answers: Option<PeerAnswers>,
    done: Option<Done>,
}

impl std::fmt::Debug for Errand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Errand").field("sent", &self.sent.len()).finish_non_exhaustive()
    }
}

impl Errand {
    /// Nothing has been answered yet.
    pub fn new(sent: Vec<SentKey>) -> Errand {
        Errand { sent, state: RankedMutex::default() }
    }

    /// The answers have come, or will not.
    pub fn finish(&self, answers: PeerAnswers) {
        let done = {
            let mut state = self.state.lock();
            state.answers = Some(answers);
            state.done.take()
        };
        if let Some(done) = done {
            done(Ok(()));
        }
    }

    /// Calls `done` when the answers are there.
    pub fn when_finished(&self, done: Done) {
        let mut state = self.state.lock();
        if state.answers.is_none() {
            state.done = Some(done);
            return;
        }
        drop(state);
        done(Ok(()));
    }

    /// The answers, if they are there.
    pub fn answers(&self) -> Option<PeerAnswers> {
        self.state.lock().answers.clone()
    }
}

/// Called once with the answers, from another thread.
pub type Answered = Box<dyn FnOnce(PeerAnswers) + Send>;

/// An errand whose answers are still to come.
pub fn answered(errand: &Arc<Errand>) -> Answered {
    let errand = Arc::clone(errand);
    Box::new(move |answers| errand.finish(answers))
}
