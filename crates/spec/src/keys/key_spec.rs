//! The parts of a key specification: what is done to a run of keys, where it begins, how far it
//! goes.

/// One fact about how a command uses keys, with Redis' name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyFlag {
    /// Reads and writes the value.
    Rw,
    /// Reads the value.
    Ro,
    /// Overwrites the value without reading it.
    Ow,
    /// Removes the key.
    Rm,
    /// Returns or copies the user's data from the key.
    Access,
    /// Changes the user's data.
    Update,
    /// Adds data and changes none that is there.
    Insert,
    /// Deletes the user's data.
    Delete,
    /// Is no key, but is routed like one (a sharded channel).
    NotKey,
    /// The specification may miss some keys.
    Incomplete,
    /// The flags depend on the other arguments; these are the most that they can be.
    VariableFlags,
}

impl KeyFlag {
    /// Every flag with its name in the order in which COMMAND INFO shows them.
    pub const ALL: [(KeyFlag, &'static str); 11] = [
        (KeyFlag::Rw, "RW"),
        (KeyFlag::Ro, "RO"),
        (KeyFlag::Ow, "OW"),
        (KeyFlag::Rm, "RM"),
        (KeyFlag::Access, "access"),
        (KeyFlag::Update, "update"),
        (KeyFlag::Insert, "insert"),
        (KeyFlag::Delete, "delete"),
        (KeyFlag::NotKey, "not_key"),
        (KeyFlag::Incomplete, "incomplete"),
        (KeyFlag::VariableFlags, "variable_flags"),
    ];
}

/// A set of [`KeyFlag`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyFlags(u16);

impl KeyFlags {
    /// The set of the given flags, usable in a constant.
    pub const fn of(flags: &[KeyFlag]) -> KeyFlags {
        let mut bits = 0;
        let mut index = 0;
        while index < flags.len() {
            bits |= 1 << flags[index] as u16;
            index += 1;
        }
        KeyFlags(bits)
    }

    /// Whether the set holds `flag`.
    pub const fn has(self, flag: KeyFlag) -> bool {
        self.0 & (1 << flag as u16) != 0
    }

    /// The names of the flags in it, in Redis' order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        KeyFlag::ALL.into_iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| name)
    }
}

/// What a command does to one run of its keys: an author's part of a key specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    pub(crate) flags: KeyFlags,
    pub(crate) notes: Option<&'static str>,
    pub(crate) found: Found,
}

/// What determines where a run of keys is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The synopsis.
    BySynopsis,
    /// The author, for the arguments with these tokens.
    Stated { begin: BeginSearch, find: FindKeys, tokens: &'static [&'static str] },
}

