//! redis.conf's syntax: one directive a line, its words quoted as on Redis' command line.

use crate::load::Loader;
use crate::source::{LoadError, SourcePlace};
use crate::words;

pub(crate) fn read(loader: &mut Loader, place: &SourcePlace, text: &[u8]) -> Result<(), LoadError> {
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let place = place.line(index + 1);
        match directive(line) {
            Ok(Some(line)) => loader.assign(&place, &line.name, &line.words)?,
            Ok(None) => {}
            Err(words::Unbalanced) => {
                let reason = "unbalanced quotes in configuration line; close the quote and leave \
                              a space after it"
                    .to_owned();
                return Err(LoadError::Malformed { place, reason });
            }
        }
    }
    Ok(())
}

/// One line that says something.
#[derive(Debug)]
pub(crate) struct Directive {
    pub(crate) name: String,
    pub(crate) words: Vec<Vec<u8>>,
}

/// Reads a line; `None` is an empty line or a comment.
pub(crate) fn directive(line: &[u8]) -> Result<Option<Directive>, words::Unbalanced> {
    let line = line.trim_ascii();
    if line.is_empty() || line[0] == b'#' {
        return Ok(None);
    }
    let mut words = words::split(line)?;
    if words.is_empty() {
        return Ok(None);
    }
    let name = String::from_utf8_lossy(&words.remove(0)).into_owned();
    Ok(Some(Directive { name, words }))
}
