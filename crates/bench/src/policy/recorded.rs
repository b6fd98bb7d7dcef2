//! Traces from files: one key a line, in the order of the requests.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufRead};

use super::cache::Request;

/// A file's requests: its name, what was read of it, and whether that is all.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) requests: Vec<Request>,
    /// Different keys.
    pub(super) keys: usize,
    /// The file goes on behind the last request that is allowed.
    pub(super) is_cut: bool,
}

/// Longest key of a trace. What is longer is no list of keys.
const KEY_BYTES_MAX: u64 = 1 << 20;

/// Reads at most `requests_max` requests. Of a key its 64-bit hash is kept, not its bytes: among a
/// hundred million keys one pair in 3,700 traces is the same.
pub(super) fn read(
    mut file: impl BufRead,
    requests_max: usize,
    requests_per_second: u64,
) -> io::Result<Recorded> {
    let (mut requests, mut keys) = (Vec::new(), HashSet::new());
    let mut line = Vec::new();
    loop {
        line.clear();
        // One more than the longest key, so that a longer one shows.
        io::Read::take(&mut file, KEY_BYTES_MAX + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Recorded { requests, keys: keys.len(), is_cut: false });
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() as u64 > KEY_BYTES_MAX {
            let text = format!("line {} is longer than 1 MiB", requests.len() + 1);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if requests.len() == requests_max {
            return Ok(Recorded { requests, keys: keys.len(), is_cut: true });
        }
        // Its keys are constants: a trace is the same in each run.
        let mut hasher = DefaultHasher::new();
        hasher.write(&line);
        let key = hasher.finish();
        keys.insert(key);
        let second = (requests.len() as u64 / requests_per_second.max(1)) as u32;
        requests.push(Request { key, second });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_key() {
        let read = |bytes: &[u8], max| read(bytes, max, 2).expect("a trace");
        let all = read(b"a\nb\n\na\r\na", 10);
        assert_eq!((all.requests.len(), all.keys, all.is_cut), (5, 4, false));
        assert_eq!(all.requests[0].key, all.requests[4].key);
        let seconds: Vec<u32> = all.requests.iter().map(|request| request.second).collect();
        assert_eq!(seconds, [0, 0, 1, 1, 2]);
        let some = read(b"a\nb\nc\n", 2);
        assert_eq!((some.requests.len(), some.is_cut), (2, true));
        assert!(!read(b"a\nb\n", 2).is_cut);
        assert!(read(b"", 2).requests.is_empty());
    }

    #[test]
    fn what_is_no_list_of_keys_is_refused() {
        let long = vec![b'x'; (1 << 20) + 1];
        let error = read(&long[..], 10, 1).unwrap_err().to_string();
        assert_eq!(error, "line 1 is longer than 1 MiB");
        assert!(read(&long[1..], 10, 1).is_ok());
    }
}
