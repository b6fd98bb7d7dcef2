//! Why TLS cannot be served as the options say.

use std::io;
use std::path::PathBuf;

/// Why options of TLS cannot hold together. Says which of them is at fault.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// An option that has to be set is not.
    #[error("{option} is not set{why}")]
    Missing {
        /// The option.
        option: &'static str,
        /// Why it is needed.
        why: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {error}", path = path.display())]
    Unreadable {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file does not hold what it is for.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An option's value is of no use.
    #[error("{reason}")]
    Value {
        /// The option.
        option: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl TlsError {
    /// The option that is at fault.
    pub fn option(&self) -> &'static str {
        match self {
            TlsError::Missing { option, .. }
            | TlsError::Unreadable { option, .. }
            | TlsError::File { option, .. }
            | TlsError::Value { option, .. } => option,
        }
    }
}
