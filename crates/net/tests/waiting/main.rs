//! Commands that wait for keys, over sockets and several network threads.

mod commands;
mod ends;
mod failures;
mod fairness;
mod handover;
mod harness;
mod outputs;
mod pauses;
mod relief;
mod streams;
mod waits;
