//! A command's arguments as a tree, and how their types follow from their names.

/// One argument, option or group of them: what COMMAND DOCS shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name: of a leaf as in the synopsis, of a pure token the token in lower case, of a group
    /// its children's names joined by `_`, unless an [`Override`] names it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The literal before it (or, of a pure token, the literal that it is).
    pub token: Option<&'static str>,
    /// The Redis version that brought it, if later than the command.
    pub since: Option<&'static str>,
    /// The Redis version since which something else should be used.
    pub deprecated_since: Option<&'static str>,
    /// Whether it may be left out.
    pub presence: Presence,
    /// Whether it may be given more than once.
    pub repeat: Repeat,
    /// Which of the command's key specifications finds it.
    pub key_spec_index: Option<usize>,
    /// The alternatives of a [`Kind::OneOf`], the parts of a [`Kind::Block`].
    pub children: Vec<Argument>,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any bytes.
    String,
    /// A 64-bit signed integer in decimal.
    Integer,
    /// A floating-point number.
    Double,
    /// The name of a key.
    Key,
    /// A glob pattern.
    Pattern,
    /// A point in time, in seconds or milliseconds since 1970.
    UnixTime,
    /// A literal.
    PureToken,
    /// Exactly one of the children.
    OneOf,
    /// All children, in order.
    Block,
}

impl Kind {
    /// The name in COMMAND DOCS.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Double => "double",
            Kind::Key => "key",
            Kind::Pattern => "pattern",
            Kind::UnixTime => "unix-time",
            Kind::PureToken => "pure-token",
            Kind::OneOf => "oneof",
            Kind::Block => "block",
        }
    }

    /// The type that an argument of this name has in most commands; [`Override::kind`] is for the
    /// others.
    pub fn from_argument_name(name: &str) -> Kind {
        match name {
            "key" | "key1" | "key2" | "newkey" | "source" | "sourcekey" | "src" | "destination"
            | "destkey" | "dst" => Kind::Key,
            "pattern" => Kind::Pattern,
            "longitude" | "latitude" | "radius" | "width" | "height" | "score" | "timeout" => {
                Kind::Double
            }
            "bit" | "bits" | "client-id" | "cluster_bus_port" | "config-epoch" | "count"
            | "cursor" | "db" | "decrement" | "destination-db" | "end" | "end-slot"
            | "entries_added" | "entries_read" | "frequency" | "increment" | "index" | "index1"
            | "index2" | "len" | "limit" | "milliseconds" | "ms" | "num-matches" | "numkeys"
            | "numreplicas" | "offset" | "port" | "protover" | "rank" | "seconds" | "slot"
            | "start" | "start-slot" | "stop" | "ttl" | "version" | "weight" => Kind::Integer,
            _ if name.starts_with("unix-time") => Kind::UnixTime,
            _ => Kind::String,
        }
    }
}

/// Whether an argument may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It must be given.
    Required,
    /// It may be left out.
    Optional,
}

/// Whether an argument may be given more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once.
    Once,
    /// Several times; its token, if any, only before the first.
    Many,
    /// Several times, each with its token.
    ManyWithToken,
}

/// A correction to what the synopsis says about one argument.
///
/// Built up in a constant from [`at`] or [`around`]: `at("EX").since("2.6.12")`. It applies to
/// every argument that matches, and it is an error if there is none. Corrections apply in order and
/// see the names that earlier ones gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    pub(crate) target: Target,
    pub(crate) extent: Extent,
    pub(crate) name: Option<&'static str>,
    pub(crate) kind: Option<Kind>,
    pub(crate) since: Option<&'static str>,
    pub(crate) deprecated_since: Option<&'static str>,
}

/// Which arguments a correction is about, by token or name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Argument(&'static str),
    GroupAround(&'static str),
}

impl Target {
    /// The token or name.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Target::Argument(label) | Target::GroupAround(label) => label,
        }
    }

    pub(crate) fn matches(self, argument: &Argument) -> bool {
        let is_called = |argument: &Argument| {
            argument.name == self.label() || argument.token == Some(self.label())
        };
        match self {
            Target::Argument(_) => is_called(argument),
            Target::GroupAround(_) => argument.children.iter().any(is_called),
        }
    }
}

