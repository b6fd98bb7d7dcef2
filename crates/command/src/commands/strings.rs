//! Commands on strings.

mod get;
mod set;

use super::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[get::GET, set::SET];
