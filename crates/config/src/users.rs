//! The file of users (`aclfile`). What a rule means is not known here.

use crate::config::Config;
use crate::load::FILE_BYTES_MAX;
use crate::rewrite::replace;
use std::io::{self, Read};
use std::path::Path;

impl Config {
    /// The text of a file of users.
    ///
    /// # Errors
    /// It cannot be read, or is larger than any such file.
    pub fn read_acl_file(path: &Path) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        std::fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
        if text.len() as u64 > FILE_BYTES_MAX {
            let reason = format!("it is larger than {FILE_BYTES_MAX} bytes");
            return Err(io::Error::other(reason));
        }
        Ok(text)
    }

    /// Replaces a file of users. It holds the old text or the new one, whatever happens.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write_acl_file(path: &Path, text: &[u8]) -> io::Result<()> {
        // The file that a symbolic link leads to is replaced, not the link.
        let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path))?;
        replace(&path, text)
    }
}