/// To how many of the arguments that match a correction applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    First,
}

/// Starts a correction of the arguments whose token or name is `label`.
pub const fn at(label: &'static str) -> Override {
    Override::new(Target::Argument(label))
}

/// Starts a correction of the groups that directly hold an argument whose token or name is `label`:
/// `around("NX").named("condition")` names the choice `NX | XX`.
pub const fn around(label: &'static str) -> Override {
    Override::new(Target::GroupAround(label))
}

impl Override {
    const fn new(target: Target) -> Override {
        Override {
            target,
            extent: Extent::All,
            name: None,
            kind: None,
            since: None,
            deprecated_since: None,
        }
    }

    /// Limits it to the first argument that matches.
    #[must_use]
    pub const fn first(self) -> Override {
        Override { extent: Extent::First, ..self }
    }

    /// Sets another name.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Override {
        Override { name: Some(name), ..self }
    }

    /// Sets another type.
    #[must_use]
    pub const fn kind(self, kind: Kind) -> Override {
        Override { kind: Some(kind), ..self }
    }

    /// Says which Redis version brought it.
    #[must_use]
    pub const fn since(self, version: &'static str) -> Override {
        Override { since: Some(version), ..self }
    }

    /// Says since which Redis version something else should be used.
    #[must_use]
    pub const fn deprecated_since(self, version: &'static str) -> Override {
        Override { deprecated_since: Some(version), ..self }
    }
}

impl Argument {
    /// A required argument that holds one value.
    pub(crate) fn leaf(name: &str) -> Argument {
        Argument::new(name.to_owned(), Kind::from_argument_name(name), Vec::new())
    }

    /// A literal.
    pub(crate) fn pure_token(token: &'static str) -> Argument {
        let mut argument = Argument::new(token.to_lowercase(), Kind::PureToken, Vec::new());
        argument.token = Some(token);
        argument
    }

    /// A group, named after its children.
    pub(crate) fn group(kind: Kind, children: Vec<Argument>) -> Argument {
        let names: Vec<&str> = children.iter().map(|child| child.name.as_str()).collect();
        Argument::new(names.join("_"), kind, children)
    }

    fn new(name: String, kind: Kind, children: Vec<Argument>) -> Argument {
        Argument {
            name,
            kind,
            token: None,
            since: None,
            deprecated_since: None,
            presence: Presence::Required,
            repeat: Repeat::Once,
            key_spec_index: None,
            children,
        }
    }

    /// Whether it may be given more than once.
    pub fn is_multiple(&self) -> bool {
        self.repeat != Repeat::Once
    }

    /// Whether it may be left out.
    pub fn is_optional(&self) -> bool {
        self.presence == Presence::Optional
    }

    /// How many words it takes at least, given once.
    pub(crate) fn words_min(&self) -> usize {
        let token = usize::from(self.token.is_some());
        match self.kind {
            Kind::PureToken => 1,
            // One of the alternatives must be given, even where each of them is optional.
            Kind::OneOf => {
                token + self.children.iter().map(required_words_min).min().unwrap_or(0).max(1)
            }
            Kind::Block => token + self.children.iter().map(required_words_min).sum::<usize>(),
            _ => token + 1,
        }
    }

    /// Whether it takes the same number of words in every call.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.is_optional() && !self.is_multiple() && self.children_are_fixed()
    }

    /// Whether one occurrence of it always takes the same number of words.
    pub(crate) fn children_are_fixed(&self) -> bool {
        let each = self.children.iter().all(Argument::is_fixed);
        let widths = || self.children.iter().map(Argument::words_min);
        each && (self.kind != Kind::OneOf || widths().min() == widths().max())
    }
}

/// How many words an argument takes at least: none if it may be left out.
pub(crate) fn required_words_min(argument: &Argument) -> usize {
    if argument.is_optional() { 0 } else { argument.words_min() }
}

/// Redis' arity of a command whose name takes `name_words`: the number of words in a call, negative
/// if there may be more.
pub(crate) fn arity(name_words: usize, arguments: &[Argument]) -> i16 {
    let words = name_words + arguments.iter().map(required_words_min).sum::<usize>();
    let words = i16::try_from(words).unwrap_or(i16::MAX);
    if arguments.iter().all(Argument::is_fixed) { words } else { -words }
}
