//! Users as an operator defines them by directives of a configuration. What a rule means is not
//! known here.

use crate::source::SourcePlace;
use std::fmt;

/// The words of a `user` directive. They may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct UserDirective {
    /// Where it stands.
    pub place: SourcePlace,
    /// The name, then the rules.
    pub words: Vec<Vec<u8>>,
}

impl fmt::Debug for UserDirective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserDirective").field("place", &self.place).finish_non_exhaustive()
    }
}
