//! One set of rights: commands, keys, channels. A user has a root selector and may have more.

use crate::command_set::{CommandSet, Verb};
use crate::rules::RuleError;
use basalt_spec::{Command, CommandTable, KeyFlag, KeyFlags};
use basalt_stdx::glob::{Case, Pattern};

/// What is done to a key, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRights {
    /// Its value is returned or copied.
    pub reads: bool,
    /// Its value is changed.
    pub writes: bool,
}

impl KeyRights {
    const NONE: KeyRights = KeyRights { reads: false, writes: false };
    /// Both.
    pub const ALL: KeyRights = KeyRights { reads: true, writes: true };
    /// Reading alone.
    pub const READ: KeyRights = KeyRights { reads: true, writes: false };

    /// What a command needs that uses a key so.
    #[inline]
    pub fn needed_for(flags: KeyFlags) -> KeyRights {
        KeyRights {
            reads: flags.has(KeyFlag::Access),
            writes: flags.has(KeyFlag::Insert)
                || flags.has(KeyFlag::Delete)
                || flags.has(KeyFlag::Update),
        }
    }

    #[inline]
    fn covers(self, needed: KeyRights) -> bool {
        (self.reads || !needed.reads) && (self.writes || !needed.writes)
    }

    fn prefix(self) -> &'static str {
        match (self.reads, self.writes) {
            (true, false) => "%R~",
            (false, true) => "%W~",
            _ => "~",
        }
    }
}

/// The channels of a new selector (`acl-pubsub-default`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelDefault {
    /// None.
    None,
    /// All of them.
    All,
}

/// A glob pattern with its text.
#[derive(Clone, Debug)]
struct NamePattern {
    text: Vec<u8>,
    compiled: Pattern,
}

impl NamePattern {
    fn new(text: &[u8]) -> NamePattern {
        NamePattern { text: text.to_vec(), compiled: Pattern::new(text, Case::Differs) }
    }
}

/// One set of rights.
#[derive(Clone, Debug)]
pub struct Selector {
    commands: CommandSet,
    has_all_keys: bool,
    keys: Vec<(NamePattern, KeyRights)>,
    has_all_channels: bool,
    channels: Vec<NamePattern>,
}

impl Selector {
    /// One that permits no command and no key.
    pub fn new(table: &CommandTable, channels: ChannelDefault) -> Selector {
        let mut commands = CommandSet::default();
        commands.set_all(table, Verb::Take);
        Selector {
            commands,
            has_all_keys: false,
            keys: Vec::new(),
            has_all_channels: channels == ChannelDefault::All,
            channels: Vec::new(),
        }
    }

    /// Whether it permits every call of every command.
    pub fn is_unrestricted(&self) -> bool {
        self.commands.is_all() && self.has_all_keys && self.has_all_channels
    }

    /// Whether a call of a command may run, its keys and channels apart.
    #[inline]
    pub(crate) fn permits_command(&self, command: &Command, first: Option<&[u8]>) -> bool {
        self.commands.permits(command, first)
    }

    #[inline]
    pub(crate) fn has_all_keys(&self) -> bool {
        self.has_all_keys
    }

    #[inline]
    pub(crate) fn has_all_channels(&self) -> bool {
        self.has_all_channels
    }

    /// Whether a key may be used so.
    #[inline]
    pub fn permits_key(&self, key: &[u8], needed: KeyRights) -> bool {
        self.has_all_keys
            || self
                .keys
                .iter()
                .any(|(pattern, rights)| rights.covers(needed) && pattern.compiled.matches(key))
    }

    /// Whether every key that there may ever be may be used so.
    pub(crate) fn permits_any_key(&self, needed: KeyRights) -> bool {
        let is_any = |(pattern, rights): &(NamePattern, KeyRights)| {
            rights.covers(needed) && pattern.text == b"*"
        };
        self.has_all_keys || self.keys.iter().any(is_any)
    }

    /// Whether a channel may be used.
    pub fn permits_channel(&self, channel: &[u8]) -> bool {
        self.has_all_channels || self.channels.iter().any(|it| it.compiled.matches(channel))
    }

    /// Whether a pattern of channels may be subscribed to: it has to be one of the list's, letter
    /// by letter.
    pub fn permits_channel_pattern(&self, pattern: &[u8]) -> bool {
        self.has_all_channels || self.channels.iter().any(|it| it.text == pattern)
    }

