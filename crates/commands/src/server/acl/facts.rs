//! What several of the subcommands of ACL have in common.

use basalt_call::entry::{Secrets, Traits};
use basalt_spec::{Flag, Flags};

/// Of what changes users or shows them.
pub(super) const OF_OPERATORS: Flags =
    Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]);
/// Of what anybody may ask.
pub(super) const OF_ANYBODY: Flags = Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]);

/// Its words may hold passwords.
pub(super) const SECRET: Traits = Traits { secrets: Secrets::AfterSubcommand, ..Traits::NONE };
