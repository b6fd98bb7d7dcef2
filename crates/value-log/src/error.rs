//! Errors of the disk in the cold tier's words.

use basalt_cold::ColdError;
use basalt_env::is_disk_full;
use std::io;
use std::path::Path;

pub(crate) fn io_error(error: &io::Error, operation: &'static str, path: &Path) -> ColdError {
    let detail = format!("{}: {error}", path.display());
    if is_disk_full(error) {
        return ColdError::NoSpace { detail };
    }
    ColdError::Failed { operation, detail }
}

pub(crate) fn corrupt(path: &Path, offset: u64, detail: &str) -> ColdError {
    let place = format!("{} at byte {offset}", path.display());
    ColdError::Corrupt { place, detail: detail.to_owned() }
}
