//! Commands that wait for keys, over sockets and several network threads.

mod commands;
mod ends;
mod failures;
mod fairness;
mod harness;
mod pauses;
mod streams;
mod waits;
