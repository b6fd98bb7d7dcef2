//! HOT PATH. Counts replies in a byte stream without building them.
//!
//! A load generator needs four facts about a reply: where it ends, whether it is an error, whether
//! it is null, and whether it is well formed. So this is a scanner and not a decoder: the only
//! state kept between two reads is how many payload bytes are still to be skipped and how many
//! values the reply in hand still owes. A nested array of any depth costs one addition, and nothing
//! recurses.
//!
//! A payload that straddles two reads is consumed as it comes; only an unfinished *line* (a length,
//! a status, an error) is left to the caller: it puts the next bytes behind it. That remainder is
//! bounded by [`LINE_BYTES_MAX`].

use memchr::memchr;
use thiserror::Error;

/// The longest status, error or length line that is accepted.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;

/// What a server sent that is not RESP.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum ScanError {
    #[error("the server sent a reply that starts with byte 0x{0:02x}, which is no RESP type")]
    UnknownType(u8),
    #[error("the server sent a malformed length in a reply")]
    BadLength,
    #[error("the server sent a reply whose payload does not end in CRLF")]
    BadEnding,
    #[error("the server sent a reply line longer than 64 KiB")]
    LineTooLong,
}

/// What has been seen so far.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Complete top-level replies, pushes not included.
    pub(crate) replies: u64,
    /// Error values, nested ones included.
    pub(crate) errors: u64,
    /// Null values, nested ones included (a miss, in a read).
    pub(crate) nulls: u64,
    /// Text of the first error.
    pub(crate) first_error: Option<String>,
}

impl Tally {
    #[cold]
    pub(crate) fn error(&mut self, text: &[u8]) {
        self.errors += 1;
        if self.first_error.is_none() {
            self.first_error = Some(String::from_utf8_lossy(text).into_owned());
        }
    }
}

/// Resumable position in a stream of replies.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    /// Bytes of a payload, CRLF included, that have not arrived yet.
    skip: usize,
    /// Values that the reply in hand still owes, the current one included; 0 between replies.
    owed: u64,
    /// The value in hand is a RESP3 push, which answers no request.
    in_push: bool,
}

/// What one step over the buffer found.
enum Step {
    /// A value of this many bytes ended.
    Value(usize),
    /// A header of this many bytes opened a container; `owed` is already up to date.
    Header(usize),
    /// The bytes at hand do not hold a whole line.
    Incomplete,
}

impl Scanner {
    /// Consumes as much of `buf` as possible and returns how many bytes that was. The rest is an
    /// unfinished line, to be presented again with more bytes behind it.
    pub(crate) fn scan(&mut self, buf: &[u8], tally: &mut Tally) -> Result<usize, ScanError> {
        let mut at = 0;
        if self.skip > 0 {
            at = self.resume_payload(buf, tally)?;
            if self.skip > 0 {
                return Ok(at);
            }
        }
        while let Some(&kind) = buf.get(at) {
            let rest = &buf[at..];
            if self.owed == 0 {
                if rest.starts_with(b"+OK\r\n") {
                    tally.replies += 1;
                    at += 5;
                    continue;
                }
                self.owed = 1;
            }
            match self.step(kind, rest, tally)? {
                Step::Value(len) if len > rest.len() => {
                    self.skip = len - rest.len();
                    return Ok(buf.len());
                }
                Step::Value(len) => {
                    at += len;
                    self.value_ended(tally);
                }
                Step::Header(len) => at += len,
                Step::Incomplete if rest.len() > LINE_BYTES_MAX => {
                    return Err(ScanError::LineTooLong);
                }
                Step::Incomplete => break,
            }
        }
        Ok(at)
    }

    fn resume_payload(&mut self, buf: &[u8], tally: &mut Tally) -> Result<usize, ScanError> {
        let len = self.skip.min(buf.len());
        self.skip -= len;
        if self.skip == 0 {
            if len >= 2 && &buf[len - 2..len] != b"\r\n" {
                return Err(ScanError::BadEnding);
            }
            self.value_ended(tally);
        }
        Ok(len)
    }

    #[inline]
    fn step(&mut self, kind: u8, rest: &[u8], tally: &mut Tally) -> Result<Step, ScanError> {
        match kind {
            b'$' | b'=' => bulk(rest, tally),
            b':' | b'+' | b',' | b'(' | b'#' => line(rest),
            b'_' => {
                let step = line(rest)?;
                tally.nulls += u64::from(matches!(step, Step::Value(_)));
                Ok(step)
            }
            b'-' => {
                let step = line(rest)?;
                if let Step::Value(len) = step {
                    tally.error(&rest[1..len - 2]);
                }
                Ok(step)
            }
            b'!' => {
                let step = bulk(rest, tally)?;
                if let Step::Value(len) = step {
                    tally.error(&rest[1..len.min(rest.len())]);
                }
                Ok(step)
            }
            b'*' | b'~' | b'%' | b'>' | b'|' => self.container(kind, rest, tally),
            other => Err(ScanError::UnknownType(other)),
        }
    }

