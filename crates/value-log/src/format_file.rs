//! `FORMAT`: what says that rows are to be read as this program reads them.
//!
//! It is written before the first row. Rows without it are those of an earlier program, which knew
//! no values apart.

use crate::error::io_error;
use crate::record::KEY_BYTES_MAX;
use basalt_cold::{ColdError, ColdTier};
use basalt_env::Disk;
use std::io::{self, IoSlice};
use std::ops::ControlFlow;
use std::path::Path;

const NAME: &str = "FORMAT";
const CONTENT: &[u8] = b"basalt values 2\n";

/// Above the keys of all rows.
pub(crate) const TOP: [u8; KEY_BYTES_MAX + 1] = [0xFF; KEY_BYTES_MAX + 1];

/// Checks the directory of a tier that has rows, and marks that of one that has none.
pub(crate) fn check(disk: &dyn Disk, dir: &Path, rows: &dyn ColdTier) -> Result<(), ColdError> {
    let path = dir.join(NAME);
    let failed = |error: io::Error| io_error(&error, "open", &path);
    if is_empty(rows)? {
        return mark(disk, dir).map_err(failed);
    }
    let is_there = disk.list(dir).map_err(failed)?.iter().any(|name| name == NAME);
    let mut content = [0; CONTENT.len()];
    if is_there {
        let file = disk.open(&path).map_err(failed)?;
        file.read_at(&mut content, 0).map_err(failed)?;
    }
    if content == CONTENT {
        return Ok(());
    }
    let what = match is_there {
        true => "is of another version",
        false => "is missing: the data is in the format of an earlier version",
    };
    let detail = format!(
        "{} {what}, which this one does not read: start that version, copy the data over with replication tools or \
         DUMP and RESTORE, or begin with an empty directory",
        path.display()
    );
    Err(ColdError::Failed { operation: "open", detail })
}

fn is_empty(rows: &dyn ColdTier) -> Result<bool, ColdError> {
    let mut is_empty = true;
    rows.scan(b"", &TOP, &mut |_, _| {
        is_empty = false;
        ControlFlow::Break(())
    })?;
    Ok(is_empty)
}

/// Marks a directory.
pub(crate) fn mark(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    let path = &dir.join(NAME);
    if disk.list(dir)?.iter().any(|name| name == NAME) {
        disk.remove(path)?;
    }
    let file = disk.create(path, CONTENT.len() as u64)?;
    file.write_all_at(&[IoSlice::new(CONTENT)], 0)?;
    file.sync_data()?;
    disk.sync_dir(dir)
}
