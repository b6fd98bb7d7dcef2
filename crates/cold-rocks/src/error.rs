//! RocksDB's errors, sorted into ours.
//!
//! The binding hands over RocksDB's status as text only: a kind up to the first colon, then a
//! sub-kind and details. The texts matched here are fixed in RocksDB's `util/status.cc` and
//! `env/io_posix.cc`; the tests on a full disk and on a damaged file fail if they change.

use std::path::Path;

use basalt_cold::ColdError;
use rocksdb::{Error, ErrorKind};

/// Errors of the first opening know one kind more: somebody else holds the lock.
pub(crate) fn open_error(error: &Error, dir: &Path) -> ColdError {
    let text: &str = error.as_ref();
    if text.contains("lock") && text.contains("/LOCK") {
        return ColdError::Locked { dir: dir.to_path_buf() };
    }
    cold_error(error, "open", dir)
}

/// Translates an error of `operation` on the tier at `dir`.
pub(crate) fn cold_error(error: &Error, operation: &'static str, dir: &Path) -> ColdError {
    let text: &str = error.as_ref();
    let detail = text.to_owned();
    match error.kind() {
        _ if is_no_space(text) => ColdError::NoSpace { detail },
        ErrorKind::Corruption => ColdError::Corrupt { place: damaged_file(text, dir), detail },
        ErrorKind::ShutdownInProgress => ColdError::Closed,
        _ => ColdError::Failed { operation, detail },
    }
}

/// Translates an error of a file operation of our own.
pub(crate) fn io_error(error: &std::io::Error, operation: &'static str) -> ColdError {
    let detail = error.to_string();
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            ColdError::NoSpace { detail }
        }
        _ => ColdError::Failed { operation, detail },
    }
}

/// ENOSPC, EDQUOT, and RocksDB's own limit. Any layer may have wrapped the text in another kind.
fn is_no_space(text: &str) -> bool {
    ["No space left on device", "Disk quota exceeded", "Max allowed space was reached"]
        .iter()
        .any(|part| text.contains(part))
}

/// The word of the message that names a file of a database, or else the directory.
fn damaged_file(text: &str, dir: &Path) -> String {
    text.split([' ', ',', ';'])
        .map(|word| word.trim_end_matches([':', '.', ')']))
        .find(|word| word.ends_with(".sst") || word.contains("MANIFEST-"))
        .map_or_else(|| dir.display().to_string(), str::to_owned)
}
