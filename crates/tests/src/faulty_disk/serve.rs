//! The image as the kernel asks for it.

use super::image::{Contents, Image, Node, ROOT};
use super::{Failure, Operation};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The kernel asks each time: after a power cut nothing that it remembers is true.
const TTL: Duration = Duration::ZERO;
const BLOCK_BYTES: u32 = 4096;
/// As large as `statfs` says that it is, in blocks.
const BLOCKS: u64 = 1 << 22;
/// `FALLOC_FL_KEEP_SIZE` of `fallocate(2)`.
const KEEP_SIZE: i32 = 1;

pub(super) struct Disk {
    image: Arc<Mutex<Image>>,
}

impl Disk {
    pub(super) fn new(image: Arc<Mutex<Image>>) -> Disk {
        Disk { image }
    }

    fn image(&self) -> MutexGuard<'_, Image> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, parent: INodeNo, name: &OsStr, node: Node) -> Option<FileAttr> {
        let mut image = self.image();
        let number = image.add(parent.into(), name, node);
        attributes(&image, number)
    }
}

fn attributes(image: &Image, number: u64) -> Option<FileAttr> {
    let (kind, size, perm) = match image.node(number)? {
        Node::File(contents) => (FileType::RegularFile, contents.bytes.len() as u64, 0o644),
        Node::Folder => (FileType::Directory, 0, 0o755),
    };
    Some(FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
        rdev: 0,
        blksize: BLOCK_BYTES,
        flags: 0,
    })
}

fn errno(failure: Failure) -> Errno {
    match failure {
        Failure::InputOutput | Failure::Short => Errno::EIO,
        Failure::NoSpace => Errno::ENOSPC,
    }
}

impl Filesystem for Disk {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let image = self.image();
        let found = image.find(parent.into(), name).and_then(|number| attributes(&image, number));
        match found {
            Some(found) => reply.entry(&TTL, &found, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match attributes(&self.image(), ino.into()) {
            Some(found) => reply.attr(&TTL, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut image = self.image();
        if let (Some(size), Some(contents)) = (size, image.contents(ino.into())) {
            contents.resize(size as usize);
        }
        match attributes(&image, ino.into()) {
            Some(found) => reply.attr(&TTL, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        match self.add(parent, name, Node::Folder) {
            Some(made) => reply.entry(&TTL, &made, Generation(0)),
            None => reply.error(Errno::EIO),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.add(parent, name, Node::File(Contents::default())) {
            Some(made) => {
                let (generation, handle) = (Generation(0), FileHandle(0));
                reply.created(&TTL, &made, generation, handle, FopenFlags::empty());
            }
            None => reply.error(Errno::EIO),
        }
    }

    fn link(
        &self,
        _: &Request,
        ino: INodeNo,
        new_parent: INodeNo,
        new_name: &OsStr,
        reply: ReplyEntry,
    ) {
        let mut image = self.image();
        image.link(new_parent.into(), new_name, ino.into());
        match attributes(&image, ino.into()) {
            Some(linked) => reply.entry(&TTL, &linked, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.image().remove(parent.into(), name);
        reply.ok();
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut image = self.image();
        let number = image.find(parent.into(), name).unwrap_or(ROOT);
        if image.names(number).is_some_and(|names| !names.is_empty()) {
            return reply.error(Errno::ENOTEMPTY);
        }
        image.remove(parent.into(), name);
        reply.ok();
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.image().rename((parent.into(), name), (new_parent.into(), new_name));
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut image = self.image();
        if let Some(failure) = image.failure(ino.into(), Operation::Read) {
            return reply.error(errno(failure));
        }
        match image.contents(ino.into()) {
            Some(Contents { bytes, .. }) => {
                let start = (offset as usize).min(bytes.len());
                let end = (start + size as usize).min(bytes.len());
                reply.data(&bytes[start..end]);
            }
            None => reply.error(Errno::EISDIR),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut image = self.image();
        let mut taken = data;
        match image.failure(ino.into(), Operation::Write) {
            Some(Failure::Short) => taken = &data[..data.len() / 2],
            Some(failure) => return reply.error(errno(failure)),
            None => {}
        }
        match image.contents(ino.into()) {
            Some(contents) => {
                contents.write(offset as usize, taken);
                reply.written(taken.len() as u32);
            }
            None => reply.error(Errno::EISDIR),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let mut image = self.image();
        match image.failure(ino.into(), Operation::Sync) {
            Some(failure) => reply.error(errno(failure)),
            None => {
                image.sync_contents(ino.into());
                reply.ok();
            }
        }
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let mut image = self.image();
        match image.failure(ino.into(), Operation::Sync) {
            Some(failure) => reply.error(errno(failure)),
            None => {
                image.sync_names();
                reply.ok();
            }
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mut image = self.image();
        match (mode, image.contents(ino.into())) {
            (KEEP_SIZE, Some(_)) => reply.ok(),
            (0, Some(contents)) => {
                let end = (offset + length) as usize;
                if contents.bytes.len() < end {
                    contents.resize(end);
                }
                reply.ok();
            }
            _ => reply.error(Errno::EOPNOTSUPP),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let image = self.image();
        let names = image.names(ino.into()).into_iter().flatten();
        for (index, (name, &number)) in names.enumerate().skip(offset as usize) {
            let kind = match image.node(number) {
                Some(Node::Folder) => FileType::Directory,
                _ => FileType::RegularFile,
            };
            if reply.add(INodeNo(number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let (bytes, names_max) = (BLOCK_BYTES, 255);
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, 1 << 20, 1 << 20, bytes, names_max, bytes);
    }
}
