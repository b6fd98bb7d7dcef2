//! Messages and key events, without a network.

mod events;
mod waiting;
