//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside them: \[pubsub\]
//!
//! Subscriptions, and which subscribers get a message. It owns the channels, patterns and sharded
//! channels of the server ([`PubSub`]), what one subscriber has subscribed to ([`Subscriptions`])
//! and the messages that a thread has published and not yet handed over ([`Outbox`]). It must never
//! know sockets, connections or the protocol: a subscriber is a number at a [`Sink`], a message is
//! a value that it carries. Its one invariant: what one thread publishes reaches each sink in that
//! order, and nothing reaches a subscription that was made later. Read `registry.rs` next, then
//! `outbox.rs`.

#![forbid(unsafe_code)]

mod audience;
mod channels;
mod outbox;
mod registry;
mod subscriptions;

pub use audience::{Address, Serial, SinkId, Subscription};
pub use outbox::{Congested, Delivery, Outbox, Sink, WhenFull};
pub use registry::{Kind, Matched, PubSub};
pub use subscriptions::{Leaving, Left, Subscriptions};
