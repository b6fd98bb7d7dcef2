//! The generic family: against a real Redis, SCAN's guarantee, and what is Basalt's own.

mod differential;
mod engine;
mod heads;
mod migrate;
mod reaped;
mod scan;
mod unread;
mod unread_deletes;
