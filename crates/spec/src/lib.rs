//! bytes ▸ resp ▸ \[command\] ▸ engine ▸ log ▸ cold
//!
//! What a command *is*: one constant per command, from which everything else derives.
//! It owns the form of that constant ([`CommandSpec`]), the grammar of its synopsis ([`synopsis`]),
//! what follows from both (arity, key positions, ACL categories, the trees behind COMMAND DOCS and
//! COMMAND INFO), the table that finds a command by name ([`CommandTable`]) and the notation of
//! examples ([`example`]).
//! It must never know what a command does, how a reply is encoded or which clients are connected.
//! Its one invariant: nothing that derives from a spec is written down a second time, and a spec
//! from which something does not follow is an error when the table is built, never in a call.
//! Read next: [`CommandSpec`] for what an author writes, then [`CommandTable`].

#![forbid(unsafe_code)]

mod argument;
mod category;
mod command_spec;
mod document;
pub mod example;
mod flags;
mod keys;
pub mod synopsis;
mod table;

pub use argument::{Argument, Kind, Override, Presence, Repeat, around, at};
pub use category::{Categories, Category};
pub use command_spec::{
    Audience, ChannelUse, CommandSpec, Deprecated, Group, KeyFlagsOf, KeysOfCall, Subcommands,
};
pub use document::Node;
pub use flags::{Flag, Flags};
pub use keys::{
    BeginSearch, FindKeys, KeyFlag, KeyFlags, KeyPlaceError, KeyRange, KeySpec, KeyUse, KeysError,
    Words,
};
pub use table::{
    COMMANDS_MAX, Command, CommandId, CommandTable, Filter, Found, NAME_BYTES_MAX, Problem,
    RenameError, SpecError,
};
