//! Commands that wait for keys, and clients of several kinds, over sockets and network threads.

mod calls;
mod commands;
mod ends;
mod failures;
mod fairness;
mod fronts;
mod handover;
mod harness;
mod line_front;
mod lingering;
mod outputs;
mod pauses;
mod queues;
mod relief;
#[path = "../../../tests/src/stall.rs"]
mod stall;
mod stalls;
mod streams;
mod waits;