impl KeyUse {
    /// Looks at a key without returning its data: `RO` (EXISTS, TYPE, STRLEN).
    pub const INSPECT: KeyUse = KeyUse::new(&[KeyFlag::Ro]);
    /// Returns or copies data: `RO access`.
    pub const READ: KeyUse = KeyUse::new(&[KeyFlag::Ro, KeyFlag::Access]);
    /// Returns data and changes it: `RW access update` (INCR, GETSET).
    pub const MODIFY: KeyUse = KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update]);
    /// Changes data in place and returns none: `RW update` (EXPIRE, SETRANGE, HSET).
    pub const UPDATE: KeyUse = KeyUse::new(&[KeyFlag::Rw, KeyFlag::Update]);
    /// Adds data to what is there: `RW insert` (APPEND, LPUSH, SADD).
    pub const ADD: KeyUse = KeyUse::new(&[KeyFlag::Rw, KeyFlag::Insert]);
    /// Returns data and deletes it: `RW access delete` (GETDEL, LPOP, RENAME's source).
    pub const TAKE: KeyUse = KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete]);
    /// Deletes part of the data unseen: `RW delete` (SREM, LTRIM).
    pub const TRIM: KeyUse = KeyUse::new(&[KeyFlag::Rw, KeyFlag::Delete]);
    /// Replaces whatever is there: `OW update` (MSET, a destination).
    pub const OVERWRITE: KeyUse = KeyUse::new(&[KeyFlag::Ow, KeyFlag::Update]);
    /// Creates the key only if it is absent: `OW insert` (SETNX, MSETNX).
    pub const CREATE: KeyUse = KeyUse::new(&[KeyFlag::Ow, KeyFlag::Insert]);
    /// Removes the key: `RM delete` (DEL, UNLINK).
    pub const REMOVE: KeyUse = KeyUse::new(&[KeyFlag::Rm, KeyFlag::Delete]);
    /// A sharded channel: `not_key`.
    pub const CHANNEL: KeyUse = KeyUse::new(&[KeyFlag::NotKey]);

    /// Any other combination.
    pub const fn new(flags: &[KeyFlag]) -> KeyUse {
        KeyUse { flags: KeyFlags::of(flags), notes: None, found: Found::BySynopsis }
    }

    /// Adds that the flags depend on the arguments.
    #[must_use]
    pub const fn varying(self) -> KeyUse {
        KeyUse { flags: KeyFlags(self.flags.0 | KeyFlags::of(&[KeyFlag::VariableFlags]).0), ..self }
    }

    /// Adds a remark for COMMAND INFO.
    #[must_use]
    pub const fn noted(self, notes: &'static str) -> KeyUse {
        KeyUse { notes: Some(notes), ..self }
    }

    /// Says where the keys of the arguments with `tokens` are, because the synopsis cannot
    /// (MIGRATE's KEYS, which goes to the end of the line).
    #[must_use]
    pub const fn found(
        self,
        begin: BeginSearch,
        find: FindKeys,
        tokens: &'static [&'static str],
    ) -> KeyUse {
        KeyUse { found: Found::Stated { begin, find, tokens }, ..self }
    }

    /// Says that no rule finds the keys of the arguments with `tokens` (SORT's STORE, which may
    /// stand anywhere). [`crate::Command::visit_keys`] finds them all the same if they are keys.
    #[must_use]
    pub const fn unfindable(self, tokens: &'static [&'static str]) -> KeyUse {
        self.found(BeginSearch::Unknown, FindKeys::Unknown, tokens)
    }
}

/// Where a run of keys begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeginSearch {
    /// At this word; the command's name is word 0.
    Index(usize),
    /// At the word after this literal.
    Keyword {
        /// The literal, in any case.
        keyword: &'static str,
        /// The word to search from; negative counts from the end, backwards.
        start_from: isize,
    },
    /// No rule says.
    Unknown,
}

/// How a run of keys goes on from where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindKeys {
    /// A run up to a word.
    Range {
        /// The last word: from the first key if not negative, from the end of the call if so.
        last_key: isize,
        /// The distance from one key to the next.
        step: usize,
        /// If above 1, only the first of this number of equal parts of the words that remain.
        limit: usize,
    },
    /// As many as a number in the call says.
    KeyNum {
        /// Where the number is, counted from the beginning.
        number_index: usize,
        /// Where the first key is, counted from the beginning.
        first_key: usize,
        /// The distance from one key to the next.
        step: usize,
    },
    /// No rule says.
    Unknown,
}

/// One run of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// What is done to them.
    pub flags: KeyFlags,
    /// A remark.
    pub notes: Option<&'static str>,
    /// Where they begin.
    pub begin: BeginSearch,
    /// How far they go.
    pub find: FindKeys,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_listed_in_the_order_of_their_bits() {
        for (index, (flag, _)) in KeyFlag::ALL.into_iter().enumerate() {
            assert_eq!(flag as usize, index);
        }
        let set = KeyUse::MODIFY.varying().flags;
        assert_eq!(set.names().collect::<Vec<_>>(), ["RW", "access", "update", "variable_flags"]);
    }
}
