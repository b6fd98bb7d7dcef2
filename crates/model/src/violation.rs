//! How a run says that the engine failed.

use std::fmt;

/// What the engine did wrong, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Violation {
    /// From anything that can be shown.
    pub fn new(what: impl Into<String>) -> Violation {
        Violation(what.into())
    }
}
