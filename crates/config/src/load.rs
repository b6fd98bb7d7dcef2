//! Gathers values from files, standard input and the command line, in the order in which they
//! count: what comes later wins.

use crate::directives::{DIRECTIVES, INCLUDE, RENAME_COMMAND, USER};
use crate::notice;
use crate::option::OptionId;
use crate::options::huststore::contradiction;
use crate::parse::{Previous, ValueError, parse_words};
use crate::reference::expected;
use crate::rename_directive::RenameDirective;
use crate::source::{LoadError, SourcePlace, Syntax, Warning};
use crate::user_directive::UserDirective;
use crate::values::Values;
use crate::{conf_file, toml_file};
use basalt_stdx::glob::{self, Case, Pattern};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A configuration is some kilobytes; whatever is larger is the wrong file.
pub(crate) const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const INCLUDE_DEPTH_MAX: u32 = 16;
/// Files in all: a file that includes itself twice would otherwise be read 2^16 times.
const FILES_MAX: u32 = 1024;

pub(crate) struct Loader {
    values: Values,
    /// Where each option was last set, in the order of the table.
    places: Vec<Option<SourcePlace>>,
    warnings: Vec<Warning>,
    warned: HashSet<String>,
    users: Vec<UserDirective>,
    renames: Vec<RenameDirective>,
    depth: u32,
    files: u32,
}

impl Loader {
    pub(crate) fn new() -> Loader {
        Loader {
            values: Values::defaults(),
            places: OptionId::all().map(|_| None).collect(),
            warnings: Vec::new(),
            warned: HashSet::new(),
            users: Vec::new(),
            renames: Vec::new(),
            depth: 0,
            files: 0,
        }
    }

