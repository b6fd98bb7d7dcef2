//! Names that an operator gives to commands, or takes from them.
//!
//! They are put into the index in the place of the commands' own, before anybody asks it: a call
//! costs what it cost. Names that the index has no room for are in a list, which is searched when
//! the index has found nothing.

use super::id::CommandId;
use super::index::{Index, NAME_BYTES_MAX};

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
    /// Puts a name that is free into the index, or into the list, in the place of that which the
    /// command has.
    pub(super) fn rename(
        &mut self,
        index: &mut Index,
        id: CommandId,
        new_name: &[u8],
    ) -> Result<(), RenameError> {
        self.own.get_or_insert_with(|| Box::new(index.clone()));
        self.long.retain(|(_, known)| *known != id);
        index.remove(id);
        index.settle();
        let new_name = new_name.to_ascii_lowercase();
        match new_name.len() {
            0 => self.nameless.push(id),
            1..=NAME_BYTES_MAX => {
                let inserted = index.insert(None, &new_name, id);
                inserted.map_err(|_| RenameError::NameTaken)?;
                index.settle();
            }
            _ => self.long.push((new_name.into_boxed_slice(), id)),
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    pub(super) fn find_long(&self, name: &[u8]) -> Option<CommandId> {
        let found = self.long.iter().find(|(long, _)| long.eq_ignore_ascii_case(name));
        found.map(|(_, id)| *id)
    }

    pub(super) fn has_name(&self, id: CommandId) -> bool {
        !self.nameless.contains(&id)
    }

    /// The index with the commands' own names, where `index` has those by which they are called.
    pub(super) fn own_names<'a>(&'a self, index: &'a Index) -> &'a Index {
        self.own.as_deref().unwrap_or(index)
    }
}
