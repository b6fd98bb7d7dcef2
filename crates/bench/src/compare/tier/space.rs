//! What a server's directory takes on the disk, the journal left out: its length follows from
//! when checkpoints are made, and not from how much is kept.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The journal's directory, and what else is not data.
const LEFT_OUT: [&str; 3] = ["journal", "reserve", "server.log"];
/// What the system counts a file's place in.
const UNIT_BYTES: u64 = 512;

/// Bytes on the disk without the journal. A file that goes meanwhile counts as nothing.
pub(super) fn bytes_without_journal(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let kept = entries.filter(|entry| !LEFT_OUT.iter().any(|name| entry.file_name() == *name));
    kept.map(|entry| bytes(&entry.path())).sum()
}

fn bytes(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| bytes(&entry.path())).sum()
        }
        Ok(metadata) => metadata.blocks() * UNIT_BYTES,
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_takes_no_space() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let write = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in the directory"))
                .and_then(|()| fs::write(&path, vec![7; 100_000]))
                .and_then(|()| fs::File::open(&path)?.sync_all())
                .expect("the directory can be written");
        };
        write("journal/1");
        write("reserve");
        write("server.log");
        assert_eq!(bytes_without_journal(dir.path()), 0);
        write("cold/1");
        write("cold/values/1");
        let bytes = bytes_without_journal(dir.path());
        assert!((200_000..400_000).contains(&bytes), "{bytes}");
    }
}
