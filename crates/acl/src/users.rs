//! All users, and the text of the file that they are in.

use crate::password::{PasswordHash, hash_password};
use crate::rules::{RuleError, UnmatchedParenthesis, merge_selectors};
use crate::selector::{ChannelDefault, is_word};
use crate::user::User;
use basalt_spec::CommandTable;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The user of a client that has not said who it is.
pub const DEFAULT_USER: &[u8] = b"default";

/// Why ACL SETUSER is refused. The texts are Redis'.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetUserError {
    /// The name could not stand in a file.
    #[error("Usernames can't contain spaces or null characters")]
    BadName,
    /// A selector is not closed.
    #[error("Unmatched parenthesis in acl selector starting at '{0}'.")]
    Unmatched(String),
    /// A rule is refused.
    #[error("Error in ACL SETUSER modifier '{rule}': {error}")]
    BadRule {
        /// The rule.
        rule: String,
        /// Why.
        error: RuleError,
    },
}

/// What is wrong with lines of a file. The text is Redis'.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
)]
pub struct FileError(String);

/// What is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum LineError {
    #[error("should start with user keyword followed by the username")]
    NoUser,
    #[error("username '{0}' contains invalid characters")]
    BadName(String),
    #[error("Duplicate user '{0}' found")]
    Duplicate(String),
    #[error("Unmatched parenthesis in selector definition")]
    Unmatched,
    #[error(transparent)]
    BadRule(RuleError),
}

impl LineError {
    /// Says where it is, each kind in Redis' way.
    fn at(&self, file: &str, line: usize) -> String {
        match self {
            LineError::NoUser => format!("{file}:{line} {self}. "),
            LineError::Duplicate(_) => format!("WARNING: {self} on line {line}. "),
            _ => format!("{file}:{line}: {self}. "),
        }
    }
}

/// All users. There always is a default user.
#[derive(Debug)]
pub struct Users {
    by_name: BTreeMap<Arc<[u8]>, Arc<User>>,
    last_id: u64,
}

impl Users {
    /// The default user alone, which may do everything without a password.
    pub fn new(table: &CommandTable) -> Users {
        let mut users = Users { by_name: BTreeMap::new(), last_id: 0 };
        users.insert(default_user(table, 0));
        users
    }

    fn insert(&mut self, user: User) -> Arc<User> {
        let user = Arc::new(user);
        self.by_name.insert(Arc::clone(user.name()), Arc::clone(&user));
        user
    }

    /// The user of that name.
    pub fn get(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.by_name.get(name)
    }

    /// The user of a client that has not said who it is.
    pub fn default_user(&self) -> &Arc<User> {
        self.get(DEFAULT_USER).expect("it is never removed")
    }

