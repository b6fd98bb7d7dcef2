//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside all of them: \[config\]
//!
//! This crate is what an operator can tell the server: one constant table of options, and the
//! values that hold. It owns the reading of TOML files, of redis.conf's syntax and of the command
//! line, CONFIG GET, SET and REWRITE, and the reference page made of the table. It must never know
//! what an option does to sockets, memory or disks: the code that acts on a setting reads it from
//! [`Settings`]. Its one invariant: whatever the source, a value passes the same check of its
//! option's kind before anybody can see it, and a change becomes visible whole or not at all. Read
//! next: `option.rs` for what an entry is, `options/` for the table, `config.rs` for the live side.

#![forbid(unsafe_code)]

mod args;
mod automatic;
mod conf_file;
mod config;
mod directives;
mod load;
mod notice;
mod option;
mod options;
mod packaged;
mod parse;
mod parse_compound;
mod peers;
mod reference;
mod rename_directive;
mod rewrite;
mod rewrite_conf;
mod rewrite_toml;
mod set;
mod settings;
mod source;
mod toml_file;
mod user_directive;
mod users;
mod value;
mod values;
mod words;

pub use args::{Invocation, Loaded, from_args};
pub use automatic::{Automatic, Share};
pub use config::{Config, Reported};
pub use option::{ChangeRule, Effect, Group, Kind, NameOrigin, OptionId, OptionSpec, Visibility};
pub use options::OPTIONS;
pub use options::clients::{ClientSettings, Permission};
pub use options::http::{ConsoleMode, HttpSettings};
pub use options::huststore::HustSettings;
pub use options::memory::{EvictionPolicy, MemorySettings};
pub use options::network::{BindAddress, NetworkSettings};
pub use options::persistence::{ColdTierKind, DirectReads, Fsync, PersistenceSettings, WarmUpKeys};
pub use options::server::{LogFormat, LogLevel, ServerSettings};
pub use options::tls::{ClientCertificates, TlsSettings};
pub use options::types::TypeSettings;
pub use packaged::{bash_completions, fish_completions, manual_page, zsh_completions};
pub use peers::PeerRange;
pub use reference::{help_text, reference_markdown};
pub use rename_directive::RenameDirective;
pub use rewrite::RewriteError;
pub use set::{PreparedSet, SetError, SetOrigin};
pub use settings::Settings;
pub use source::{ConfigFile, LoadError, SourcePlace, Syntax, Warning};
pub use user_directive::UserDirective;
pub use value::{ClientClass, OutputLimit, OutputLimits, Secret};
