//! The flags that a command's author states, as bits that a constant can hold.

/// One fact about a command, with Redis' meaning and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flag {
    /// May change data. Never together with [`Flag::Readonly`].
    Write,
    /// Reads keys and changes nothing.
    Readonly,
    /// May make memory use grow, so it is refused when memory is used up.
    Denyoom,
    /// Comes from a module.
    Module,
    /// For operators: implies the categories `admin` and `dangerous`.
    Admin,
    /// Belongs to publish and subscribe.
    Pubsub,
    /// Refused inside scripts.
    Noscript,
    /// May make its client wait.
    Blocking,
    /// Allowed while the data set is being loaded.
    Loading,
    /// Allowed on a replica that has lost its primary and must not serve stale data.
    Stale,
    /// Not shown to MONITOR.
    SkipMonitor,
    /// Not recorded in the slow log, whose text could hold a secret.
    SkipSlowlog,
    /// In a cluster, accepted for a slot that is being imported.
    Asking,
    /// Runs in constant or logarithmic time: category `fast`, otherwise `slow`.
    Fast,
    /// Allowed before the client has authenticated.
    NoAuth,
    /// Is no write by itself, but may still have to be replicated. Not shown to clients.
    MayReplicate,
    /// Exists in Sentinel mode too. Not shown to clients.
    Sentinel,
    /// Takes keys, but may be called with none.
    NoMandatoryKeys,
    /// Refused unless an option enables it. Not shown to clients.
    Protected,
    /// Refused while a replica loads in the background and still serves its old data.
    NoAsyncLoading,
    /// Refused inside MULTI.
    NoMulti,
    /// `first`, `last` and `step` do not tell all keys. Derived; an author never states it.
    Movablekeys,
    /// Allowed while a script runs for too long.
    AllowBusy,
}

impl Flag {
    /// Every flag, in the order in which COMMAND INFO shows them.
    pub const ALL: [Flag; 23] = [
        Flag::Write,
        Flag::Readonly,
        Flag::Denyoom,
        Flag::Module,
        Flag::Admin,
        Flag::Pubsub,
        Flag::Noscript,
        Flag::Blocking,
        Flag::Loading,
        Flag::Stale,
        Flag::SkipMonitor,
        Flag::SkipSlowlog,
        Flag::Asking,
        Flag::Fast,
        Flag::NoAuth,
        Flag::MayReplicate,
        Flag::Sentinel,
        Flag::NoMandatoryKeys,
        Flag::Protected,
        Flag::NoAsyncLoading,
        Flag::NoMulti,
        Flag::Movablekeys,
        Flag::AllowBusy,
    ];

    /// The name in Redis' replies.
    pub const fn name(self) -> &'static str {
        match self {
            Flag::Write => "write",
            Flag::Readonly => "readonly",
            Flag::Denyoom => "denyoom",
            Flag::Module => "module",
            Flag::Admin => "admin",
            Flag::Pubsub => "pubsub",
            Flag::Noscript => "noscript",
            Flag::Blocking => "blocking",
            Flag::Loading => "loading",
            Flag::Stale => "stale",
            Flag::SkipMonitor => "skip_monitor",
            Flag::SkipSlowlog => "skip_slowlog",
            Flag::Asking => "asking",
            Flag::Fast => "fast",
            Flag::NoAuth => "no_auth",
            Flag::MayReplicate => "may_replicate",
            Flag::Sentinel => "sentinel",
            Flag::NoMandatoryKeys => "no_mandatory_keys",
            Flag::Protected => "protected",
            Flag::NoAsyncLoading => "no_async_loading",
            Flag::NoMulti => "no_multi",
            Flag::Movablekeys => "movablekeys",
            Flag::AllowBusy => "allow_busy",
        }
    }

    /// Whether COMMAND INFO shows it (Redis keeps three to itself).
    pub const fn is_shown(self) -> bool {
        !matches!(self, Flag::MayReplicate | Flag::Sentinel | Flag::Protected)
    }
}

/// A set of [`Flag`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);

    /// The set of the given flags, usable in a constant.
    pub const fn of(flags: &[Flag]) -> Flags {
        let mut bits = 0;
        let mut index = 0;
        while index < flags.len() {
            bits |= 1 << flags[index] as u32;
            index += 1;
        }
        Flags(bits)
    }

    /// Whether the set holds `flag`. One AND: the dispatcher asks several times a command.
    #[inline]
    pub const fn has(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u32) != 0
    }

    /// This set and one more flag.
    #[must_use]
    pub const fn with(self, flag: Flag) -> Flags {
        Flags(self.0 | 1 << flag as u32)
    }

    /// The flags in it, in the order of COMMAND INFO.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.has(*flag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_made_of_and_lists_it_in_order() {
        const SET: Flags = Flags::of(&[Flag::Fast, Flag::Write]);
        assert!(SET.has(Flag::Write) && SET.has(Flag::Fast) && !SET.has(Flag::Admin));
        assert_eq!(SET.iter().collect::<Vec<_>>(), [Flag::Write, Flag::Fast]);
        assert!(SET.with(Flag::Admin).has(Flag::Admin));
    }

    #[test]
    fn the_list_of_all_flags_is_in_the_order_of_their_bits() {
        for (index, flag) in Flag::ALL.into_iter().enumerate() {
            assert_eq!(flag as usize, index);
        }
    }
}
