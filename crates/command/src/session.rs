//! HOT PATH
//! The state of one connection that commands see and change.

use crate::clients::ClientHandle;
use crate::error::CommandError;
use basalt_config::Settings;
use basalt_engine::{Gate, Touch};
use basalt_pubsub::{Address, Subscriptions};
use basalt_resp::Protocol;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One connection, as commands see it.
pub struct Session {
    /// What CLIENT LIST shows of it and CLIENT KILL reaches it by.
    pub client: Arc<ClientHandle>,
    /// The selected database.
    pub db: u8,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// It has proved who it is, or did not have to when it connected.
    pub authenticated: bool,
    /// Whether its reads count as uses of keys.
    pub touch: Touch,
    /// What becomes of its replies.
    pub replies: Replies,
    /// The running command's reply is sent, whatever was said of replies.
    pub insists: bool,
    /// What its replies so far wait for.
    pub gate: Gate,
    /// What replies of earlier turns waited for when they were set aside.
    pub unacknowledged: Gate,
    /// Where messages for it are sent.
    pub address: Address,
    /// What it has subscribed to; `None` if that is nothing.
    pub subscriptions: Option<Box<Subscriptions>>,
}

/// What becomes of a connection's replies (`CLIENT REPLY`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replies {
    /// They are sent.
    On,
    /// They are dropped.
    Off,
    /// The next command's reply is dropped, the ones after it are sent.
    SkipNext,
    /// The running command's reply is dropped.
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
            insists: false,
            gate: Gate::default(),
            unacknowledged: Gate::default(),
            address: Address::NOWHERE,
            subscriptions: None,
        }
    }

    /// Selects a database.
    pub fn select(&mut self, db: u8) {
        self.db = db;
        self.client.db.store(db, Ordering::Relaxed);
    }

    /// Switches to a version of the protocol.
    pub fn speak(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        let version = match protocol {
            Protocol::Resp2 => 2,
            Protocol::Resp3 => 3,
        };
        self.client.protocol.store(version, Ordering::Relaxed);
    }

    /// Whether it may run commands that need authentication, if a password is configured at all.
    #[inline]
    pub fn is_admitted(&self, settings: &Settings) -> bool {
        self.authenticated || settings.clients.password.is_none()
    }
}
