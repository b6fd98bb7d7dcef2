//! Commands of the transactions family.

mod multi;
mod watch;

use basalt_call::entry::Entry;
use basalt_spec::{Flag, Flags};

/// Of all commands of the family but EXEC.
const ALWAYS_ALLOWED: Flags =
    Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::AllowBusy]);

/// The family.
pub const COMMANDS: &[Entry] =
    &[multi::DISCARD, multi::EXEC, multi::MULTI, watch::UNWATCH, watch::WATCH];
