//! What the author of a command writes: one constant beside the function.

use crate::argument::Override;
use crate::category::Categories;
use crate::flags::Flags;
use crate::keys::{KeyFlags, KeyUse, KeysError, Words};
use std::ops::Range;

/// Everything that is known about a command besides its function.
///
/// Written as a constant: the first five fields say what it is, the rest starts from
/// [`CommandSpec::DEFAULT`].
///
/// ```
/// use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
/// pub const GET: CommandSpec = CommandSpec {
///     name: "get",
///     synopsis: "key",
///     group: Group::String,
///     flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
///     keys: &[KeyUse::READ],
///     since: "1.0.0",
///     complexity: "O(1)",
///     summary: "Returns the string at a key.",
///     examples: &["GET k => (nil)"],
///     ..CommandSpec::DEFAULT
/// };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec {
    /// The name in lower case; a subcommand's is `"client|list"`.
    pub name: &'static str,
    /// The arguments after the name, in the grammar of [`crate::synopsis`].
    pub synopsis: &'static str,
    /// The family it is documented under.
    pub group: Group,
    /// What it may do and where it is allowed.
    pub flags: Flags,
    /// How it uses its keys: one entry per key specification, in the order of the synopsis.
    pub keys: &'static [KeyUse],
    /// What a call does to its key, if that depends on its options ([`KeyUse::varying`]).
    pub key_flags: Option<KeyFlagsOf>,
    /// Where the keys of a call are, if `keys` cannot say it exactly. They are one run, and what is
    /// done to them is what the first of `keys` says.
    pub keys_of_call: Option<KeysOfCall>,
    /// Which of its words are channels that a user needs rights for.
    pub channels: ChannelUse,
    /// ACL categories in place of the group's; those that flags imply are added in any case.
    pub acl: Option<Categories>,
    /// Whether it is a container of subcommands, whose specs have names of the form `name|sub`.
    pub subcommands: Subcommands,
    /// Redis' arity where the synopsis does not give it; positive = exact, negative = at least.
    pub arity: Option<i16>,
    /// Corrections to the arguments that the synopsis yields.
    pub overrides: &'static [Override],
    /// The Redis version that brought it.
    pub since: &'static str,
    /// Its cost, as "O(1)" or with a short explanation.
    pub complexity: &'static str,
    /// One sentence of our own.
    pub summary: &'static str,
    /// Lines in the notation of [`crate::example`]; run in order on one connection as a test.
    pub examples: &'static [&'static str],
    /// Hints for clients and proxies, as `request_policy:all_shards`.
    pub tips: &'static [&'static str],
    /// What changed in which Redis version.
    pub history: &'static [(&'static str, &'static str)],
    /// Set when something else should be used instead.
    pub deprecated: Option<Deprecated>,
    /// Whether it is for the server's own use or its developers.
    pub audience: Audience,
}

/// Returns what a call does to its key; the first word is the command's name. Only options matter:
/// calls of as few words as the command takes have none, and all do the same.
pub type KeyFlagsOf = fn(&[&[u8]]) -> KeyFlags;

/// Returns the places of a call's keys; the first word is the command's name.
pub type KeysOfCall = fn(&dyn Words) -> Result<Range<usize>, KeysError>;

impl CommandSpec {
    /// The rest of a spec that has nothing special about it.
    pub const DEFAULT: CommandSpec = CommandSpec {
        name: "",
        synopsis: "",
        group: Group::Generic,
        flags: Flags::NONE,
        keys: &[],
        key_flags: None,
        keys_of_call: None,
        channels: ChannelUse::None,
        acl: None,
        subcommands: Subcommands::None,
        arity: None,
        overrides: &[],
        since: "",
        complexity: "",
        summary: "",
        examples: &[],
        tips: &[],
        history: &[],
        deprecated: None,
        audience: Audience::Everyone,
    };

    /// The names of container and subcommand, if this is a subcommand.
    pub fn container_and_name(&self) -> Option<(&'static str, &'static str)> {
        self.name.split_once('|')
    }
}

/// Which words of a command are channels that it publishes or subscribes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelUse {
    /// None.
    None,
    /// Its first argument.
    First,
    /// All arguments.
    All,
    /// All arguments, and they are patterns.
    AllPatterns,
}

/// Whether a command has subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subcommands {
    /// It has none.
    None,
    /// It does nothing by itself (CLIENT, CONFIG).
    Required,
    /// It also answers when called alone (COMMAND).
    Optional,
}

/// Since when a command is obsolete, and what to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecated {
    /// The Redis version.
    pub since: &'static str,
    /// What to use instead.
    pub replaced_by: &'static str,
}

/// Whom a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Any client.
    Everyone,
    /// The server itself or its developers: COMMAND DOCS says `syscmd`.
    System,
}

/// The families of commands, as Redis documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a group's name is all there is to say")]
pub enum Group {
    Generic,
    String,
    List,
    Set,
    SortedSet,
    Hash,
    Pubsub,
    Transactions,
    Connection,
    Server,
    Scripting,
    Hyperloglog,
    Cluster,
    Sentinel,
    Geo,
    Stream,
    Bitmap,
    Module,
}

impl Group {
    /// The name in COMMAND DOCS.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Generic => "generic",
            Group::String => "string",
            Group::List => "list",
            Group::Set => "set",
            Group::SortedSet => "sorted-set",
            Group::Hash => "hash",
            Group::Pubsub => "pubsub",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Scripting => "scripting",
            Group::Hyperloglog => "hyperloglog",
            Group::Cluster => "cluster",
            Group::Sentinel => "sentinel",
            Group::Geo => "geo",
            Group::Stream => "stream",
            Group::Bitmap => "bitmap",
            Group::Module => "module",
        }
    }
}
