//! What is on the disk, and what would be after a power cut.
//!
//! ```text
//! names:   durable ──▶ pending changes, in order ──▶ now         fsync of a directory: now durable
//! a file:  synced bytes, and which sectors differ from them now   fsync of the file: none do
//! ```

use super::{Failure, Fault, Operation};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};

/// The number of the root folder.
pub(super) const ROOT: u64 = 1;

/// What is written as a whole or not at all.
const SECTOR_BYTES: usize = 512;

/// Names in a folder, and their nodes.
pub(super) type Names = BTreeMap<OsString, u64>;

/// A file's contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) bytes: Vec<u8>,
    synced: Vec<u8>,
    /// Numbers of the sectors that have been written since.
    written: BTreeSet<usize>,
}

/// What a number stands for.
#[derive(Clone, Debug)]
pub(super) enum Node {
    File(Contents),
    Folder,
}

/// The names in all folders, by the folders' numbers.
type Folders = HashMap<u64, Names>;

/// A change of names.
#[derive(Clone, Debug)]
enum Change {
    Add { folder: u64, name: OsString, node: u64 },
    Remove { folder: u64, name: OsString },
    Rename { from: (u64, OsString), to: (u64, OsString) },
}

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Image {
    nodes: HashMap<u64, Node>,
    paths: HashMap<u64, OsString>,
    next: u64,
    names: Folders,
    durable: Folders,
    pending: Vec<Change>,
    pub(super) faults: Vec<Fault>,
    pub(super) failed: u64,
    pub(super) forgets_syncs: bool,
}

impl Image {
    pub(super) fn new() -> Image {
        Image {
            nodes: HashMap::from([(ROOT, Node::Folder)]),
            paths: HashMap::from([(ROOT, OsString::new())]),
            next: ROOT + 1,
            names: Folders::new(),
            durable: Folders::new(),
            pending: Vec::new(),
            faults: Vec::new(),
            failed: 0,
            forgets_syncs: false,
        }
    }

    pub(super) fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get(&number)
    }

    pub(super) fn contents(&mut self, number: u64) -> Option<&mut Contents> {
        match self.nodes.get_mut(&number)? {
            Node::File(contents) => Some(contents),
            Node::Folder => None,
        }
    }

    /// The names in a folder that has had any.
    pub(super) fn names(&self, folder: u64) -> Option<&Names> {
        self.names.get(&folder)
    }

    pub(super) fn find(&self, folder: u64, name: &OsStr) -> Option<u64> {
        self.names.get(&folder)?.get(name).copied()
    }

    /// Adds a node under a name, in place of what is there.
    pub(super) fn add(&mut self, folder: u64, name: &OsStr, node: Node) -> u64 {
        let number = self.next;
        self.next += 1;
        self.nodes.insert(number, node);
        self.note_path(folder, name, number);
        self.change(Change::Add { folder, name: name.to_owned(), node: number });
        number
    }

    /// Puts a node under one more name.
    pub(super) fn link(&mut self, folder: u64, name: &OsStr, node: u64) {
        self.note_path(folder, name, node);
        self.change(Change::Add { folder, name: name.to_owned(), node });
    }

    /// Takes a name away; the node stays for processes that have it open.
    pub(super) fn remove(&mut self, folder: u64, name: &OsStr) {
        self.change(Change::Remove { folder, name: name.to_owned() });
    }

    pub(super) fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr)) {
        if let Some(number) = self.find(from.0, from.1) {
            self.note_path(to.0, to.1, number);
        }
        let (from, to) = ((from.0, from.1.to_owned()), (to.0, to.1.to_owned()));
        self.change(Change::Rename { from, to });
    }

    fn note_path(&mut self, folder: u64, name: &OsStr, number: u64) {
        let mut path = self.paths.get(&folder).cloned().unwrap_or_default();
        path.push("/");
        path.push(name);
        self.paths.insert(number, path);
    }

    fn change(&mut self, change: Change) {
        apply(&change, &mut self.names);
        self.pending.push(change);
    }

    /// Makes all names durable.
    pub(super) fn sync_names(&mut self) {
        if self.forgets_syncs {
            return;
        }
        for change in std::mem::take(&mut self.pending) {
            apply(&change, &mut self.durable);
        }
    }

    /// Makes the contents of a file durable.
    pub(super) fn sync_contents(&mut self, number: u64) {
        if !self.forgets_syncs
            && let Some(contents) = self.contents(number)
        {
            contents.sync();
        }
    }

    /// How an operation on a node fails, if it does.
    pub(super) fn failure(&mut self, number: u64, operation: Operation) -> Option<Failure> {
        let path = self.paths.get(&number)?.to_string_lossy().into_owned();
        let is_about = |fault: &&mut Fault| {
            fault.times > 0 && fault.operation == operation && path.contains(&fault.path_part)
        };
        let fault = self.faults.iter_mut().find(is_about)?;
        fault.times -= 1;
        self.failed += 1;
        Some(fault.failure)
    }

    pub(super) fn cut_power(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        let kept = random.below(self.pending.len() as u64 + 1) as usize;
        for change in self.pending.drain(..).take(kept) {
            apply(&change, &mut self.durable);
        }
        let mut reached = BTreeSet::from([ROOT]);
        for names in self.durable.values() {
            reached.extend(names.values().copied());
        }
        self.nodes.retain(|number, _| reached.contains(number));
        self.durable.retain(|number, _| reached.contains(number));
        self.names.clone_from(&self.durable);
        let mut numbers: Vec<u64> = self.nodes.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            if let Some(contents) = self.contents(number) {
                contents.cut_power(&mut random);
            }
        }
    }
}