    /// The options that have been set, by their names.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let places = OptionId::all().zip(&self.places);
        places.filter_map(|(id, place)| place.as_ref().map(|_| id.spec().name)).collect()
    }

    /// The users that have been defined, in this order.
    pub(crate) fn take_users(&mut self) -> Vec<UserDirective> {
        std::mem::take(&mut self.users)
    }

    /// The commands that are to have other names, in this order.
    pub(crate) fn take_renames(&mut self) -> Vec<RenameDirective> {
        std::mem::take(&mut self.renames)
    }

    /// The values, and the warnings about options without effect besides those given so far.
    ///
    /// # Errors
    /// An option was given a value that it cannot have beside the others.
    pub(crate) fn finish(mut self) -> Result<(Values, Vec<Warning>), LoadError> {
        for (id, place) in OptionId::all().zip(self.places) {
            let Some(place) = place else { continue };
            if let Some(reason) = contradiction(id.spec().name, &self.values) {
                return Err(LoadError::Contradicts { place, name: id.spec().name, reason });
            }
            if let Some(text) = notice::on_change(id, &self.values) {
                self.warnings.push(Warning { place, text });
            }
        }
        Ok((self.values, self.warnings))
    }

    /// Reads a file that was named at `place`.
    pub(crate) fn file(&mut self, place: &SourcePlace, path: &Path) -> Result<(), LoadError> {
        let own_place = SourcePlace::whole(&path.to_string_lossy());
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(LoadError::TooManyIncludes { place: own_place });
        }
        let text = read_file(place, path)?;
        self.text(&own_place, &text, Syntax::of(path))
    }

    /// Reads what a stream holds, in redis.conf's syntax.
    pub(crate) fn stream(
        &mut self,
        place: &SourcePlace,
        from: &mut dyn Read,
    ) -> Result<(), LoadError> {
        let text = read_limited(place, "standard input", from)?;
        self.text(place, &text, Syntax::RedisConf)
    }

    /// Reads the text of a file.
    pub(crate) fn text(
        &mut self,
        place: &SourcePlace,
        text: &[u8],
        syntax: Syntax,
    ) -> Result<(), LoadError> {
        match syntax {
            Syntax::RedisConf => conf_file::read(self, place, text),
            Syntax::Toml => toml_file::read(self, place, text),
        }
    }

    /// Takes the words that follow a name: an option, or one of redis.conf's directives.
    pub(crate) fn assign(
        &mut self,
        place: &SourcePlace,
        name: &str,
        words: &[Vec<u8>],
    ) -> Result<(), LoadError> {
        if let Some(id) = OptionId::find(name) {
            return self.assign_option(place, id, words);
        }
        let name = name.to_ascii_lowercase();
        if name == INCLUDE {
            return self.include(place, words);
        }
        if name == USER {
            self.users.push(UserDirective { place: place.clone(), words: words.to_vec() });
            return Ok(());
        }
        if name == RENAME_COMMAND {
            self.renames.push(RenameDirective::of(place, words)?);
            return Ok(());
        }
        let known = DIRECTIVES.iter().find(|directive| directive.name == name);
        match known {
            Some(directive) => self.warn_once(place, &name, directive.remark),
            None => self.warn_once(place, &name, "is unknown and ignored; see basalt --help"),
        }
        Ok(())
    }

    fn assign_option(
        &mut self,
        place: &SourcePlace,
        id: OptionId,
        words: &[Vec<u8>],
    ) -> Result<(), LoadError> {
        let before = self.values.get(id);
        let previous = match self.places[id.index()] {
            Some(_) => Previous::Extend(before),
            None => Previous::Replace(before),
        };
        match parse_words(id.spec(), words, previous) {
            Ok(value) => {
                self.values.set(id, value);
                self.places[id.index()] = Some(place.clone());
                Ok(())
            }
            Err(error) => Err(bad_value(place, id, error)),
        }
    }

    fn warn_once(&mut self, place: &SourcePlace, name: &str, remark: &str) {
        if self.warned.insert(name.to_owned()) {
            let text = format!("option '{name}' {remark}");
            self.warnings.push(Warning { place: place.clone(), text });
        }
    }

    fn include(&mut self, place: &SourcePlace, words: &[Vec<u8>]) -> Result<(), LoadError> {
        if self.depth == INCLUDE_DEPTH_MAX {
            return Err(LoadError::TooManyIncludes { place: place.clone() });
        }
        if words.is_empty() {
            let reason = "include names no file; write include /path/to/file".to_owned();
            return Err(LoadError::Malformed { place: place.clone(), reason });
        }
        self.depth += 1;
        for word in words {
            for path in included_files(place, Path::new(OsStr::from_bytes(word)))? {
                self.file(place, &path)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }
}

/// An error about the value of an option; it names what the option takes and not what it was given.
pub(crate) fn bad_value(place: &SourcePlace, id: OptionId, error: ValueError) -> LoadError {
    let spec = id.spec();
    LoadError::BadValue {
        place: place.clone(),
        name: spec.name.to_owned(),
        reason: error.to_string(),
        expected: expected(spec.kind),
    }
}

pub(crate) fn read_file(place: &SourcePlace, path: &Path) -> Result<Vec<u8>, LoadError> {
    let name = path.to_string_lossy();
    match std::fs::File::open(path) {
        Ok(mut file) => read_limited(place, &name, &mut file),
        Err(error) => {
            Err(LoadError::Unreadable { place: place.clone(), path: name.into_owned(), error })
        }
    }
}

fn read_limited(
    place: &SourcePlace,
    name: &str,
    from: &mut dyn Read,
) -> Result<Vec<u8>, LoadError> {
    let mut text = Vec::new();
    match from.take(FILE_BYTES_MAX + 1).read_to_end(&mut text) {
        Ok(_) if text.len() as u64 > FILE_BYTES_MAX => {
            Err(LoadError::TooLarge { place: place.clone(), bytes_max: FILE_BYTES_MAX })
        }
        Ok(_) => Ok(text),
        Err(error) => {
            Err(LoadError::Unreadable { place: place.clone(), path: name.to_owned(), error })
        }
    }
}

/// The files that an include names. As in Redis, a pattern that matches nothing names no file,
/// and what it matches is read in alphabetical order.
fn included_files(place: &SourcePlace, path: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let pattern = match path.file_name() {
        Some(pattern) if glob::is_pattern(pattern.as_bytes()) => pattern.as_bytes(),
        _ => return Ok(vec![path.to_owned()]),
    };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let unreadable = |error| LoadError::Unreadable {
        place: place.clone(),
        path: parent.to_string_lossy().into_owned(),
        error,
    };
    let pattern = Pattern::new(pattern, Case::Differs);
    let mut files = Vec::new();
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(files),
        Err(error) => return Err(unreadable(error)),
    };
    for entry in entries {
        let name = entry.map_err(unreadable)?.file_name();
        if pattern.matches(name.as_bytes()) {
            files.push(parent.join(name));
        }
    }
    files.sort();
    Ok(files)
}
