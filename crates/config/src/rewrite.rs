//! CONFIG REWRITE: the file comes to say what holds, and changes as little as it can.
//!
//! The text is read as a start would read it, includes and all. Only the options whose values then
//! differ from the live ones are written: in place where the file has them, at its end where it has
//! not. Comments, order, unknown lines and lines that still hold stay byte for byte. The result is
//! read once more before it replaces the file, so a rewrite can never store something else than
//! what holds. The file is replaced by rename: a crash leaves the old text or the new one.

use crate::load::{Loader, read_file};
use crate::option::OptionId;
use crate::source::{ConfigFile, LoadError, SourcePlace, Syntax};
use crate::values::Values;
use crate::{rewrite_conf, rewrite_toml};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Why CONFIG REWRITE did nothing. The text is to be sent after `ERR `.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// There is no file to rewrite.
    #[error("The server is running without a config file")]
    NoFile,
    /// The file cannot be read back as a configuration.
    #[error("Rewriting config file: {0}")]
    Unreadable(#[from] LoadError),
    /// The new file cannot be written.
    #[error("Rewriting config file: {0}")]
    Unwritable(#[from] io::Error),
    /// The file's syntax cannot hold a value, or an include outranks what was written.
    #[error("Rewriting config file: option '{0}' cannot be expressed in this file")]
    Inexpressible(&'static str),
}

pub(crate) fn rewrite(
    file: &ConfigFile,
    wanted: &Values,
    users: Option<&[Vec<Vec<u8>>]>,
) -> Result<(), RewriteError> {
    // The file that a symbolic link leads to is replaced, not the link.
    let path = std::fs::canonicalize(&file.path)?;
    let place = SourcePlace::whole(&path.to_string_lossy());
    let draft = Draft { place, syntax: file.syntax, wanted, users };
    let old = read_file(&draft.place, &path)?;
    let new = match file.syntax {
        Syntax::RedisConf => rewrite_conf::updated(&draft, &old)?,
        Syntax::Toml => rewrite_toml::updated(&draft, &old)?,
    };
    if let Some(id) = draft.differing(&new)?.first() {
        return Err(RewriteError::Inexpressible(id.spec().name));
    }
    if draft.users_to_write(&new)?.is_some() {
        return Err(RewriteError::Inexpressible("user"));
    }
    if new != old {
        replace(&path, &new)?;
    }
    Ok(())
}

/// What a rewrite aims at.
pub(crate) struct Draft<'a> {
    pub(crate) place: SourcePlace,
    syntax: Syntax,
    pub(crate) wanted: &'a Values,
    users: Option<&'a [Vec<Vec<u8>>]>,
}

impl Draft<'_> {
    /// The options that a start from this text would set to something else than what holds.
    pub(crate) fn differing(&self, text: &[u8]) -> Result<Vec<OptionId>, LoadError> {
        let mut loader = Loader::new();
        loader.text(&self.place, text, self.syntax)?;
        let (read, _) = loader.finish()?;
        Ok(OptionId::all().filter(|&id| read.get(id) != self.wanted.get(id)).collect())
    }

    /// The users that the file is to define, if a start from this text would define others.
    pub(crate) fn users_to_write(&self, text: &[u8]) -> Result<Option<&[Vec<Vec<u8>>]>, LoadError> {
        let Some(wanted) = self.users else { return Ok(None) };
        let mut loader = Loader::new();
        loader.text(&self.place, text, self.syntax)?;
        let read = loader.take_users();
        let is_as_wanted = read.iter().map(|user| &user.words).eq(wanted);
        Ok((!is_as_wanted).then_some(wanted))
    }
}

/// Writes beside the file, syncs, renames over it, and syncs the directory.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let temporary = temporary_path(path);
    let written = write_synced(&temporary, path, text)
        .and_then(|()| std::fs::rename(&temporary, path))
        .and_then(|()| File::open(directory)?.sync_all());
    if written.is_err() {
        // It may not exist, or may already bear its final name; either way there is nothing to add.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_synced(temporary: &Path, original: &Path, text: &[u8]) -> io::Result<()> {
    // What an earlier, killed process of the same number left behind is in nobody's use.
    match std::fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The file may hold passwords: nobody else can read it before it has the old file's mode.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
    file.write_all(text)?;
    match std::fs::metadata(original) {
        Ok(original) => file.set_permissions(original.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.sync_all()
}
