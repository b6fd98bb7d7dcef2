//! HOT PATH
//! Whether a user may make a call.

use crate::selector::{KeyRights, Selector};
use crate::user::User;
use basalt_spec::{ChannelUse, Command, Flag, KeyFlag, KeyFlags, Words};

/// What a user may not do. The numbers are the positions of words in the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The command.
    Command,
    /// This key.
    Key(usize),
    /// This channel.
    Channel(usize),
}

impl Denied {
    /// Of what several selectors deny the one that tells most is shown: a channel before a key
    /// before the command, of two keys or channels the later.
    fn weight(self) -> (u8, usize) {
        match self {
            Denied::Command => (0, 0),
            Denied::Key(position) => (1, position),
            Denied::Channel(position) => (2, position),
        }
    }
}

/// Calls of one command that have as many words, by one user: what holds for all of them is found
/// out once.
#[derive(Clone, Copy)]
pub struct AlikeCalls<'a> {
    user: &'a User,
    command: &'a Command,
    unknown: Unknown,
}

/// What is to be asked of each of them.
#[derive(Clone, Copy)]
enum Unknown {
    /// Whether the root selector permits its one key, the word at this position.
    Key(usize, KeyRights),
    /// Everything.
    All,
}

impl AlikeCalls<'_> {
    /// Answers as [`User::check`] does.
    ///
    /// # Errors
    /// No selector permits all of the call.
    #[inline]
    pub fn check<W: Words + ?Sized>(&self, words: &W) -> Result<(), Denied> {
        match self.unknown {
            Unknown::Key(position, needed)
                if self.user.root().permits_key(words.word(position), needed) =>
            {
                Ok(())
            }
            // Another selector may permit it.
            _ => self.user.check(self.command, words),
        }
    }
}

/// Calls of more words have the flags of their keys worked out on the heap.
const FEW_WORDS: usize = 8;

impl User {
    /// Whether it may make this call.
    ///
    /// A call whose keys cannot be told has none: its command gets no key from the dispatch either,
    /// and answers an error.
    ///
    /// # Errors
    /// No selector permits all of it.
    pub fn check<W: Words + ?Sized>(&self, command: &Command, words: &W) -> Result<(), Denied> {
        let first = match self.root().check(command, words) {
            Ok(()) => return Ok(()),
            Err(denied) => denied,
        };
        let mut shown = first;
        for selector in self.selectors() {
            match selector.check(command, words) {
                Ok(()) => return Ok(()),
                Err(denied) if denied.weight() > shown.weight() => shown = denied,
                Err(_) => {}
            }
        }
        Err(shown)
    }

    /// Calls of a command with this many words, to be checked one by one.
    pub fn alike_calls<'a>(&'a self, command: &'a Command, words: usize) -> AlikeCalls<'a> {
        let only_key = self.root().only_key_to_check(command, words);
        let unknown = only_key.map_or(Unknown::All, |(at, needed)| Unknown::Key(at, needed));
        AlikeCalls { user: self, command, unknown }
    }

    /// Whether a selector that permits a call also permits reading every key: what a command needs
    /// that reads keys which are not among its words.
    pub fn reads_any_key<W: Words + ?Sized>(&self, command: &Command, words: &W) -> bool {
        self.all_selectors().any(|selector| {
            selector.permits_any_key(KeyRights::READ) && selector.check(command, words).is_ok()
        })
    }
}

impl Selector {
    #[inline]
    fn check<W: Words + ?Sized>(&self, command: &Command, words: &W) -> Result<(), Denied> {
        let first = (words.count() > 1).then(|| words.word(1));
        if !self.permits_command(command, first) {
            return Err(Denied::Command);
        }
        if !self.has_all_keys() && !command.key_specs.is_empty() {
            self.check_keys(command, words)?;
        }
        if !self.has_all_channels() {
            self.check_channels(command, words)?;
        }
        Ok(())
    }

