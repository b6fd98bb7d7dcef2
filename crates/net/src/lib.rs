//! \[bytes\] ▸ resp ▸ command ▸ engine ▸ log ▸ cold
//!
//! Sockets and event loops: the way in for clients. It owns the listeners ([`mod@listen`]), the
//! accepting thread ([`acceptor`]) and the network threads ([`threads`](NetThreads)), each with its
//! own connections, which never move. A [`Front`] stands between a client's bytes and the requests
//! of a batch, Redis' protocol being the one that is built in. The crate must never know what a
//! command does, nor touch a key. Its one invariant: a network thread never blocks but in `poll`;
//! whatever takes longer than computing parks its connection and comes back as a message. Read
//! `reactor.rs` next, then `turn.rs`.
//!
//! There is no async runtime here: a connection is a small state machine (reading, parked,
//! closing), a hit never waits, and one `poll` a turn for all sockets of a thread is all the
//! scheduling there is. See `docs/decisions/0001-event-loop.md`.

#![forbid(unsafe_code)]

pub mod acceptor;
mod beside;
mod buffers;
mod connection;
mod front;
mod gather;
mod give_way;
mod handshakes;
mod input;
pub mod listen;
pub mod listening;
mod mailbox;
mod reactor;
mod relief;
mod seats;
mod share;
mod stream;
mod threads;
mod timers;
mod turn;
mod wire;

pub use acceptor::Acceptor;
pub use front::{Beat, Front, Linger, Next};
pub use input::Input;
pub use listen::ListenError;
pub use listening::Listening;
pub use threads::{NetThreads, STOP_GRACE, Stopped};
