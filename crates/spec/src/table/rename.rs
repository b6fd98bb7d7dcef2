//! Names that an operator gives to commands, or takes from them.
//!
//! They are put into the index in the place of the commands' own, before anybody asks it: a call
//! costs what it cost. Names that the index has no room for are in a list, which is searched when
//! the index has found nothing.

use super::index::Index;
use super::{Command, CommandId, CommandTable, NAME_BYTES_MAX};

/// Why a command cannot have another name. The texts are those of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// No command has this name, or not any more.
    #[error("No such command in rename-command")]
    NoSuchCommand,
    /// Another one has the new name.
    #[error("Target command name already exists")]
    NameTaken,
}

/// What has been renamed.
#[derive(Debug, Default)]
pub(super) struct Renames {
    /// Names of more than [`NAME_BYTES_MAX`] bytes.
    long: Vec<(Box<[u8]>, CommandId)>,
    /// Commands that have no name.
    nameless: Vec<CommandId>,
    /// The index with the commands' own names, if it is another one.
    own: Option<Box<Index>>,
}

impl Renames {
    #[cold]
    #[inline(never)]
    pub(super) fn find_long(&self, name: &[u8]) -> Option<CommandId> {
        let found = self.long.iter().find(|(long, _)| long.eq_ignore_ascii_case(name));
        found.map(|(_, id)| *id)
    }
}

impl CommandTable {
    /// Gives a command another name, by which it is called from now on, or none: then nobody can
    /// call it. It is looked for under the name that it has by now, as in Redis.
    ///
    /// ```text
    /// rename-command <command> <new name | "">
    /// ```
    ///
    /// # Errors
    /// There is no such command, or the new name is that of another one.
    pub fn rename(&mut self, name: &[u8], new_name: &[u8]) -> Result<(), RenameError> {
        let id = self.lookup(name).ok_or(RenameError::NoSuchCommand)?.id;
        if self.lookup(new_name).is_some_and(|taken| taken.id != id) {
            return Err(RenameError::NameTaken);
        }
        let index = &mut self.index;
        self.renames.own.get_or_insert_with(|| Box::new(index.clone()));
        self.renames.long.retain(|(_, known)| *known != id);
        index.remove(id);
        index.settle();
        let new_name = new_name.to_ascii_lowercase();
        match new_name.len() {
            0 => self.renames.nameless.push(id),
            1..=NAME_BYTES_MAX => {
                let inserted = index.insert(None, &new_name, id);
                inserted.map_err(|_| RenameError::NameTaken)?;
                index.settle();
            }
            _ => self.renames.long.push((new_name.into_boxed_slice(), id)),
        }
        Ok(())
    }

    /// Whether a command or subcommand has a name by which it can be called.
    pub fn is_callable(&self, command: &Command) -> bool {
        let outer = command.container.unwrap_or(command.id);
        !self.renames.nameless.contains(&outer)
    }

    /// Whether a command is called by its own name.
    pub fn keeps_name(&self, name: &str) -> bool {
        self.lookup(name.as_bytes()).is_some_and(|command| command.spec.name == name)
    }

    /// Finds a command or, by `container|name`, a subcommand, by the name that it has in its spec,
    /// whatever it is called by: rules of users hold for commands, not for names.
    pub fn lookup_own_name(&self, name: &[u8]) -> Option<&Command> {
        let index = self.renames.own.as_deref().unwrap_or(&self.index);
        let id = match name.iter().position(|byte| *byte == b'|') {
            None => index.find(None, name)?,
            Some(bar) => index.find(Some(index.find(None, &name[..bar])?), &name[bar + 1..])?,
        };
        Some(self.command(id))
    }
}