    /// The position of the one key of each call with this many words, and what is needed of it, if
    /// nothing but that is to be checked, and the same for all of them.
    fn only_key_to_check(&self, command: &Command, words: usize) -> Option<(usize, KeyRights)> {
        let [spec] = &command.key_specs[..] else { return None };
        let has_channels = command.spec.channels != ChannelUse::None;
        let is_otherwise_permitted =
            self.permits_command(command, None) && (!has_channels || self.has_all_channels());
        let is_key = !spec.flags.has(KeyFlag::NotKey) && !command.flags.has(Flag::Movablekeys);
        if !is_otherwise_permitted || !is_key {
            return None;
        }
        let flags = match command.spec.key_flags {
            None => spec.flags,
            Some(of) => flags_without_options(command, words, of)?,
        };
        let mut positions = command.key_range.positions(words);
        match (positions.next(), positions.next()) {
            (Some(position), None) => Some((position, KeyRights::needed_for(flags))),
            _ => None,
        }
    }

    fn check_keys<W: Words + ?Sized>(&self, command: &Command, words: &W) -> Result<(), Denied> {
        // A call of too few words is refused when it runs; somebody may ask before.
        let key_flags = command.spec.key_flags.filter(|_| command.accepts_words(words.count()));
        let varying = key_flags.map(|of| varying_flags(words, of));
        if let ([spec], false) = (&command.key_specs[..], command.flags.has(Flag::Movablekeys)) {
            let flags = varying.unwrap_or(spec.flags);
            if spec.flags.has(KeyFlag::NotKey) {
                return Ok(());
            }
            let needed = KeyRights::needed_for(flags);
            let mut positions = command.key_range.positions(words.count());
            return match positions.find(|&at| !self.permits_key(words.word(at), needed)) {
                Some(position) => Err(Denied::Key(position)),
                None => Ok(()),
            };
        }
        let mut denied = None;
        let visited = command.visit_keys(words, |position, flags| {
            let needed = KeyRights::needed_for(varying.unwrap_or(flags));
            let is_key = !flags.has(KeyFlag::NotKey);
            if is_key && denied.is_none() && !self.permits_key(words.word(position), needed) {
                denied = Some(position);
            }
        });
        match denied {
            Some(position) if visited.is_ok() => Err(Denied::Key(position)),
            _ if visited.is_err() => self.check_range(command, words),
            _ => Ok(()),
        }
    }

    /// The specifications do not tell the keys. If the three integers do, the command gets those.
    #[cold]
    fn check_range<W: Words + ?Sized>(&self, command: &Command, words: &W) -> Result<(), Denied> {
        if command.flags.has(Flag::Movablekeys) {
            return Ok(());
        }
        let mut positions = command.key_range.positions(words.count());
        match positions.find(|&at| !self.permits_key(words.word(at), KeyRights::ALL)) {
            Some(position) => Err(Denied::Key(position)),
            None => Ok(()),
        }
    }

    fn check_channels<W: Words + ?Sized>(
        &self,
        command: &Command,
        words: &W,
    ) -> Result<(), Denied> {
        let count = words.count();
        let mut positions = match command.spec.channels {
            ChannelUse::None => return Ok(()),
            ChannelUse::First => 1..count.min(2),
            ChannelUse::All | ChannelUse::AllPatterns => 1..count,
        };
        let is_pattern = command.spec.channels == ChannelUse::AllPatterns;
        let denied = positions.find(|&at| match is_pattern {
            true => !self.permits_channel_pattern(words.word(at)),
            false => !self.permits_channel(words.word(at)),
        });
        denied.map_or(Ok(()), |position| Err(Denied::Channel(position)))
    }
}

/// What calls with this many words do to their key, if they can have no options.
fn flags_without_options(
    command: &Command,
    words: usize,
    of: fn(&[&[u8]]) -> KeyFlags,
) -> Option<KeyFlags> {
    let required = usize::from(command.arity.unsigned_abs());
    (words == required && words <= FEW_WORDS).then(|| of(&[b"".as_slice(); FEW_WORDS][..words]))
}

/// What a call does to its key, where that depends on its options.
fn varying_flags<W: Words + ?Sized>(words: &W, of: fn(&[&[u8]]) -> KeyFlags) -> KeyFlags {
    let count = words.count();
    if count <= FEW_WORDS {
        let mut few: [&[u8]; FEW_WORDS] = [b""; FEW_WORDS];
        for (index, place) in few.iter_mut().enumerate().take(count) {
            *place = words.word(index);
        }
        return of(&few[..count]);
    }
    of(&(0..count).map(|index| words.word(index)).collect::<Vec<_>>())
}
