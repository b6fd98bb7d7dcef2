//! The list of hot keys as a file: `hot/keys`.
//!
//! There is one file for all partitions, since a file each would be a thousand syncs and renames
//! every ten minutes, among those that clients wait for. It is written under another name, synced
//! and renamed: a power cut leaves the old list, the new one, or none.

use super::format::{
    self, HEADER_BYTES, ListError, SECTION_HEAD_BYTES, Section, SectionBuilder, SectionHead,
};
use basalt_env::{Disk, DiskFile};
use std::fmt;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME: &str = "keys";
const NAME_UNFINISHED: &str = "keys.new";
/// Bytes that are gathered before they are written.
const WRITE_BYTES: usize = 1 << 20;

/// Where the list of hot keys is.
#[derive(Clone)]
pub struct HotKeysDir {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
}

/// A list that is being written.
pub(super) struct ListWriter<'a> {
    place: &'a HotKeysDir,
    file: Option<Arc<dyn DiskFile>>,
    gathered: Vec<u8>,
    written: u64,
}

/// A list that is being read.
pub(super) struct ListReader {
    file: Arc<dyn DiskFile>,
    at: u64,
}

impl HotKeysDir {
    /// A directory for the list alone; it need not exist.
    pub fn new(disk: Arc<dyn Disk>, dir: &Path) -> HotKeysDir {
        HotKeysDir { disk, dir: dir.to_path_buf() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(NAME)
    }

    fn path_unfinished(&self) -> PathBuf {
        self.dir.join(NAME_UNFINISHED)
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        match self.disk.remove(&self.path_unfinished()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

impl fmt::Debug for HotKeysDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HotKeysDir").field(&self.dir).finish()
    }
}

impl ListWriter<'_> {
    pub(super) fn begin(place: &HotKeysDir) -> io::Result<ListWriter<'_>> {
        place.disk.create_dir(&place.dir)?;
        // One that a crash has left.
        place.remove_unfinished()?;
        Ok(ListWriter { place, file: None, gathered: format::header().to_vec(), written: 0 })
    }

    /// Bytes of the list so far.
    pub(super) fn bytes(&self) -> u64 {
        self.written + self.gathered.len() as u64
    }

    pub(super) fn add(&mut self, section: &SectionBuilder) -> io::Result<()> {
        section.encode(&mut self.gathered);
        if self.gathered.len() < WRITE_BYTES { Ok(()) } else { self.write_gathered() }
    }

    /// Puts the list in the place of the one before. Returns its bytes.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.gathered.extend_from_slice(&format::end());
        self.write_gathered()?;
        let HotKeysDir { disk, dir } = self.place;
        if let Some(file) = &self.file {
            file.sync_data()?;
        }
        disk.rename(&self.place.path_unfinished(), &self.place.path())?;
        disk.sync_dir(dir)?;
        Ok(self.written)
    }

    fn write_gathered(&mut self) -> io::Result<()> {
        let bytes = self.bytes();
        let file = match self.file.take() {
            Some(file) => {
                file.reserve(bytes)?;
                file
            }
            None => self.place.disk.create(&self.place.path_unfinished(), bytes)?,
        };
        file.write_all_at(&[IoSlice::new(&self.gathered)], self.written)?;
        self.gathered.clear();
        (self.written, self.file) = (bytes, Some(file));
        Ok(())
    }
}

impl Drop for ListWriter<'_> {
    /// One that was not finished takes no room until the next.
    fn drop(&mut self) {
        // The next one tries again, and says so if it cannot.
        let _ = self.place.remove_unfinished();
    }
}

impl ListReader {
    /// `None` if there is no list.
    pub(super) fn open(place: &HotKeysDir) -> Result<Option<ListReader>, ListError> {
        let file = match place.disk.open(&place.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut header = [0; HEADER_BYTES];
        fill(&*file, &mut header, 0)?;
        format::check_header(&header)?;
        Ok(Some(ListReader { file, at: HEADER_BYTES as u64 }))
    }

    /// The next section; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Section>, ListError> {
        let mut head = [0; SECTION_HEAD_BYTES];
        fill(&*self.file, &mut head, self.at)?;
        let head = SectionHead::decode(&head)?;
        let mut keys = vec![0; head.bytes];
        let keys_at = self.at + SECTION_HEAD_BYTES as u64;
        fill(&*self.file, &mut keys, keys_at)?;
        self.at = keys_at + keys.len() as u64;
        head.with_keys(&keys)
    }
}

