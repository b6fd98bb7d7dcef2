//! What an option is: its name, the kind of value it takes, its default and its sentence.
//!
//! Everything that knows options (parsing, CONFIG GET and SET, `--help`, the reference page) reads
//! these entries and nothing else, so an option is added by adding one entry, and its typed field
//! where Basalt reads it, in one file under `options/`.

use crate::automatic::Automatic;
use crate::options::OPTIONS;

/// One entry of the table of options.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// The name under which CONFIG GET reports it; Redis' name wherever Redis has the option.
    pub name: &'static str,
    /// An older name that Redis still accepts and reports.
    pub alias: Option<&'static str>,
    /// The page of the reference on which it stands.
    pub group: Group,
    /// What values it takes.
    pub kind: Kind,
    /// The default, as it would be written in a configuration file.
    pub default: &'static str,
    /// One sentence: what it does.
    pub doc: &'static str,
    /// Whether Basalt acts on it.
    pub effect: Effect,
    /// By whom it may be changed while the server runs.
    pub change: ChangeRule,
    /// How CONFIG GET shows it.
    pub visibility: Visibility,
    /// Whether the name is Redis' or Basalt's own.
    pub origin: NameOrigin,
}

/// The kinds of values. Ranges are inclusive and checked wherever a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `yes` or `no`.
    Bool,
    /// A decimal integer.
    Int {
        /// Smallest value accepted.
        min: i64,
        /// Largest value accepted.
        max: i64,
    },
    /// An integer that is pulled into `low..=high` rather than refused (as Redis does with `hz`).
    Clamped {
        /// Smallest value kept.
        low: i64,
        /// Largest value kept.
        high: i64,
    },
    /// A number of threads; 0 means one per core and is reported as the number of cores.
    Threads {
        /// Largest value accepted.
        max: i64,
    },
    /// Octal digits, as of file permissions.
    Octal {
        /// Largest value accepted.
        max: u32,
    },
    /// A number of bytes with an optional unit (`1k` is 1000, `1kb` is 1024).
    Memory {
        /// Smallest value accepted.
        min: u64,
        /// Largest value accepted.
        max: u64,
    },
    /// A number of bytes as `Memory`, or `auto`, which is reported as the bytes that it stands for.
    MemoryOrAuto {
        /// Smallest value accepted.
        min: u64,
        /// Largest value accepted.
        max: u64,
        /// What `auto` stands for.
        automatic: Automatic,
    },
    /// A number of bytes, or a share of `maxmemory` such as `5%`.
    MemoryOrPercent,
    /// One of these words.
    Enum(&'static [&'static str]),
    /// Any of these words, together.
    EnumSet(&'static [&'static str]),
    /// Any text; empty means unset.
    Text,
    /// The name of a file without its directory.
    FileName,
    /// A directory, reported as an absolute path.
    Directory,
    /// The template of the process title.
    TitleTemplate,
    /// A host name or nothing.
    HostName,
    /// Addresses to listen on.
    Addresses,
    /// Addresses of clients, and networks of them.
    Peers,
    /// A host and a port, or nothing.
    HostPort,
    /// `class hard soft seconds`, for one or more classes of clients.
    OutputLimits,
    /// Pairs of seconds and changes.
    SavePoints,
    /// Letters of the keyspace event classes.
    Events,
    /// Percentiles between 0 and 100.
    Percentiles,
    /// Three numbers between -2000 and 2000.
    OomScores,
}

/// Whether Basalt acts on an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It does what its sentence says.
    Effective,
    /// It is accepted, kept and reported for compatibility, without effect; the text says why.
    Accepted(&'static str),
}

/// By whom an option may be changed while the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeRule {
    /// CONFIG SET may.
    Mutable,
    /// Only where `enable-protected-configs` allows it.
    Protected,
    /// Nobody: it is set at start.
    Immutable,
}

/// How an option shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Reported by every pattern that matches.
    Open,
    /// Reported as any other, but its value stays out of logs and messages.
    Secret,
    /// Reported only when asked for by its exact name (what Redis' own tests use).
    Hidden,
}

/// The system that an option's name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOrigin {
    /// Redis 7 has it.
    Redis,
    /// Only Basalt has it.
    Own,
}

/// The parts of the table, in the order of the reference page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Listening, threads and the protocol.
    Network,
    /// HTTP.
    Http,
    /// Limits and rights of clients.
    Clients,
    /// The memory budget and what is done in the background.
    Memory,
    /// The journal, checkpoints and the cold tier.
    Persistence,
    /// The process, its log and its measurements.
    Server,
    /// Encodings of the data types.
    Types,
    /// Redis' replication.
    Replication,
    /// Redis' cluster.
    Cluster,
    /// Redis' TLS.
    Tls,
    /// Redis' AOF and RDB files.
    RedisFiles,
    /// What is left of Redis' options.
    RedisInternals,
}

impl Group {
    /// The heading of the group.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Network => "Network",
            Group::Http => "HTTP",
            Group::Clients => "Clients",
            Group::Memory => "Memory",
            Group::Persistence => "Persistence",
            Group::Server => "Server",
            Group::Types => "Data types",
            Group::Replication => "Replication",
            Group::Cluster => "Cluster",
            Group::Tls => "TLS",
            Group::RedisFiles => "AOF and RDB files",
            Group::RedisInternals => "Redis internals",
        }
    }
}

/// Begins the entry of an option that Basalt acts on.
pub(crate) const fn effective(
    group: Group,
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    OptionSpec {
        name,
        alias: None,
        group,
        kind,
        default,
        doc,
        effect: Effect::Effective,
        change: ChangeRule::Mutable,
        visibility: Visibility::Open,
        origin: NameOrigin::Redis,
    }
}

impl OptionSpec {
    /// The option is kept without effect, for this reason.
    pub(crate) const fn accepted(self, reason: &'static str) -> Self {
        OptionSpec { effect: Effect::Accepted(reason), ..self }
    }

    pub(crate) const fn alias(self, alias: &'static str) -> Self {
        OptionSpec { alias: Some(alias), ..self }
    }

    pub(crate) const fn immutable(self) -> Self {
        OptionSpec { change: ChangeRule::Immutable, ..self }
    }

    pub(crate) const fn protected(self) -> Self {
        OptionSpec { change: ChangeRule::Protected, ..self }
    }

    pub(crate) const fn secret(self) -> Self {
        OptionSpec { visibility: Visibility::Secret, ..self }
    }

    pub(crate) const fn hidden(self) -> Self {
        OptionSpec { visibility: Visibility::Hidden, ..self }
    }

    pub(crate) const fn own(self) -> Self {
        OptionSpec { origin: NameOrigin::Own, ..self }
    }

    /// Whether the value must stay out of logs and messages.
    pub fn is_secret(&self) -> bool {
        self.visibility == Visibility::Secret
    }

    /// The name and, where there is one, the older name.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.alias)
    }
}

/// The place of an option in [`OPTIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OptionId(u16);

impl OptionId {
    /// All options, in the order of the table.
    pub fn all() -> impl Iterator<Item = OptionId> {
        (0..OPTIONS.len()).map(|index| OptionId(index as u16))
    }

    /// The option of this name or alias, in any case.
    pub fn find(name: &str) -> Option<OptionId> {
        // A walk over some 230 short names: options are looked up at start and by CONFIG alone.
        OptionId::all().find(|id| id.spec().names().any(|own| own.eq_ignore_ascii_case(name)))
    }

    /// The entry.
    pub fn spec(self) -> &'static OptionSpec {
        &OPTIONS[self.index()]
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}