fn apply(change: &Change, folders: &mut Folders) {
    match change {
        Change::Add { folder, name, node } => {
            folders.entry(*folder).or_default().insert(name.clone(), *node);
        }
        Change::Remove { folder, name } => {
            folders.entry(*folder).or_default().remove(name);
        }
        Change::Rename { from, to } => {
            if let Some(node) = folders.entry(from.0).or_default().remove(&from.1) {
                folders.entry(to.0).or_default().insert(to.1.clone(), node);
            }
        }
    }
}

impl Contents {
    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if self.bytes.len() < end {
            self.resize(end);
        }
        self.bytes[offset..end].copy_from_slice(bytes);
        self.note_written(offset, end);
    }

    pub(super) fn resize(&mut self, length: usize) {
        let before = self.bytes.len();
        self.bytes.resize(length, 0);
        self.note_written(before.min(length), before.max(length));
    }

    fn note_written(&mut self, start: usize, end: usize) {
        self.written.extend(start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES));
    }

    fn sync(&mut self) {
        self.synced.resize(self.bytes.len(), 0);
        for sector in std::mem::take(&mut self.written) {
            let end = ((sector + 1) * SECTOR_BYTES).min(self.bytes.len());
            let start = (sector * SECTOR_BYTES).min(end);
            self.synced[start..end].copy_from_slice(&self.bytes[start..end]);
        }
    }

    /// Each sector that was not synced is as it was or as it is; so is the length.
    fn cut_power(&mut self, random: &mut Random) {
        let mut after = std::mem::take(&mut self.synced);
        if random.below(2) == 0 {
            after.resize(self.bytes.len(), 0);
        }
        for sector in std::mem::take(&mut self.written) {
            let end = ((sector + 1) * SECTOR_BYTES).min(self.bytes.len()).min(after.len());
            let start = (sector * SECTOR_BYTES).min(end);
            if random.below(2) == 0 {
                after[start..end].copy_from_slice(&self.bytes[start..end]);
            }
        }
        self.synced.clone_from(&after);
        self.bytes = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(image: &Image) -> Vec<String> {
        let names = image.names(ROOT).expect("it has had names");
        names.keys().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn file(image: &mut Image, name: &str, bytes: &[u8]) -> u64 {
        let number = image.add(ROOT, OsStr::new(name), Node::File(Contents::default()));
        image.contents(number).expect("it was just made").write(0, bytes);
        number
    }

    #[test]
    fn what_is_synced_survives_and_what_is_not_is_old_or_new_by_sectors() {
        let (mut whole, mut torn) = (0, 0);
        for seed in 0..200 {
            let mut image = Image::new();
            let number = file(&mut image, "a", &[1; 2_048]);
            image.sync_names();
            image.sync_contents(number);
            image.contents(number).expect("a file").write(512, &[2; 1_024]);
            image.cut_power(seed);
            let bytes = &image.contents(number).expect("a file").bytes;
            assert!(bytes[..512] == [1; 512] && bytes[1_536..] == [1; 512]);
            let sectors = [bytes[512], bytes[1_024]];
            whole += u32::from(sectors == [2, 2]);
            torn += u32::from(sectors[0] != sectors[1]);
        }
        assert!(whole > 0 && torn > 0, "{whole} whole, {torn} torn");
    }

    #[test]
    fn names_survive_up_to_any_change_behind_the_last_sync() {
        let mut found = BTreeSet::new();
        for seed in 0..200 {
            let mut image = Image::new();
            file(&mut image, "a", b"");
            image.sync_names();
            image.rename((ROOT, OsStr::new("a")), (ROOT, OsStr::new("b")));
            file(&mut image, "c", b"");
            image.cut_power(seed);
            found.insert(names(&image).concat());
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "bc"]);
    }

    #[test]
    fn a_fault_is_for_its_files_and_operations_and_ends() {
        let mut image = Image::new();
        let (one, other) = (file(&mut image, "one", b""), file(&mut image, "other", b""));
        let (operation, failure) = (Operation::Write, Failure::InputOutput);
        image.faults.push(Fault { path_part: "one".to_owned(), operation, failure, times: 1 });
        assert_eq!(image.failure(other, Operation::Write), None);
        assert_eq!(image.failure(one, Operation::Sync), None);
        assert_eq!(image.failure(one, Operation::Write), Some(Failure::InputOutput));
        assert_eq!(image.failure(one, Operation::Write), None);
    }
}