fn fill(file: &dyn DiskFile, buffer: &mut [u8], at: u64) -> Result<(), ListError> {
    let read = file.read_at(buffer, at)?;
    if read == buffer.len() { Ok(()) } else { Err(ListError::Damaged) }
}

#[cfg(test)]
mod tests {
    use super::super::format::{Origin, SECTION_KEYS_MAX};
    use super::*;
    use basalt_change::place::PartitionId;
    use basalt_env::{Fault, FaultKind, Operation, SimDisk};

    fn place(disk: &SimDisk) -> HotKeysDir {
        HotKeysDir::new(Arc::new(disk.clone()), Path::new("hot"))
    }

    /// Writes a list with this number of sections, in which each key tells which list it is of.
    fn write(place: &HotKeysDir, number: u64, sections: u64) -> io::Result<u64> {
        let partition = PartitionId::new(7).expect("there is one");
        let mut list = ListWriter::begin(place)?;
        for generation in 0..sections {
            let mut section = SectionBuilder::new(Origin { partition, db: 3, generation });
            section.push(&number.to_le_bytes());
            while sections > 1 && !section.is_full() {
                section.push(&section.bytes().to_le_bytes().repeat(64));
            }
            list.add(&section)?;
        }
        let bytes = list.bytes();
        Ok(list.finish()? - bytes)
    }

    /// The number of the list that is there, which has to be whole, and how many sections it has.
    fn read(place: &HotKeysDir) -> Option<(u64, u64)> {
        let mut list = ListReader::open(place).expect("what is there is whole")?;
        let (mut number, mut sections) = (None, 0);
        while let Some(section) = list.next().expect("and to its end") {
            let of_section = u64::from_le_bytes(*section.keys[0].first_chunk().expect("a number"));
            assert_eq!((section.origin.generation, section.origin.db), (sections, 3));
            assert_eq!(*number.get_or_insert(of_section), of_section);
            sections += 1;
        }
        number.map(|number| (number, sections))
    }

    #[test]
    fn lists_of_many_writes_are_read_back_and_leave_nothing_else() {
        let disk = SimDisk::new();
        let place = place(&disk);
        assert_eq!(read(&place), None);
        for number in 1..4 {
            let sections = number * WRITE_BYTES as u64 / (SECTION_KEYS_MAX as u64 * 64);
            assert_eq!(write(&place, number, sections).ok(), Some(SECTION_HEAD_BYTES as u64));
            disk.crash(number);
            assert_eq!(read(&place), Some((number, sections)));
            assert_eq!(disk.list(&place.dir).ok(), Some(vec![NAME.to_owned()]));
        }
    }

    #[test]
    fn a_power_cut_at_any_step_leaves_the_old_list_the_new_one_or_none() {
        let steps = [
            Operation::Create,
            Operation::Write,
            Operation::Sync,
            Operation::Rename,
            Operation::SyncDir,
        ];
        let disk = SimDisk::new();
        let place = place(&disk);
        let (mut old, mut olds, mut news, mut nones) = (None, 0, 0, 0);
        for number in 0..1_200 {
            let step = steps.get(number as usize % (steps.len() + 1));
            if let Some(&operation) = step {
                let kind = FaultKind::Broken;
                disk.inject(Fault { operation, kind, skip: 0, times: 1 });
            }
            assert_eq!(write(&place, number, 1).is_ok(), step.is_none());
            disk.heal();
            disk.crash(number);
            let now = read(&place).map(|(number, _)| number);
            let is_new = now == Some(number);
            assert!(is_new || now == old, "list {number}");
            assert!(is_new || step.is_some(), "it was on disk when the writing had ended");
            match now {
                None => nones += 1,
                Some(_) if is_new => news += 1,
                Some(_) => olds += 1,
            }
            old = now;
        }
        assert!(olds > 500 && news > 250 && nones > 0, "{olds} {news} {nones}");
    }

    #[test]
    fn a_full_disk_leaves_the_old_list_and_nothing_else() {
        let disk = SimDisk::new();
        let place = place(&disk);
        write(&place, 1, 1).expect("there is room");
        disk.limit_capacity(Some(disk.used_bytes() + WRITE_BYTES as u64 * 3 / 2));
        let error = write(&place, 2, 60).expect_err("there is not so much");
        assert!(basalt_env::is_disk_full(&error), "{error}");
        assert_eq!(read(&place), Some((1, 1)));
        assert_eq!(disk.list(&place.dir).ok(), Some(vec![NAME.to_owned()]));
    }
}
