//! The tests of all commands: requests go in as bytes, through the real dispatch, and replies come
//! out as bytes.

mod acl;
mod batches;
mod bits;
mod collections;
mod examples;
mod generic;
mod harness;
mod hyperloglog;
mod log;
mod pubsub;
mod queues;
mod reference;
mod scripting;
mod server;
mod sort;
mod sorted_set;
mod streams;
mod strings;
mod transactions;
mod versions;