    fn container(&mut self, kind: u8, rest: &[u8], tally: &mut Tally) -> Result<Step, ScanError> {
        let Some((count, len)) = length(rest)? else { return Ok(Step::Incomplete) };
        let Some(count) = count else {
            tally.nulls += 1;
            return Ok(Step::Value(len));
        };
        let count = count as u64;
        // An attribute comes in front of a value and is none itself, so it settles no debt.
        let (values, settled) = match kind {
            b'%' => (2 * count, 1),
            b'|' => (2 * count, 0),
            _ => (count, 1),
        };
        if kind == b'>' && self.owed == 1 {
            self.in_push = true;
        }
        if values == 0 && settled == 1 {
            return Ok(Step::Value(len));
        }
        self.owed = self.owed.checked_add(values).ok_or(ScanError::BadLength)? - settled;
        Ok(Step::Header(len))
    }

    #[inline]
    fn value_ended(&mut self, tally: &mut Tally) {
        self.owed -= 1;
        if self.owed == 0 {
            tally.replies += u64::from(!self.in_push);
            self.in_push = false;
        }
    }
}

/// A value that is one line.
#[inline]
fn line(rest: &[u8]) -> Result<Step, ScanError> {
    match memchr(b'\n', rest) {
        Some(end) if rest[..end].ends_with(b"\r") => Ok(Step::Value(end + 1)),
        Some(_) => Err(ScanError::BadEnding),
        None => Ok(Step::Incomplete),
    }
}

/// A value that is a length and a payload. The returned size may exceed what is at hand.
#[inline]
fn bulk(rest: &[u8], tally: &mut Tally) -> Result<Step, ScanError> {
    let Some((count, header)) = length(rest)? else { return Ok(Step::Incomplete) };
    let Some(count) = count else {
        tally.nulls += 1;
        return Ok(Step::Value(header));
    };
    let total = header + count + 2;
    if total <= rest.len() && &rest[total - 2..total] != b"\r\n" {
        return Err(ScanError::BadEnding);
    }
    Ok(Step::Value(total))
}

/// Parses `X123\r\n`: the number (`None` for -1, the old null) and the bytes of the line.
/// `Ok(None)` when the line is not complete.
#[inline]
fn length(rest: &[u8]) -> Result<Option<(Option<usize>, usize)>, ScanError> {
    let mut value = 0usize;
    let mut at = 1;
    while let Some(digit) = rest.get(at).map(|byte| byte.wrapping_sub(b'0')) {
        if digit > 9 {
            break;
        }
        value = value * 10 + usize::from(digit);
        at += 1;
        // A length of more than 12 digits is no reply; the limit also keeps the sum from wrapping.
        if at > 13 {
            return Err(ScanError::BadLength);
        }
    }
    match &rest[at..] {
        [b'\r', b'\n', ..] if at > 1 => Ok(Some((Some(value), at + 2))),
        [] | [b'\r'] => Ok(None),
        [b'-', tail @ ..] if at == 1 => match tail {
            [b'1', b'\r', b'\n', ..] => Ok(Some((None, 5))),
            [] | [b'1'] | [b'1', b'\r'] => Ok(None),
            _ => Err(ScanError::BadLength),
        },
        _ => Err(ScanError::BadLength),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EVERY_TYPE: &[u8] = b"+OK\r\n:12\r\n$3\r\nabc\r\n$-1\r\n_\r\n-ERR no\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n\
        %1\r\n+k\r\n#t\r\n>2\r\n+message\r\n+x\r\n|1\r\n+ttl\r\n:3\r\n,3.14\r\n*0\r\n*-1\r\n(123\r\n=7\r\ntxt:abc\r\n~1\r\n$0\r\n\r\n!3\r\nERR\r\n";

    fn scan_in_pieces(bytes: &[u8], cuts: &[usize]) -> Tally {
        let mut scanner = Scanner::default();
        let mut tally = Tally::default();
        let mut carry = Vec::new();
        let mut from = 0;
        for &cut in cuts.iter().chain([&bytes.len()]) {
            let cut = cut.clamp(from, bytes.len());
            carry.extend_from_slice(&bytes[from..cut]);
            from = cut;
            let used = scanner.scan(&carry, &mut tally).expect("the stream is well formed");
            carry.drain(..used);
        }
        assert!(carry.is_empty());
        tally
    }

    #[test]
    fn every_type_counts_once() {
        let tally = scan_in_pieces(EVERY_TYPE, &[]);
        assert_eq!(tally.replies, 15);
        assert_eq!((tally.errors, tally.nulls), (2, 3));
        assert_eq!(tally.first_error.as_deref(), Some("ERR no"));
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(mut cuts in prop::collection::vec(0..EVERY_TYPE.len(), 0..20)) {
            cuts.sort_unstable();
            let (whole, pieces) = (scan_in_pieces(EVERY_TYPE, &[]), scan_in_pieces(EVERY_TYPE, &cuts));
            prop_assert_eq!((whole.replies, whole.errors, whole.nulls),
                            (pieces.replies, pieces.errors, pieces.nulls));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Scanner::default().scan(&bytes, &mut Tally::default());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let scan = |bytes: &[u8]| Scanner::default().scan(bytes, &mut Tally::default());
        assert_eq!(scan(b"hello\r\n"), Err(ScanError::UnknownType(b'h')));
        assert_eq!(scan(b"$x\r\n"), Err(ScanError::BadLength));
        assert_eq!(scan(b"$99999999999999999999\r\n"), Err(ScanError::BadLength));
        assert_eq!(scan(b"$3\r\nabcde"), Err(ScanError::BadEnding));
        assert_eq!(scan(b"-\n"), Err(ScanError::BadEnding));
        assert_eq!(scan(b"+OK\n"), Err(ScanError::BadEnding));
    }
}
