//! HOT PATH. The request parser.
//!
//! A request is an array of bulk strings, or a line of words (`inline.rs`):
//!
//! ```text
//! *3\r\n  $3\r\n SET \r\n  $1\r\n k \r\n  $5\r\n value \r\n          SET k value\r\n
//! ^count  ^header ^payload
//! ```
//!
//! There are two ways through this file, and a short cut into the fast one for a request that
//! begins as the one before (`front.rs`). The fast one takes a whole request whose numbers have at
//! most four digits and whose bytes are all there; it keeps no state. Everything else (longer
//! numbers, errors, inline requests, and above all a request of which bytes are missing) goes the
//! careful way, which keeps its place in the parser: a request that comes in a million pieces costs
//! as much as one that comes at once. The two ways meet in `take_args` (`take.rs`).
//!
//! As Redis does, the parser trusts the bytes that it does not need: the `\n` of a line end, and
//! the two bytes after a payload, are skipped unseen.

use crate::arg::Arg;
use crate::error::ProtocolError;
use crate::front::{Front, Repeats};
use crate::inline;
use crate::limits::{RequestLimits, UNAUTHENTICATED_ARGS_MAX, UNAUTHENTICATED_BULK_BYTES_MAX};
use crate::line::{Search, find_end, parse_integer};
use crate::take::{Cursor, short_header, take_args};

/// A parser lets go of its list of arguments of a cut request beyond this many.
const PENDING_ARGS_KEPT: usize = 1024;

/// What [`Parser::parse`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Parsed {
    /// A request of at least one argument.
    Request {
        /// Length of the request: the next one is at `start + consumed`.
        consumed: usize,
    },
    /// A request of no argument (`\r\n`, `*0\r\n`, `*-1\r\n`), which gets no reply.
    Empty {
        /// Length of the request: the next one is at `start + consumed`.
        consumed: usize,
    },
    /// The request is not there in full.
    Incomplete {
        /// How many bytes from `start` on must be there before the next call can get any further.
        /// It may be as much as `bulk_bytes_max` and some, on the word of the client: reserve
        /// address space, not memory.
        wanted: usize,
    },
}

/// Takes requests off the front of a connection's query buffer. One per connection.
///
/// After [`Parsed::Incomplete`] the parser remembers how far it came; the next call must show it
/// the same request, with more bytes behind. The buffer may have moved in between, so `start` may
/// differ.
#[derive(Debug, Default)]
pub struct Parser {
    /// Bytes of the request that are done with.
    position: usize,
    /// Bytes after `position` that are known not to end the line there.
    scanned: usize,
    /// Arguments still to come; 0 while the count has not been read.
    args_left: usize,
    /// Length of the argument whose header has been read and whose payload starts at `position`.
    bulk_len: Option<usize>,
    /// Arguments that have come, relative to the start of the request.
    pending: Vec<Arg>,
    /// Whether anything above is set.
    resuming: bool,
}

impl Parser {
    /// A parser at the start of a request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a request has begun and is not wholly there: its end must come before anything else
    /// can be understood.
    pub fn is_resuming(&self) -> bool {
        self.resuming
    }

    /// Parses the request at `buf[start..]` and appends its arguments to `args`, as ranges of
    /// `buf`: those of a batch can share one list, which the caller clears.
    ///
    /// Appends nothing unless it returns [`Parsed::Request`]. `buf` is changed only where an inline
    /// request is unquoted in place. After an error the connection is to be closed.
    // Inlined into the caller's loop over a batch: without, 2 of 15 ns go to handing over the
    // result.
    #[inline(always)]
    pub fn parse(
        &mut self,
        buf: &mut [u8],
        start: usize,
        limits: &RequestLimits,
        args: &mut Vec<Arg>,
    ) -> Result<Parsed, ProtocolError> {
        if !self.resuming
            && limits.allow_short()
            && let Some(rest) = buf.get(start..)
            && let Some(count) = short_header::<b'*'>(rest)
            && count.value.wrapping_sub(1) < limits.args_max
        {
            let args_before = args.len();
            let cursor = Cursor { position: start + count.bytes, args_left: count.value };
            match take_args(buf, cursor, 0, args) {
                Cursor { position, args_left: 0 } => {
                    return Ok(Parsed::Request { consumed: position - start });
                }
                stopped => self.suspend(stopped, start, args, args_before),
            }
        }
        self.parse_carefully(buf, start, limits, args)
    }

    /// Takes off requests that begin with this front, if it is within the limits. `None` if there
    /// may be none, or one has begun that is not wholly there.
    #[inline]
    pub fn repeats(&self, front: &Front, limits: &RequestLimits) -> Option<Repeats> {
        (!self.resuming && front.is_within(limits)).then(|| Repeats::new(front))
    }

    /// Takes over from the fast path where it stopped.
    #[cold]
    fn suspend(&mut self, stopped: Cursor, start: usize, args: &mut Vec<Arg>, args_before: usize) {
        let relative = |arg: Arg| Arg { start: arg.start - start, len: arg.len };
        self.pending.extend(args.drain(args_before..).map(relative));
        self.position = stopped.position - start;
        self.args_left = stopped.args_left;
        self.resuming = true;
    }

