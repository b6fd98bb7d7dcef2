//! Tests as data: a conversation with a server, written down.
//!
//! A file is a list of cases, separated by empty lines. Each case begins with an empty database and
//! fresh connections. A command stands after `> `, quoted as for redis-cli; the lines below it are
//! its reply (the words to the right are explanations and would not stand in a file):
//!
//! ```text
//! # what this case shows (a comment)
//! # since 7.2.0                 the case is skipped on an older Redis
//! # basalt-only                 … or on Redis altogether (also: redis-only)
//! # protocol 2                  … or unless this protocol is spoken
//! # needs RPUSH                 … or if the server does not have this command (yet)
//! > SET k "a b"
//! OK
//! > MGET k none                 an array
//! 1) "a b"
//! 2) (nil)
//! > CONFIG GET port             where RESP3 differs, its form follows
//! 1) "port"
//! 2) *
//! # resp3
//! 1# "port" => *
//! @2 > GET k                    on a second connection
//! "a b"
//! @2 <                          nothing is sent: one more reply, or a message, is awaited
//! 1) "message"
//! ...
//! # unordered                   the next reply is an array in any order: it is sorted first
//! > KEYS *
//! # eventually                  the next command is repeated until it does (5 seconds at most)
//! > EXISTS k
//! > QUIT
//! OK
//! > PING
//! (closed)                      also: (no reply), which is not waited for
//! ```
//!
//! Replies: `OK` (simple), `"bulk"`, `(integer) 3`, `(nil)`, `(nil array)` (RESP2's `*-1`),
//! `(error) ERR text`, `(empty array)`, `(double) 1.5`, `(true)`, `(verbatim txt) "…"`; items of
//! arrays `1) `, of sets `1~ `, of pushes `1> `, of maps `1# key => value`; nested ones are
//! indented.
//!
//! Where a value is not fixed: `*` matches any value, `...` any lines to the end; `(integer) ~>=1`,
//! `~<=1` and `~1..5` match a range; `~"ab*"` or `~(error) ERR *` match a glob; `(integer) $id` or
//! `"$id"` matches any, and a later argument `$id` is replaced by it.
//!
//! `BASALT_BLESS=redis` writes what redis-server answers wherever an expectation is missing or
//! wrong.

mod expect;
mod parse;
mod quote;
mod render;
mod run;

pub use parse::{Case, Only, ParseError, Step, Version, parse};
pub use quote::{quote, split_args};
pub use render::render;
pub use run::{Protocol, Report, TranscriptSession, bless_file, run_folder};
