//! bytes ▸ \[http\] ▸ dispatch ▸ commands ▸ engine ▸ log ▸ cold
//!
//! This crate is the front of HTTP/1.1 beside that of Redis' protocol: it turns the requests of one
//! connection into words of a batch, written over their heads, and replies into responses, written
//! where the replies stand. It owns the table of paths, the rules for web pages and users, and
//! the form of errors. It must never know sockets, how a command works, or where a key is. Its one
//! invariant: each request gets exactly one response, in the order of the requests, whatever
//! becomes of the commands in between. Read `front.rs` next, then `table.rs`.
//!
//! The wire itself, heads and chunks, is `basalt_http1`.

#![forbid(unsafe_code)]

mod command;
mod conditions;
mod console;
mod digests;
mod document;
mod feed;
mod flat;
mod front;
mod general;
mod guard;
mod health;
mod hust;
mod identity;
mod intake;
mod json;
mod login;
mod logins;
mod metrics;
mod operation;
mod own;
mod patience;
mod plan;
mod problem;
mod query;
mod repeats;
mod respond;
mod response;
mod routes;
mod series;
mod shape;
mod strings;
mod table;
mod tally;
mod task;
mod translate;
mod walk;
mod words;
mod write;

pub use front::HttpFront;
pub use logins::Logins;
