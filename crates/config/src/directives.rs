//! Directives of redis.conf that are no options: CONFIG GET and CONFIG SET do not know them.

/// What becomes of a directive when a file or the command line has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It does what the text says.
    Followed,
    /// The server starts without it and warns; the text says what is missing.
    Ignored,
}

/// A directive and what happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownDirective {
    /// The name, in lower case.
    pub(crate) name: &'static str,
    /// What is made of it.
    pub(crate) outcome: Outcome,
    /// The rest of a sentence that begins with the name.
    pub(crate) remark: &'static str,
}

const fn followed(name: &'static str, remark: &'static str) -> KnownDirective {
    KnownDirective { name, outcome: Outcome::Followed, remark }
}

const fn ignored(name: &'static str, remark: &'static str) -> KnownDirective {
    KnownDirective { name, outcome: Outcome::Ignored, remark }
}

/// Reads other files.
pub(crate) const INCLUDE: &str = "include";
/// Defines a user.
pub(crate) const USER: &str = "user";

/// Gives a command another name.
pub(crate) const RENAME_COMMAND: &str = "rename-command";

/// All of them.
pub(crate) const DIRECTIVES: [KnownDirective; 9] = [
    followed(
        INCLUDE,
        "reads other files in its place; of a pattern in the last part of a path, all files that \
         match, in alphabetical order",
    ),
    followed(
        USER,
        "defines a user by its name and rules, as ACL SETUSER does; not together with aclfile",
    ),
    followed(
        RENAME_COMMAND,
        "gives a command another name, or with \"\" none: nobody can call it then, by HTTP neither. \
         COMMAND and rules of ACL have the commands' own names. Rights of users \
         (ACL SETUSER default -flushall) tell clients apart; this does not",
    ),
    ignored("loadmodule", "is not supported: Basalt loads no modules"),
    ignored("module", "is not supported: Basalt loads no modules"),
    ignored("sentinel", "is not supported: Basalt is no sentinel"),
    ignored("list-max-ziplist-entries", "has no effect, as in Redis since 3.2"),
    ignored("list-max-ziplist-value", "has no effect, as in Redis since 3.2"),
    ignored("tls-allow-tls-without-ca", "is not supported: see tls-auth-clients"),
];
