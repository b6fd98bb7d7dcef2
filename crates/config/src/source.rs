//! Where values come from, and what is said about them: places, warnings and errors.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The two syntaxes of configuration files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Redis' lines of words.
    RedisConf,
    /// TOML with the options as top-level keys.
    Toml,
}

impl Syntax {
    /// TOML for a path that ends in `.toml`, redis.conf's for every other.
    pub fn of(path: &Path) -> Syntax {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Syntax::Toml,
            _ => Syntax::RedisConf,
        }
    }
}

/// The file that the server was given, which CONFIG REWRITE brings up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// How it is written.
    pub syntax: Syntax,
}

/// Where a value or a mistake stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    source: Arc<str>,
    line: Option<usize>,
}

impl SourcePlace {
    pub(crate) fn whole(source: &str) -> SourcePlace {
        SourcePlace { source: Arc::from(source), line: None }
    }

    pub(crate) fn line(&self, line: usize) -> SourcePlace {
        SourcePlace { source: Arc::clone(&self.source), line: Some(line) }
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// Something that the operator should know and that does not keep the server from starting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: SourcePlace,
    /// What. Never holds a secret.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Why the server cannot start with what it was given. No variant holds an option's value.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that cannot be read.
    #[error("{place}: cannot read {path}: {error}; check that it exists and may be read")]
    Unreadable {
        /// Where the file was named.
        place: SourcePlace,
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file larger than any configuration.
    #[error("{place}: the configuration is larger than {bytes_max} bytes; is it the right file?")]
    TooLarge {
        /// The file.
        place: SourcePlace,
        /// The limit.
        bytes_max: u64,
    },
    /// Files that include each other, or too many of them.
    #[error("{place}: too many files are included; does one include itself?")]
    TooManyIncludes {
        /// Where the limit was passed.
        place: SourcePlace,
    },
    /// Text that is not of the file's syntax.
    #[error("{place}: {reason}")]
    Malformed {
        /// Where.
        place: SourcePlace,
        /// What is wrong and what to do.
        reason: String,
    },
    /// An option with a value that it cannot have beside the others.
    #[error("{place}: option '{name}': {reason}")]
    Contradicts {
        /// Where.
        place: SourcePlace,
        /// The option.
        name: &'static str,
        /// What is wrong and what to do.
        reason: String,
    },
    /// An option with a value that it does not take.
    #[error("{place}: option '{name}': {reason}; it takes {expected}")]
    BadValue {
        /// Where.
        place: SourcePlace,
        /// The option.
        name: String,
        /// What is wrong.
        reason: String,
        /// What the option takes.
        expected: String,
    },
}
