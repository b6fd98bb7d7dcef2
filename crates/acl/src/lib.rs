//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside them: \[acl\]
//!
//! This crate is who the users are and what each may do, as in Redis 7.2: rules are applied to a
//! [`User`], a call of a command is checked against it, and what was denied goes into an
//! [`AclLog`]. All of it is plain data: no lock, no clock, no file. It must never know sessions,
//! sockets or how a command runs; what it needs of a command is in the command's spec. Its one
//! invariant: a call is permitted only if one selector permits its command, each of its keys and
//! each of its channels. Read next: `selector.rs` for one set of rights, `user.rs` for what has
//! several, `check.rs` for the question that is asked of a call.

#![forbid(unsafe_code)]

mod check;
mod command_set;
mod log;
mod password;
mod rules;
mod selector;
mod user;
mod users;

pub use check::{AlikeCalls, Denied};
pub use log::{AclLog, Context, LogEntry, OBJECT_BYTES_MAX, Occurrence, Reason};
pub use password::{PasswordHash, hash_password};
pub use rules::{RuleError, UnmatchedParenthesis, merge_selectors};
pub use selector::{ChannelDefault, KeyRights, Selector};
pub use user::User;
pub use users::{DEFAULT_USER, FileError, SetUserError, Users};
