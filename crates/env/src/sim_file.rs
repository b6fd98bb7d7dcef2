//! What a simulated file holds: the bytes that the program sees, the bytes that a power cut leaves,
//! and between the two every version that an unsynced sector went through.

use std::collections::BTreeMap;

use crate::random::Random;

/// The unit that a disk writes whole or not at all.
pub(crate) const SECTOR_BYTES: usize = 512;

/// One version of an unsynced sector: when it was written, and what it then held.
type Version = (u64, Vec<u8>);

#[derive(Debug, Default, Clone)]
pub(crate) struct SimInode {
    seen: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors written since the last sync, oldest version first.
    unsynced: BTreeMap<usize, Vec<Version>>,
}

/// How a crash chooses among the versions of a file's unsynced sectors.
enum Loss {
    Everything,
    Nothing,
    /// All writes up to one moment survive: what an orderly disk does.
    After(u64),
    /// Each sector for itself: what a disk may do.
    Arbitrary,
}

impl SimInode {
    pub(crate) fn bytes(&self) -> u64 {
        self.seen.len() as u64
    }

    pub(crate) fn reserve(&mut self, bytes: u64) {
        let bytes = bytes as usize;
        if bytes > self.seen.len() {
            self.seen.resize(bytes, 0);
        }
    }

    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let start = (offset.min(self.bytes())) as usize;
        let count = buffer.len().min(self.seen.len() - start);
        buffer[..count].copy_from_slice(&self.seen[start..start + count]);
        count
    }

    pub(crate) fn write(&mut self, data: &[u8], offset: u64, stamp: u64) {
        if data.is_empty() {
            return;
        }
        self.reserve(offset + data.len() as u64);
        let start = offset as usize;
        self.seen[start..start + data.len()].copy_from_slice(data);
        let last = (start + data.len() - 1) / SECTOR_BYTES;
        for sector in start / SECTOR_BYTES..=last {
            let end = self.seen.len().min((sector + 1) * SECTOR_BYTES);
            let content = self.seen[sector * SECTOR_BYTES..end].to_vec();
            self.unsynced.entry(sector).or_default().push((stamp, content));
        }
    }

    /// Flips bits on the platter and in the cache alike.
    pub(crate) fn corrupt(&mut self, offset: u64, mask: u8) {
        let at = offset as usize;
        for bytes in [&mut self.seen, &mut self.durable] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= mask;
            }
        }
    }

    pub(crate) fn sync(&mut self) {
        if self.durable.len() != self.seen.len() {
            self.durable.resize(self.seen.len(), 0);
        }
        for (sector, versions) in std::mem::take(&mut self.unsynced) {
            if let Some((_, content)) = versions.last() {
                put_sector(&mut self.durable, sector, content);
            }
        }
    }

    pub(crate) fn crash(&mut self, random: &mut Random, now: u64) {
        // The new length is metadata that a crash may lose too.
        if self.seen.len() != self.durable.len() && random.chance(1, 2) {
            self.durable.resize(self.seen.len(), 0);
        }
        let loss = match random.below(6) {
            0 => Loss::Everything,
            1 => Loss::Nothing,
            2 | 3 => Loss::After(random.below(now + 1)),
            _ => Loss::Arbitrary,
        };
        for (sector, versions) in std::mem::take(&mut self.unsynced) {
            let kept = match loss {
                Loss::Everything => 0,
                Loss::Nothing => versions.len(),
                Loss::After(moment) => {
                    versions.iter().filter(|version| version.0 <= moment).count()
                }
                Loss::Arbitrary => random.below(versions.len() as u64 + 1) as usize,
            };
            if let Some((_, content)) = kept.checked_sub(1).map(|index| &versions[index]) {
                put_sector(&mut self.durable, sector, content);
            }
        }
        self.seen.clone_from(&self.durable);
    }
}

/// Writes a sector as far as the file reaches: a lost length takes its sectors with it.
fn put_sector(bytes: &mut [u8], sector: usize, content: &[u8]) {
    let start = (sector * SECTOR_BYTES).min(bytes.len());
    let count = content.len().min(bytes.len() - start);
    bytes[start..start + count].copy_from_slice(&content[..count]);
}
