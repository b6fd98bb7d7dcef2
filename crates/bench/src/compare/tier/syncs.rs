//! How long the disk itself takes to sync, beside a load: a block of a file that has its place on
//! the disk already is written and synced again and again.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BenchError;

const BLOCK_BYTES: usize = 4096;
/// Seldom enough to be no load.
const EVERY: Duration = Duration::from_millis(100);

/// Does some work and returns the longest sync meanwhile of a file in a directory.
pub(super) fn watching_syncs<R>(
    dir: &Path,
    work: impl FnOnce() -> Result<R, BenchError>,
) -> Result<(R, Duration), BenchError> {
    let failed = |source| BenchError::Disk { what: "write and sync a block", source };
    let file = tempfile::tempfile_in(dir).map_err(failed)?;
    sync(&file).map_err(failed)?;
    let (ended, end) = channel::<()>();
    thread::scope(|scope| {
        let longest = scope.spawn(move || {
            let mut longest = Duration::ZERO;
            while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                longest = longest.max(sync(&file)?);
            }
            Ok(longest)
        });
        let result = work();
        drop(ended);
        let longest = longest.join().expect("syncing reports errors and does not panic");
        Ok((result?, longest.map_err(failed)?))
    })
}

fn sync(file: &File) -> std::io::Result<Duration> {
    let start = Instant::now();
    file.write_all_at(&[0; BLOCK_BYTES], 0)?;
    file.sync_data()?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_timed_until_the_work_is_done() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let work = || {
            thread::sleep(EVERY * 3);
            Ok(7)
        };
        let (result, longest) = watching_syncs(dir.path(), work).expect("the disk has room");
        assert_eq!(result, 7);
        assert!(longest > Duration::ZERO);
    }

    #[test]
    fn an_error_of_the_work_is_passed_on() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let result = watching_syncs(dir.path(), || Err::<(), _>(BenchError::Unrequested));
        assert!(matches!(result, Err(BenchError::Unrequested)));
    }
}
