//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside all of them: \[observe\]
//!
//! What the server counts about itself, for every layer to use. It owns the counters of a network
//! thread ([`counters`]), distributions of durations ([`histogram`]), the text in which a
//! monitoring system reads both ([`exposition`]), the slow log ([`slow_log`]), the latency monitor
//! ([`latency`]) and limits of log lines ([`log_limit`]). It must never know what a command means
//! or how a reply is written. Its one invariant: counting on the hot path is a plain store into
//! memory of the counting thread; a reader adds up. Read `counters.rs` next.

#![forbid(unsafe_code)]

pub mod counters;
pub mod exposition;
pub mod histogram;
pub mod latency;
pub mod log_limit;
pub mod slow_log;