    /// All users, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<User>> {
        self.by_name.values()
    }

    /// The user with this name and password. A wrong name takes as long as a wrong password.
    pub fn authenticate(&self, name: &[u8], password: &[u8]) -> Option<&Arc<User>> {
        let hash: PasswordHash = hash_password(password);
        self.get(name).filter(|user| user.accepts(&hash))
    }

    /// Changes a user, or makes one. Either all rules are applied or none.
    ///
    /// # Errors
    /// The name or a rule is refused.
    pub fn set(
        &mut self,
        table: &CommandTable,
        channels: ChannelDefault,
        name: &[u8],
        rules: &[&[u8]],
    ) -> Result<Arc<User>, SetUserError> {
        if !is_name(name) {
            return Err(SetUserError::BadName);
        }
        let rules = merge_selectors(rules)
            .map_err(|UnmatchedParenthesis(index)| SetUserError::Unmatched(lossy(rules[index])))?;
        let before = self.get(name).cloned();
        let mut user = match &before {
            Some(user) => User::clone(user),
            None => User::new(table, Arc::from(name), self.last_id + 1, channels),
        };
        for rule in &rules {
            user.apply(table, channels, rule)
                .map_err(|error| SetUserError::BadRule { rule: lossy(rule), error })?;
        }
        if let Some(before) = before {
            user.succeed(&before);
        }
        self.last_id = self.last_id.max(user.id());
        Ok(self.insert(user))
    }

    /// Removes a user; false if there is none of that name, or it is the default user.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        name != DEFAULT_USER && self.by_name.remove(name).is_some()
    }

    /// Replaces all users by those that the text of a file defines. A user that stays keeps its
    /// identity; if the file defines no default user, it is as at the start.
    ///
    /// # Errors
    /// A line is wrong; nothing has changed.
    pub fn load(
        &mut self,
        table: &CommandTable,
        channels: ChannelDefault,
        (file, text): (&str, &[u8]),
    ) -> Result<(), FileError> {
        let mut loaded = Users { by_name: BTreeMap::new(), last_id: self.last_id };
        let mut errors = String::new();
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let words: Vec<&[u8]> =
                line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
            if words.is_empty() || words[0].starts_with(b"#") {
                continue;
            }
            if let Err(error) = loaded.define(self, (table, channels), &words) {
                errors.push_str(&error.at(file, index + 1));
            }
        }
        if !errors.is_empty() {
            return Err(FileError(errors));
        }
        if loaded.get(DEFAULT_USER).is_none() {
            let mut user = default_user(table, self.default_user().id());
            user.succeed(self.default_user());
            loaded.insert(user);
        }
        *self = loaded;
        Ok(())
    }

    /// Takes a line of a file: `user name rule …`.
    ///
    /// # Errors
    /// What is wrong with it.
    fn define(
        &mut self,
        before: &Users,
        (table, channels): (&CommandTable, ChannelDefault),
        words: &[&[u8]],
    ) -> Result<(), LineError> {
        let (b"user", [name, rules @ ..]) = (words[0], &words[1..]) else {
            return Err(LineError::NoUser);
        };
        if !is_name(name) {
            return Err(LineError::BadName(lossy(name)));
        }
        if self.get(name).is_some() {
            return Err(LineError::Duplicate(lossy(name)));
        }
        let rules = merge_selectors(rules).map_err(|_| LineError::Unmatched)?;
        let id = before.get(name).map_or(self.last_id + 1, |known| known.id());
        let mut user = User::new(table, Arc::from(*name), id, channels);
        for rule in &rules {
            user.apply(table, channels, rule).map_err(LineError::BadRule)?;
        }
        if let Some(before) = before.get(name) {
            user.succeed(before);
        }
        self.last_id = self.last_id.max(id);
        self.insert(user);
        Ok(())
    }

    /// Defines users by the directives of a configuration: the words after `user` of each.
    ///
    /// # Errors
    /// The index of the directive that is wrong, and why.
    pub fn define_all(
        &mut self,
        table: &CommandTable,
        channels: ChannelDefault,
        directives: &[Vec<Vec<u8>>],
    ) -> Result<(), (usize, String)> {
        let before = Users { by_name: std::mem::take(&mut self.by_name), last_id: self.last_id };
        for (index, directive) in directives.iter().enumerate() {
            let words: Vec<&[u8]> =
                std::iter::once(&b"user"[..]).chain(directive.iter().map(|it| &it[..])).collect();
            self.define(&before, (table, channels), &words)
                .map_err(|error| (index, error.to_string()))?;
        }
        for (name, user) in before.by_name {
            self.by_name.entry(name).or_insert(user);
        }
        Ok(())
    }

    /// The lines that define all users, as ACL LIST shows them.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        let line = |user: &Arc<User>| [b"user ", &user.name()[..], b" ", &user.describe()].concat();
        self.iter().map(line).collect()
    }

    /// The text of a file with all users.
    pub fn text(&self) -> Vec<u8> {
        self.lines().into_iter().flat_map(|line| [line, b"\n".to_vec()].concat()).collect()
    }
}

fn default_user(table: &CommandTable, id: u64) -> User {
    let mut user = User::new(table, Arc::from(DEFAULT_USER), id, ChannelDefault::All);
    for rule in ["+@all", "~*", "&*", "on", "nopass"] {
        user.apply(table, ChannelDefault::All, rule.as_bytes()).expect("they are rules");
    }
    user
}

/// Whether a name can stand in a file.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && is_word(name)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
