//! bytes ▸ \[console\] ▸ http ▸ net
//!
//! This crate is the web console as a browser gets it: a constant table of files with their paths,
//! types and digests. It owns the files under `files/`, which are the program's own: no build step
//! makes them, nothing of another project is in them, and they fetch nothing from elsewhere. It
//! must never know how they are served, or what the server is. Its one invariant: a file changes
//! only with the program, so its digest tells whether a browser has it. Read `files/index.html`
//! next, then `files/app.js`.
//!
//! They are served as they are. They are small, and a browser that has them asks only whether they
//! have changed: compressing them would bring a library that nothing else needs.

#![forbid(unsafe_code)]

/// A file of the console.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File {
    /// Where a browser asks for it.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
    /// A digest of that.
    pub digest: u64,
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

/// A file under `/console/`, from a folder of this crate.
macro_rules! file {
    ($name:literal, $media_type:expr) => {
        at!(concat!("/console/", $name), $name, $media_type)
    };
}

/// A file under another path.
macro_rules! at {
    ($path:expr, $name:literal, $media_type:expr) => {{
        const BYTES: &[u8] = include_bytes!(concat!("../files/", $name));
        const DIGEST: u64 = digest(BYTES);
        File { path: $path, media_type: $media_type, bytes: BYTES, digest: DIGEST }
    }};
}

/// All of them.
pub const FILES: &[File] = &[
    at!("/", "index.html", HTML),
    at!("/console/", "index.html", HTML),
    file!("app.js", SCRIPT),
    file!("bytes.js", SCRIPT),
    file!("client.js", SCRIPT),
    file!("dialogs.js", SCRIPT),
    file!("dom.js", SCRIPT),
    file!("edit.js", SCRIPT),
    file!("feed.js", SCRIPT),
    file!("format.js", SCRIPT),
    file!("icon.svg", IMAGE),
    file!("info.js", SCRIPT),
    file!("json.js", SCRIPT),
    file!("key.js", SCRIPT),
    file!("pages.js", SCRIPT),
    file!("parts.js", SCRIPT),
    file!("plot.js", SCRIPT),
    file!("reference.js", SCRIPT),
    file!("renew.js", SCRIPT),
    file!("style.css", STYLE),
    file!("tree.js", SCRIPT),
    file!("warnings.js", SCRIPT),
    file!("words.js", SCRIPT),
    file!("pages/clients.js", SCRIPT),
    file!("pages/configuration.js", SCRIPT),
    file!("pages/keys.js", SCRIPT),
    file!("pages/live.js", SCRIPT),
    file!("pages/overview.js", SCRIPT),
    file!("pages/queues.js", SCRIPT),
    file!("pages/slowlog.js", SCRIPT),
    file!("pages/storage.js", SCRIPT),
    file!("pages/terminal.js", SCRIPT),
    file!("viewers/collection.js", SCRIPT),
    file!("viewers/queue.js", SCRIPT),
    file!("viewers/stream.js", SCRIPT),
    file!("viewers/string.js", SCRIPT),
];

/// Finds the file that is asked for by a path.
pub fn find(path: &[u8]) -> Option<&'static File> {
    FILES.iter().find(|file| file.path.as_bytes() == path)
}

/// FNV-1a. It tells versions of our own files apart; nobody else can choose them.
const fn digest(bytes: &[u8]) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        digest = (digest ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// All files together, uncompressed.
    const BYTES_MAX: usize = 150 * 1024;
    /// Lines of a script.
    const LINES_MAX: usize = 300;

    fn text(file: &File) -> &'static str {
        str::from_utf8(file.bytes).expect("all of them are text")
    }

    fn names_in(folder: &Path) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                let inner = names_in(&entry.path());
                names.extend(inner.into_iter().map(|inner| format!("{name}/{inner}")));
            } else {
                names.insert(name);
            }
        }
        names
    }

    #[test]
    fn every_file_of_the_folder_is_served_under_one_path() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
        let mut served = BTreeSet::new();
        for file in FILES {
            let name = file.path.strip_prefix("/console/").unwrap_or(file.path);
            assert!(served.insert(name), "{} twice", file.path);
            assert_eq!(find(file.path.as_bytes()), Some(file));
        }
        // The page is there under two paths.
        assert!(served.remove("/") && served.remove(""));
        let mut names = names_in(&folder);
        assert!(names.remove("index.html"));
        assert_eq!(names, served.into_iter().map(str::to_owned).collect());
        assert_eq!(find(b"/console"), None);
        assert_eq!(find(b"/console/../src/lib.rs"), None);
    }

    #[test]
    fn files_are_small_and_digests_tell_them_apart() {
        let bytes: usize = FILES.iter().skip(1).map(|file| file.bytes.len()).sum();
        assert!(bytes <= BYTES_MAX, "{bytes} bytes");
        for file in FILES.iter().filter(|file| file.media_type == SCRIPT) {
            let lines = text(file).lines().count();
            assert!(lines <= LINES_MAX, "{} has {lines} lines", file.path);
        }
        let digests: BTreeSet<u64> = FILES.iter().skip(1).map(|file| file.digest).collect();
        assert_eq!(digests.len(), FILES.len() - 1);
        assert_ne!(digest(b"a"), digest(b"b"));
    }

    /// Text of users must never become part of a page, and nothing come from elsewhere.
    #[test]
    fn scripts_make_no_markup_and_name_no_other_host() {
        for file in FILES {
            let markup =
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("];
            for word in markup {
                assert!(!text(file).contains(word), "{} has {word}", file.path);
            }
            for at in text(file).match_indices("://").map(|(at, _)| at) {
                let from = text(file)[..at].rfind(['"', '\'', '`', ' ', '(']).unwrap_or(0);
                let is_name_of_svg =
                    text(file)[from + 1..].starts_with("http://www.w3.org/2000/svg");
                assert!(is_name_of_svg, "{} names another host", file.path);
            }
        }
    }

    #[test]
    fn every_import_is_served() {
        for file in FILES.iter().filter(|file| file.media_type == SCRIPT) {
            let folder = &file.path[..=file.path.rfind('/').unwrap()];
            for line in text(file).lines().filter(|line| line.starts_with("import ")) {
                let name = line.split('"').nth(1).unwrap_or_else(|| panic!("{line}"));
                let path = match name.strip_prefix("../") {
                    Some(name) => format!("/console/{name}"),
                    None => format!("{folder}{}", name.trim_start_matches("./")),
                };
                assert!(find(path.as_bytes()).is_some(), "{}: {line}", file.path);
            }
        }
    }
}