    /// Applies a rule.
    ///
    /// # Errors
    /// It is no rule, or cannot be applied; nothing has changed.
    pub(crate) fn apply(&mut self, table: &CommandTable, rule: &[u8]) -> Result<(), RuleError> {
        let lower = rule.to_ascii_lowercase();
        match &lower[..] {
            b"allkeys" | b"~*" => (self.has_all_keys, self.keys) = (true, Vec::new()),
            b"resetkeys" => (self.has_all_keys, self.keys) = (false, Vec::new()),
            b"allchannels" | b"&*" => {
                (self.has_all_channels, self.channels) = (true, Vec::new());
            }
            b"resetchannels" => (self.has_all_channels, self.channels) = (false, Vec::new()),
            b"allcommands" | b"+@all" => self.commands.set_all(table, Verb::Give),
            b"nocommands" | b"-@all" => self.commands.set_all(table, Verb::Take),
            [b'~' | b'%', ..] => return self.add_keys(rule),
            [b'&', ..] => return self.add_channels(&rule[1..]),
            [b'+', b'@', category @ ..] => {
                return self.commands.set_category(table, category, Verb::Give);
            }
            [b'-', b'@', category @ ..] => {
                return self.commands.set_category(table, category, Verb::Take);
            }
            [b'+', ..] => return self.commands.give(table, &rule[1..]),
            [b'-', ..] => return self.commands.take(table, &rule[1..]),
            _ => return Err(RuleError::Syntax),
        }
        Ok(())
    }

    /// `~pattern` and `%RW~pattern`.
    fn add_keys(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        if self.has_all_keys {
            return Err(RuleError::AfterAllKeys);
        }
        let (rights, pattern) = rights_and_pattern(rule).ok_or(RuleError::Syntax)?;
        if !is_word(pattern) {
            return Err(RuleError::Syntax);
        }
        match self.keys.iter_mut().find(|(known, _)| known.text == pattern) {
            Some((_, known)) => {
                known.reads |= rights.reads;
                known.writes |= rights.writes;
            }
            None => self.keys.push((NamePattern::new(pattern), rights)),
        }
        Ok(())
    }

    fn add_channels(&mut self, pattern: &[u8]) -> Result<(), RuleError> {
        if self.has_all_channels {
            return Err(RuleError::AfterAllChannels);
        }
        if !is_word(pattern) {
            return Err(RuleError::Syntax);
        }
        if !self.channels.iter().any(|known| known.text == pattern) {
            self.channels.push(NamePattern::new(pattern));
        }
        Ok(())
    }

    /// The rules about commands, as `-@all +get`.
    pub fn describe_commands(&self) -> String {
        self.commands.describe()
    }

    /// The rules about keys, as `~a* %R~b*`.
    pub fn describe_keys(&self) -> Vec<u8> {
        if self.has_all_keys {
            return b"~*".to_vec();
        }
        let described = self.keys.iter().map(|(pattern, rights)| {
            let mut text = rights.prefix().as_bytes().to_vec();
            text.extend_from_slice(&pattern.text);
            text
        });
        described.collect::<Vec<_>>().join(&b' ')
    }

    /// The rules about channels, as `&a* &b*`.
    pub fn describe_channels(&self) -> Vec<u8> {
        if self.has_all_channels {
            return b"&*".to_vec();
        }
        let described = self.channels.iter().map(|pattern| [b"&", &pattern.text[..]].concat());
        described.collect::<Vec<_>>().join(&b' ')
    }

    /// All rules, as ACL LIST shows them.
    pub(crate) fn describe(&self) -> Vec<u8> {
        let mut text = self.describe_keys();
        if !text.is_empty() {
            text.push(b' ');
        }
        if !self.has_all_channels {
            text.extend_from_slice(b"resetchannels ");
        }
        let channels = self.describe_channels();
        if !channels.is_empty() {
            text.extend_from_slice(&channels);
            text.push(b' ');
        }
        text.extend_from_slice(self.describe_commands().as_bytes());
        text
    }
}

/// `R` and `W` in any order and case, each at most once, between `%` and `~`; `~` alone is both.
fn rights_and_pattern(rule: &[u8]) -> Option<(KeyRights, &[u8])> {
    let [b'%', rest @ ..] = rule else { return Some((KeyRights::ALL, &rule[1..])) };
    let mut rights = KeyRights::NONE;
    for (index, letter) in rest.iter().enumerate() {
        match letter {
            b'r' | b'R' if !rights.reads => rights.reads = true,
            b'w' | b'W' if !rights.writes => rights.writes = true,
            b'~' if rights != KeyRights::NONE => return Some((rights, &rest[index + 1..])),
            _ => return None,
        }
    }
    // Without a tilde it is the empty pattern.
    (rights != KeyRights::NONE).then_some((rights, b""))
}

/// Whether a text can be one word of a file: white space would end it, a zero byte Redis' strings.
pub(crate) fn is_word(text: &[u8]) -> bool {
    !text.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, 0 | 0x0b))
}
