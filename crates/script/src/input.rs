//! What a script is called with.

use crate::random::RandomState;
use basalt_resp::Arg;

/// What a script is called with.
pub struct Input<'a> {
    /// What the words are ranges of.
    pub buffer: &'a [u8],
    /// `KEYS`
    pub keys: &'a [Arg],
    /// `ARGV`
    pub args: &'a [Arg],
    /// It begins again: where its random numbers stood when it began first.
    pub random: Option<RandomState>,
}