    #[cold]
    #[inline(never)]
    fn parse_carefully(
        &mut self,
        buf: &mut [u8],
        start: usize,
        limits: &RequestLimits,
        args: &mut Vec<Arg>,
    ) -> Result<Parsed, ProtocolError> {
        if self.args_left == 0 {
            match buf.get(start) {
                None => return Ok(Parsed::Incomplete { wanted: 1 }),
                Some(b'*') => {}
                Some(_) => return self.parse_inline(buf, start, limits, args),
            }
            self.resuming = true;
            if let Some(parsed) = self.read_count(&buf[start..], limits)? {
                return Ok(parsed);
            }
        }
        while self.args_left > 0 {
            if let Some(wanted) = self.read_arg(&buf[start..], limits)? {
                return Ok(Parsed::Incomplete { wanted });
            }
            if limits.allow_short() {
                let cursor = Cursor { position: start + self.position, args_left: self.args_left };
                let stopped = take_args(buf, cursor, start, &mut self.pending);
                self.position = stopped.position - start;
                self.args_left = stopped.args_left;
            }
        }
        args.extend(
            self.pending.drain(..).map(|arg| Arg { start: arg.start + start, len: arg.len }),
        );
        Ok(Parsed::Request { consumed: self.finish() })
    }

    /// Reads the line `*count`. Returns what to tell the caller unless arguments follow.
    fn read_count(
        &mut self,
        request: &[u8],
        limits: &RequestLimits,
    ) -> Result<Option<Parsed>, ProtocolError> {
        let end = match find_end(request, b'\r', limits.line_bytes_max, &mut self.scanned) {
            Search::Found(end) if end + 2 <= request.len() => end,
            Search::Found(end) => return Ok(Some(Parsed::Incomplete { wanted: end + 2 })),
            Search::Absent => return Ok(Some(Parsed::Incomplete { wanted: request.len() + 1 })),
            Search::TooLong => return Err(ProtocolError::TooBigMultibulkCount),
        };
        let count = parse_integer(&request[1..end]).ok_or(ProtocolError::InvalidMultibulkLength)?;
        let count = usize::try_from(count).unwrap_or(0);
        if count > limits.args_max {
            return Err(ProtocolError::InvalidMultibulkLength);
        }
        if count > UNAUTHENTICATED_ARGS_MAX && !limits.authenticated {
            return Err(ProtocolError::UnauthenticatedMultibulkLength);
        }
        self.scanned = 0;
        self.position = end + 2;
        self.args_left = count;
        Ok((count == 0).then(|| Parsed::Empty { consumed: self.finish() }))
    }

    /// Reads one argument. Returns how long the request must be to get any further, if it is too
    /// short.
    fn read_arg(
        &mut self,
        request: &[u8],
        limits: &RequestLimits,
    ) -> Result<Option<usize>, ProtocolError> {
        let len = match self.bulk_len {
            Some(len) => len,
            None => {
                let header = &request[self.position..];
                let end = match find_end(header, b'\r', limits.line_bytes_max, &mut self.scanned) {
                    Search::Found(end) if end + 2 <= header.len() => end,
                    Search::Found(end) => return Ok(Some(self.position + end + 2)),
                    Search::Absent => return Ok(Some(request.len() + 1)),
                    Search::TooLong => return Err(ProtocolError::TooBigBulkCount),
                };
                let len = bulk_len(&header[..end + 1], limits)?;
                self.scanned = 0;
                self.position += end + 2;
                *self.bulk_len.insert(len)
            }
        };
        let end = self.position.saturating_add(len).saturating_add(2);
        if end > request.len() {
            return Ok(Some(end));
        }
        self.pending.push(Arg { start: self.position, len });
        self.bulk_len = None;
        self.position = end;
        self.args_left -= 1;
        Ok(None)
    }

    fn parse_inline(
        &mut self,
        buf: &mut [u8],
        start: usize,
        limits: &RequestLimits,
        args: &mut Vec<Arg>,
    ) -> Result<Parsed, ProtocolError> {
        let rest = &mut buf[start..];
        self.resuming = true;
        let end = match find_end(rest, b'\n', limits.line_bytes_max, &mut self.scanned) {
            Search::Found(end) => end,
            Search::Absent => return Ok(Parsed::Incomplete { wanted: rest.len() + 1 }),
            Search::TooLong => return Err(ProtocolError::TooBigInline),
        };
        let args_before = args.len();
        // A `\r` before the `\n` is white space like any other.
        if let Err(error) = inline::split(&mut rest[..end], start, args) {
            args.truncate(args_before);
            return Err(error);
        }
        self.position = end + 1;
        let consumed = self.finish();
        match args.len() > args_before {
            true => Ok(Parsed::Request { consumed }),
            false => Ok(Parsed::Empty { consumed }),
        }
    }

    /// Makes ready for the next request and returns the length of this one.
    fn finish(&mut self) -> usize {
        let consumed = self.position;
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        if pending.capacity() > PENDING_ARGS_KEPT {
            pending = Vec::new();
        }
        *self = Self { pending, ..Self::default() };
        consumed
    }
}

/// The length in a header line (`line` ends with its `\r`), checked against all limits.
fn bulk_len(line: &[u8], limits: &RequestLimits) -> Result<usize, ProtocolError> {
    let [b'$', number @ .., b'\r'] = line else {
        return Err(ProtocolError::ExpectedDollar(line[0]));
    };
    let len = parse_integer(number).and_then(|len| usize::try_from(len).ok());
    let len =
        len.filter(|&len| len <= limits.bulk_bytes_max).ok_or(ProtocolError::InvalidBulkLength)?;
    if len > UNAUTHENTICATED_BULK_BYTES_MAX && !limits.authenticated {
        return Err(ProtocolError::UnauthenticatedBulkLength);
    }
    Ok(len)
}
