//! HOT PATH
//! The state of one connection that commands see and change.

use crate::clients::ClientHandle;
use crate::error::CommandError;
use basalt_engine::{Gate, Touch};
use basalt_resp::Protocol;
use std::sync::Arc;

/// One connection, as commands see it.
pub struct Session {
    /// What CLIENT LIST shows of it and CLIENT KILL reaches it by.
    pub client: Arc<ClientHandle>,
    /// The selected database.
    pub db: u8,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// Whether it may run commands that need authentication.
    pub authenticated: bool,
    /// Whether its reads count as uses of keys.
    pub touch: Touch,
    /// What becomes of its replies.
    pub replies: Replies,
    /// What its replies so far wait for.
    pub gate: Gate,
}

/// What becomes of a connection's replies (`CLIENT REPLY`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replies {
    /// They are sent.
    On,
    /// They are dropped.
    Off,
    /// The reply of the command that said so is dropped, and the next one, too.
    SkipNext,
    /// This command's reply is dropped, the ones after it are sent.
    Skip,
}

/// What the event loop does after a command.
#[derive(Debug)]
pub enum Flow {
    /// Goes on with the next.
    Done,
    /// Sends what is there, then closes the connection.
    Close,
    /// Parks the connection.
    Wait(crate::wait::Wait),
}

/// What a session command gives.
pub type SessionResult = Result<Flow, CommandError>;

impl Session {
    /// A new connection.
    pub fn new(client: Arc<ClientHandle>, authenticated: bool) -> Session {
        Session {
            client,
            db: 0,
            protocol: Protocol::Resp2,
            authenticated,
            touch: Touch::Yes,
            replies: Replies::On,
            gate: Gate::default(),
        }
    }
}
