//! The integration tests: one binary, one module for each subject.
//!
//! `BASALT_BIN` names the server under test. With `BASALT_BIN=redis-server` the tests test
//! themselves.

#![forbid(unsafe_code)]
// A test tells its counts and its seed; the harness shows them when it fails, or with --nocapture.
#![allow(clippy::print_stderr)]

mod acl;
mod cas;
mod clients;
mod compat;
mod crash;
mod disk;
mod eviction;
mod frameworks;
mod functions;
mod hostile;
mod http;
mod in_process;
mod killed;
mod limits;
mod load;
mod memory;
mod monitor;
mod openapi;
mod operations;
mod pipelines;
mod protocol;
mod pubsub;
mod queues;
mod rdb;
mod renamed;
mod robustness;
mod scripts;
mod space;
mod stall;
mod stress;
mod tls;
mod tracking;
mod transcripts;
mod upgrade;
mod workers;
