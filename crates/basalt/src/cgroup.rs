//! How much memory the process' control groups let it have: version 2, version 1, or both on one
//! machine.
//!
//! A group's limit holds for all groups below it, so the smallest on the way up counts. Within a
//! container the way that `/proc/self/cgroup` names may begin above what is mounted: what the mount
//! has as its root is left out of it.

use std::fs;
use std::path::{Path, PathBuf};

/// Most groups on the way up that are looked at; the kernel allows fewer by default.
const DEPTH_MAX: usize = 256;

/// A limit, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) bytes: u64,
    pub(crate) file: PathBuf,
}

/// The files with the limits of the process' groups. They are found once, since a machine may have
/// thousands of mounts, and read again as often as somebody asks.
#[derive(Debug)]
pub(crate) struct LimitFiles(Vec<PathBuf>);

impl LimitFiles {
    /// Finds them on a system whose `/proc` and mounts are below `root`.
    pub(crate) fn find(root: &Path) -> LimitFiles {
        let read = |path| fs::read_to_string(root.join(path)).unwrap_or_default();
        let (groups, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
        let hierarchies = groups.lines().filter_map(Hierarchy::of_line);
        let files = hierarchies.flat_map(|hierarchy| hierarchy.limit_files(root, &mounts));
        LimitFiles(files.collect())
    }

    /// The smallest limit that holds now; `None` if no file has one.
    pub(crate) fn smallest(&self) -> Option<Limit> {
        let limits = self.0.iter().filter_map(|file| {
            // The word `max` is no limit.
            let bytes = fs::read_to_string(file).ok()?.trim().parse().ok()?;
            Some(Limit { bytes, file: file.clone() })
        });
        limits.min_by_key(|limit| limit.bytes)
    }
}

/// A hierarchy of groups that accounts for memory, and the place of the process in it.
struct Hierarchy<'a> {
    version: Version,
    group: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A mount of a hierarchy.
struct Mount<'a> {
    /// The group that the mount point shows.
    group: &'a str,
    point: &'a str,
}

impl<'a> Hierarchy<'a> {
    /// Reads a line of `/proc/self/cgroup`: number, controllers, group.
    fn of_line(line: &'a str) -> Option<Hierarchy<'a>> {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let version = match controllers {
            "" => Version::Two,
            _ if controllers.split(',').any(|name| name == "memory") => Version::One,
            _ => return None,
        };
        Some(Hierarchy { version, group })
    }

    /// The file of the process' group, and of each group above it.
    fn limit_files(&self, root: &Path, mounts: &str) -> Vec<PathBuf> {
        let Some(mount) = mounts.lines().find_map(|line| self.mount(line)) else {
            return Vec::new();
        };
        let name = match self.version {
            Version::Two => "memory.max",
            Version::One => "memory.limit_in_bytes",
        };
        let mounted = root.join(mount.point.trim_start_matches('/'));
        let below = self.group.strip_prefix(mount.group.trim_end_matches('/')).unwrap_or_default();
        let bottom = mounted.join(below.trim_start_matches('/'));
        let way_up = bottom.ancestors().take(DEPTH_MAX);
        let way_up = way_up.take_while(|group| group.starts_with(&mounted));
        way_up.map(|group| group.join(name)).collect()
    }

    /// Reads a line of `mountinfo`: the fourth and the fifth field are what is mounted and where,
    /// and behind a dash come the type, the source and options with the controllers.
    fn mount<'m>(&self, line: &'m str) -> Option<Mount<'m>> {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let (file_system, options) = (kind.next()?, kind.nth(1).unwrap_or_default());
        let is_it = match self.version {
            Version::Two => file_system == "cgroup2",
            Version::One => {
                file_system == "cgroup" && options.split(',').any(|name| name == "memory")
            }
        };
        let mut place = place.split(' ').skip(3);
        let mount = Mount { group: place.next()?, point: place.next()? };
        is_it.then_some(mount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_LIMIT_OF_VERSION_1: &str = "9223372036854771712";

    fn limit_of(files: &[(&str, &str)]) -> Option<(u64, String)> {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let limit = LimitFiles::find(root.path()).smallest()?;
        let file = limit.file.strip_prefix(root.path()).expect("below the root");
        Some((limit.bytes, file.display().to_string()))
    }

    #[test]
    fn the_smallest_limit_on_the_way_up_counts() {
        let files = [
            ("proc/self/cgroup", "0::/a/b/c\n"),
            ("proc/self/mountinfo", "30 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/b/c/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.max", "1000\n"),
            ("sys/fs/cgroup/a/memory.max", "2000\n"),
            // It is no part of the mount.
            ("sys/fs/memory.max", "1\n"),
        ];
        assert_eq!(limit_of(&files), Some((1000, "sys/fs/cgroup/a/b/memory.max".to_owned())));
    }

    #[test]
    fn what_a_container_sees_begins_at_its_own_group() {
        let files = [
            ("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/docker/id/inner\n"),
            (
                "proc/self/mountinfo",
                "34 31 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n\
                 35 31 0:32 /docker/id /cg/memory rw shared:9 - cgroup cgroup rw,hugetlb,memory\n",
            ),
            ("cg/memory/memory.limit_in_bytes", "3000\n"),
            ("cg/memory/inner/memory.limit_in_bytes", NO_LIMIT_OF_VERSION_1),
        ];
        let expected = (3000, "cg/memory/memory.limit_in_bytes".to_owned());
        assert_eq!(limit_of(&files), Some(expected));
    }

    #[test]
    fn both_versions_are_looked_at() {
        let mounts = "35 31 0:32 / /one rw - cgroup cgroup rw,memory\n\
                      38 31 0:41 / /two rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("proc/self/cgroup", "4:memory:/a\n0::/b\n"),
            ("proc/self/mountinfo", mounts),
            ("one/a/memory.limit_in_bytes", "700\n"),
            ("two/b/memory.max", "500\n"),
        ];
        assert_eq!(limit_of(&files), Some((500, "two/b/memory.max".to_owned())));
    }

    #[test]
    fn a_limit_that_changes_is_seen() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("proc/self/cgroup", "0::/a\n");
        write("proc/self/mountinfo", "30 23 0:28 / /cg rw - cgroup2 cgroup2 rw\n");
        let files = LimitFiles::find(root.path());
        assert_eq!(files.smallest(), None);
        for (text, expected) in [("9000", Some(9000)), ("80", Some(80)), ("max", None)] {
            write("cg/a/memory.max", text);
            assert_eq!(files.smallest().map(|limit| limit.bytes), expected);
        }
    }

    #[test]
    fn without_files_or_with_others_there_is_no_limit() {
        assert_eq!(limit_of(&[]), None);
        let odd = [
            ("proc/self/cgroup", "\n:\nx:memory\n0::/../up\n"),
            (
                "proc/self/mountinfo",
                "\n - \n1 2 3 - cgroup2\n38 31 0:41 / /two rw - cgroup2 c rw\n",
            ),
            ("two/memory.max", "-1\n"),
        ];
        assert_eq!(limit_of(&odd), None);
    }
}
