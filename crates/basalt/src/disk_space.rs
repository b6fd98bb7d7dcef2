//! Whether there is room on the disk: what happens before it is full, and when it is.
//!
//! ```text
//! free space   from 2 × disk-reserve on   below disk-reserve   none: a checkpoint or a start fails
//! changes      all                        removals             removals, and the file `reserve` is
//!                                                              given up for them (`reserve.rs`)
//! ```
//! What gives space back needs some first: merges, checkpoints and the collection of the value log
//! write before they remove.

use crate::reserve::Reserve;
use basalt_engine::Engine;
use basalt_journal_log::JournalLog;
use std::path::{Path, PathBuf};

/// Of a small file system no more than this share is kept free.
const SHARE_OF_DISK: u64 = 32;
/// Looks from one request for a checkpoint to the next while space is short: what was removed takes
/// its space until it is stored that it was.
const LOOKS_A_CHECKPOINT: u64 = 50;

/// What a file system has.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FileSystem {
    pub bytes: u64,
    pub free_bytes: u64,
}

impl FileSystem {
    /// Of this directory; nothing is known if the system does not say.
    pub fn of(dir: &Path) -> Option<FileSystem> {
        let found = rustix::fs::statvfs(dir).ok()?;
        Some(FileSystem {
            bytes: found.f_blocks * found.f_frsize,
            free_bytes: found.f_bavail * found.f_frsize,
        })
    }

    /// Whether less is free than is to be kept; if that was so, less than twice as much.
    fn is_short(self, was_short: bool, reserve_bytes: u64) -> bool {
        let kept = reserve_bytes.min(self.bytes / SHARE_OF_DISK);
        self.free_bytes < if was_short { kept.saturating_mul(2) } else { kept }
    }
}

/// See the head of this file.
pub struct DiskSpace {
    dir: PathBuf,
    reserve: Reserve,
    is_short: bool,
    looks: u64,
}

impl DiskSpace {
    pub fn new(dir: &Path, reserve: Reserve) -> DiskSpace {
        DiskSpace { dir: dir.to_owned(), reserve, is_short: false, looks: 0 }
    }

    /// Ten times a second: has changes refused or accepted by how much is free, of which
    /// `reserve_bytes` are to be kept.
    pub fn look(&mut self, engine: &Engine, journal: &JournalLog, reserve_bytes: u64) {
        self.look_at(FileSystem::of(&self.dir), reserve_bytes);
        self.reserve.look(engine.checkpoint_stats().is_out_of_space);
        let on_reserve = self.is_short || self.reserve.is_released();
        journal.set_on_reserve(on_reserve);
        engine.set_short_of_space(on_reserve);
        self.looks += 1;
        let wants_checkpoint = on_reserve && engine.changes_since_checkpoint() > 0;
        if wants_checkpoint && self.looks.is_multiple_of(LOOKS_A_CHECKPOINT) {
            engine.request_checkpoint(Box::new(|_| ()));
        }
    }

    fn look_at(&mut self, found: Option<FileSystem>, reserve_bytes: u64) {
        let Some(found) = found else { return };
        let is_short = found.is_short(self.is_short, reserve_bytes);
        let free_bytes = found.free_bytes;
        if is_short && !self.is_short {
            tracing::error!(
                free_bytes,
                "less than disk-reserve is free: until there is twice as much only what makes data smaller is \
                 accepted"
            );
        } else if !is_short && self.is_short {
            tracing::info!(free_bytes, "the disk has room again: changes are accepted");
        }
        self.is_short = is_short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn disk(free_mib: u64) -> Option<FileSystem> {
        Some(FileSystem { bytes: 100_000 * MIB, free_bytes: free_mib * MIB })
    }

    #[test]
    fn changes_are_refused_below_the_reserve_and_taken_again_from_twice_as_much_on() {
        let mut space = DiskSpace::new(Path::new("."), Reserve::none());
        for (free_mib, is_short) in
            [(256, false), (255, true), (300, true), (511, true), (512, false), (256, false)]
        {
            space.look_at(disk(free_mib), 256 * MIB);
            assert_eq!(space.is_short, is_short, "{free_mib}");
        }
        space.look_at(disk(0), 0);
        assert!(!space.is_short, "nothing is to be kept");
        space.look_at(disk(1), 256 * MIB);
        space.look_at(None, 256 * MIB);
        assert!(space.is_short, "what is not known changes nothing");
    }

    #[test]
    fn a_small_disk_keeps_a_small_share() {
        let small = |free_mib| FileSystem { bytes: 320 * MIB, free_bytes: free_mib * MIB };
        assert!(!small(10).is_short(false, 256 * MIB));
        assert!(small(9).is_short(false, 256 * MIB));
    }
}
