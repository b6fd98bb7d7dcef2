//! Commands of the server family.

use super::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[];
