//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside them: \[script\]
//!
//! Scripts in Lua 5.1, as EVAL runs them, and functions, as FCALL does. It owns the scripts that
//! are known by their SHA-1 ([`Scripts`]), a thread's Lua state with its sandbox and the `redis`
//! library ([`Interpreter`]), and the conversion of replies into Lua values and back. It must never
//! know keys, commands or locks: what a script asks for goes through [`Host`]. Its one invariant:
//! no script leaves anything behind in the Lua state that another can see, and none runs on for
//! ever or beyond its memory. `unsafe` is in `raw.rs` only. Read `interpreter.rs` next, then
//! `prelude.lua`, the sandbox.

#![deny(unsafe_code)]

mod answer;
mod arguments;
mod bit;
mod bytecode;
mod current;
mod failure;
mod from_reply;
mod host;
mod input;
mod interpreter;
mod json;
mod lent;
mod library;
mod list_use;
mod msgpack;
mod native;
mod pattern;
mod random;
#[allow(unsafe_code)]
mod raw;
mod registering;
mod room;
mod script;
mod sha1;
mod shape;
mod store;
mod strings;
mod structs;
mod trust;
mod way_out;
mod words;

pub use answer::{Answer, NoteError};
pub use failure::Counted;
pub use host::{Denied, Host, Level, Look, Overseer};
pub use input::Input;
pub use interpreter::{Finished, Interpreter, ScriptLimits};
pub use library::{FunctionInfo, Library, LibrarySource, Program};
pub use random::RandomState;
pub use script::{Script, ScriptError, ScriptFlags};
pub use sha1::Sha1;
pub use store::{Evaluated, Scripts};
pub use trust::{KeyScope, Trust};
pub use words::Words;
