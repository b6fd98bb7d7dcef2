//! HOT PATH. Counts responses of HTTP in a byte stream, as `scan.rs` counts replies.
//!
//! Of a head only its status and `Content-Length` are looked at; a body is skipped. An unfinished
//! line is left to the caller, which puts the next bytes behind it.

use crate::scan::{LINE_BYTES_MAX, ScanError, Tally};
use memchr::memchr;

const LENGTH: &[u8] = b"content-length:";

/// Resumable position in a stream of responses.
#[derive(Debug, Default)]
pub(crate) struct HttpScanner {
    /// Bytes of a body that have not arrived yet.
    skip: usize,
    /// Within a head: the length of the body, as far as is known.
    head: Option<usize>,
}

impl HttpScanner {
    /// Looks at what has arrived; returns how much of it is done with.
    pub(crate) fn scan(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<usize, ScanError> {
        let mut at = 0;
        loop {
            if self.skip > 0 {
                let skipped = self.skip.min(bytes.len() - at);
                at += skipped;
                self.skip -= skipped;
                if self.skip > 0 {
                    return Ok(at);
                }
                tally.replies += 1;
            }
            let Some(len) = memchr(b'\n', &bytes[at..]) else {
                let is_short = bytes.len() - at < LINE_BYTES_MAX;
                return if is_short { Ok(at) } else { Err(ScanError::LineTooLong) };
            };
            self.line(bytes[at..at + len].trim_ascii(), tally)?;
            at += len + 1;
        }
    }

    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Result<(), ScanError> {
        let Some(length) = self.head else {
            self.head = Some(0);
            return status(line, tally);
        };
        if line.is_empty() {
            (self.head, self.skip) = (None, length);
            tally.replies += u64::from(length == 0);
        } else if let Some((name, value)) = line.split_at_checked(LENGTH.len())
            && name.eq_ignore_ascii_case(LENGTH)
        {
            let digits = str::from_utf8(value.trim_ascii()).ok();
            let length = digits.and_then(|digits| digits.parse().ok());
            self.head = Some(length.ok_or(ScanError::BadLength)?);
        }
        Ok(())
    }
}

/// Counts a response by its first line.
fn status(line: &[u8], tally: &mut Tally) -> Result<(), ScanError> {
    match line.strip_prefix(b"HTTP/1.1 ") {
        Some(code) if code.starts_with(b"404") => tally.nulls += 1,
        Some([b'2', ..]) => {}
        Some(_) => tally.error(line),
        None => return Err(ScanError::UnknownType(line.first().copied().unwrap_or_default())),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_counted_however_they_are_cut() {
        let stream = b"HTTP/1.1 200 OK\r\nDate: x\r\ncontent-LENGTH:   5\r\n\r\na\nb\r\n\
                       HTTP/1.1 204 No Content\r\n\r\n\
                       HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}\
                       HTTP/1.1 503 Not Now\r\nContent-Length: 0\r\n\r\n";
        for step in 1..stream.len() {
            let (mut scanner, mut tally) = (HttpScanner::default(), Tally::default());
            let mut carry = Vec::new();
            for piece in stream.chunks(step) {
                carry.extend_from_slice(piece);
                let used = scanner.scan(&carry, &mut tally).unwrap();
                carry.drain(..used);
            }
            assert_eq!((tally.replies, tally.nulls, tally.errors), (4, 1, 1), "step {step}");
            assert_eq!(tally.first_error.as_deref(), Some("HTTP/1.1 503 Not Now"));
        }
        let scan = |bytes: &[u8]| HttpScanner::default().scan(bytes, &mut Tally::default());
        assert!(scan(b"+OK\r\n").is_err());
        assert!(scan(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n").is_err());
    }
}
