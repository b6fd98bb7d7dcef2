//! A user: passwords, a root selector, more selectors.

use crate::password::{PasswordHash, hash_password};
use crate::rules::RuleError;
use crate::selector::{ChannelDefault, KeyRights, Selector};
use basalt_spec::CommandTable;
use std::sync::Arc;

/// A user. It is changed as a copy: a holder of one has a state that was whole.
#[derive(Clone, Debug)]
pub struct User {
    name: Arc<[u8]>,
    id: u64,
    /// How often its passwords have changed.
    login_epoch: u64,
    is_enabled: bool,
    needs_no_password: bool,
    sanitizes_payloads: bool,
    passwords: Vec<PasswordHash>,
    root: Selector,
    selectors: Vec<Selector>,
}

impl User {
    /// A user as `ACL SETUSER name` makes it: switched off, without rights. `id` tells it from
    /// another one that has its name later.
    pub fn new(table: &CommandTable, name: Arc<[u8]>, id: u64, channels: ChannelDefault) -> User {
        User {
            name,
            id,
            login_epoch: 0,
            is_enabled: false,
            needs_no_password: false,
            sanitizes_payloads: true,
            passwords: Vec::new(),
            root: Selector::new(table, channels),
            selectors: Vec::new(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<[u8]> {
        &self.name
    }

    /// What tells it from another user that has had its name.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// A number that changes with its passwords, and when it is switched off or on: what was
    /// granted for a password ends then, even if the password comes back.
    pub fn login_epoch(&self) -> u64 {
        self.login_epoch
    }

    /// It takes the place of this user.
    pub(crate) fn succeed(&mut self, before: &User) {
        let is_alike = self.is_enabled == before.is_enabled
            && self.needs_no_password == before.needs_no_password
            && self.passwords.len() == before.passwords.len()
            && self.passwords.iter().zip(&before.passwords).all(|(one, other)| one.is(other));
        self.login_epoch = before.login_epoch + u64::from(!is_alike);
    }

    /// Whether one can log in as it.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Whether every password is right.
    pub fn needs_no_password(&self) -> bool {
        self.needs_no_password
    }

    /// The hashes of its passwords.
    pub fn passwords(&self) -> &[PasswordHash] {
        &self.passwords
    }

    /// The selector of the rules outside of parentheses.
    pub fn root(&self) -> &Selector {
        &self.root
    }

    /// The selectors in parentheses.
    pub fn selectors(&self) -> &[Selector] {
        &self.selectors
    }

    /// All selectors, the root first.
    pub(crate) fn all_selectors(&self) -> impl Iterator<Item = &Selector> {
        std::iter::once(&self.root).chain(&self.selectors)
    }

    /// Whether it may do everything: no call needs to be checked.
    pub fn is_unrestricted(&self) -> bool {
        self.all_selectors().any(Selector::is_unrestricted)
    }

    /// Whether some selector permits a channel.
    pub fn permits_channel(&self, channel: &[u8]) -> bool {
        self.all_selectors().any(|selector| selector.permits_channel(channel))
    }

    /// Whether some selector permits a subscription to a pattern.
    pub fn permits_channel_pattern(&self, pattern: &[u8]) -> bool {
        self.all_selectors().any(|selector| selector.permits_channel_pattern(pattern))
    }

    /// Whether some selector permits this use of a key.
    pub fn permits_key(&self, key: &[u8], needed: KeyRights) -> bool {
        self.all_selectors().any(|selector| selector.permits_key(key, needed))
    }

    /// Whether one can log in as it with this password. All its passwords are looked at, whichever
    /// is right.
    pub fn accepts(&self, password: &PasswordHash) -> bool {
        let is_right = self.passwords.iter().fold(false, |found, own| found | own.is(password));
        self.is_enabled & (self.needs_no_password | is_right)
    }

    /// The words of its state, as GETUSER lists them.
    pub fn flags(&self) -> impl Iterator<Item = &'static str> {
        let switched = if self.is_enabled { "on" } else { "off" };
        let sanitizes =
            if self.sanitizes_payloads { "sanitize-payload" } else { "skip-sanitize-payload" };
        let no_password = self.needs_no_password.then_some("nopass");
        [Some(switched), no_password, Some(sanitizes)].into_iter().flatten()
    }

    /// Applies a rule, with its selectors joined ([`crate::merge_selectors`]).
    ///
    /// # Errors
    /// It is no rule, or cannot be applied; nothing has changed.
    pub fn apply(
        &mut self,
        table: &CommandTable,
        channels: ChannelDefault,
        rule: &[u8],
    ) -> Result<(), RuleError> {
        match &rule.to_ascii_lowercase()[..] {
            b"" => {}
            b"on" => self.is_enabled = true,
            b"off" => self.is_enabled = false,
            b"nopass" => (self.needs_no_password, self.passwords) = (true, Vec::new()),
            b"resetpass" => (self.needs_no_password, self.passwords) = (false, Vec::new()),
            b"sanitize-payload" => self.sanitizes_payloads = true,
            b"skip-sanitize-payload" => self.sanitizes_payloads = false,
            b"clearselectors" => self.selectors.clear(),
            b"reset" => {
                *self = User::new(table, Arc::clone(&self.name), self.id, channels);
            }
            [b'>', ..] => self.add_password(hash_password(&rule[1..])),
            [b'#', ..] => self.add_password(hash(&rule[1..])?),
            [b'<', ..] => return self.remove_password(hash_password(&rule[1..])),
            [b'!', ..] => return self.remove_password(hash(&rule[1..])?),
            [b'(', .., b')'] => {
                let selector = selector(table, channels, &rule[1..rule.len() - 1])?;
                self.selectors.push(selector);
            }
            _ => return self.root.apply(table, rule),
        }
        Ok(())
    }

    fn add_password(&mut self, hash: PasswordHash) {
        if !self.passwords.iter().any(|known| known.is(&hash)) {
            self.passwords.push(hash);
        }
        self.needs_no_password = false;
    }

    fn remove_password(&mut self, hash: PasswordHash) -> Result<(), RuleError> {
        let at = self.passwords.iter().position(|known| known.is(&hash));
        self.passwords.remove(at.ok_or(RuleError::NoSuchPassword)?);
        Ok(())
    }

    /// Rules that make it what it is, after the name of a new user: as in `ACL LIST`, `aclfile` and
    /// `redis.conf`.
    pub fn describe(&self) -> Vec<u8> {
        let mut words: Vec<Vec<u8>> = self.flags().map(|flag| flag.as_bytes().to_vec()).collect();
        words.extend(self.passwords.iter().map(|hash| format!("#{}", hash.to_hex()).into_bytes()));
        words.push(self.root.describe());
        let selectors = self.selectors.iter();
        words.extend(selectors.map(|it| [b"(", &it.describe()[..], b")"].concat()));
        words.join(&b' ')
    }
}

fn hash(digits: &[u8]) -> Result<PasswordHash, RuleError> {
    PasswordHash::from_hex(digits).ok_or(RuleError::BadHash)
}

fn selector(
    table: &CommandTable,
    channels: ChannelDefault,
    rules: &[u8],
) -> Result<Selector, RuleError> {
    let mut selector = Selector::new(table, channels);
    let words = rules.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    for word in words {
        if word.ends_with(b")") {
            // Written down it would close the selector.
            return Err(RuleError::Syntax);
        }
        selector.apply(table, word)?;
    }
    Ok(selector)
}
