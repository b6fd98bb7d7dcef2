//! Commands of the generic family.

use super::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[];
