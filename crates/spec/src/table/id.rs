//! The number of a command.

use std::num::NonZero;

/// The place of a command in the sequence of specs from which the table was built, from 0 without
/// gaps. What else belongs to a command, its function above all, is kept in a vector by this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId(pub(super) NonZero<u16>);

impl CommandId {
    pub(super) fn new(index: usize) -> Option<CommandId> {
        u16::try_from(index + 1).ok().and_then(NonZero::new).map(CommandId)
    }

    /// The index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}
