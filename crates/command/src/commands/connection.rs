//! Commands of the connection family.

use super::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[];
