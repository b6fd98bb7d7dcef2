//! HOT PATH. The front that a request shares with the one before.
//!
//! ```text
//! *3\r\n $3\r\n SET \r\n | $1\r\n k \r\n …
//! ^ front: count and first argument
//! ```
//! Pipelines repeat their command, so the same bytes are parsed again and again: comparing them, at
//! once, takes a fifth of that.

use crate::arg::Arg;
use crate::limits::RequestLimits;
use crate::take::{Cursor, take_arg, take_args};

/// Shortest front: `*1`, `$1` and a letter with their line ends.
const FRONT_BYTES_MIN: usize = 11;
const HALF: usize = 8;
const WHOLE: usize = 2 * HALF;
/// Longest front: its count has one digit or two, and its name up to 20 bytes.
const FRONT_BYTES_MAX: usize = 2 * WHOLE;

/// A front that was parsed, or none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Front {
    /// Its first bytes; the first eight are enough if it has no more than 16.
    head: [u8; WHOLE],
    /// Its last bytes, which overlap with the first; the last eight are enough if it has no more
    /// than 16.
    tail: [u8; WHOLE],
    /// 0 if there is none.
    len: usize,
    /// The first argument, from the start of the request.
    pub(crate) name: Arg,
    /// Count of arguments, the first included.
    pub(crate) args: usize,
}

impl Front {
    /// That of the request at `start` in `buf`, which was parsed to `args`. None if it is long, or
    /// the line of an inline request.
    #[inline]
    pub fn of(buf: &[u8], start: usize, args: &[Arg]) -> Front {
        let Some(&name) = args.first() else { return Front::default() };
        if name.start == start {
            return Front::default(); // Inline, and perhaps unquoted there: then `*` is of its name.
        }
        match buf.get(start..name.start + name.len + 2) {
            Some(front @ [b'*', ..])
                if (FRONT_BYTES_MIN..=FRONT_BYTES_MAX).contains(&front.len()) =>
            {
                let (mut head, mut tail) = ([0; WHOLE], [0; WHOLE]);
                let shown = front.len().min(WHOLE);
                head[..shown].copy_from_slice(&front[..shown]);
                tail[WHOLE - shown..].copy_from_slice(&front[front.len() - shown..]);
                let name = Arg { start: name.start - start, ..name };
                Front { head, tail, len: front.len(), name, args: args.len() }
            }
            _ => Front::default(),
        }
    }

    /// Whether requests that begin so are for the fast way under these limits, as far as the front
    /// goes.
    #[inline]
    pub(crate) fn is_within(&self, limits: &RequestLimits) -> bool {
        self.len > 0 && limits.allow_short() && self.args <= limits.args_max
    }

    /// Whether `request` begins with it.
    #[inline(always)]
    fn begins(&self, request: &[u8]) -> bool {
        let Some(front) = request.get(..self.len) else { return false };
        if self.len > WHOLE {
            return front.first_chunk() == Some(&self.head)
                && front.last_chunk() == Some(&self.tail);
        }
        front.first_chunk() == self.head.first_chunk::<HALF>()
            && front.last_chunk() == self.tail.last_chunk::<HALF>()
    }
}

/// Takes off requests that begin with the same front ([`Parser::repeats`](crate::Parser::repeats)).
#[derive(Debug, Clone, Copy)]
pub struct Repeats {
    front: Front,
}

/// A request that began with a front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Where the next one begins.
    pub end: usize,
    /// The argument behind its name; an empty one if there is none.
    pub first: Arg,
}

impl Repeats {
    pub(crate) fn new(front: &Front) -> Repeats {
        Repeats { front: *front }
    }

    /// Count of arguments of each, the first included.
    #[inline]
    pub fn args(&self) -> usize {
        self.front.args
    }

    /// Takes the request at `buf[start..]` and appends its arguments to `args`, if it begins with
    /// the front and the rest of it is for the fast way. If not, nothing has been done, and
    /// [`Parser::parse`](crate::Parser::parse) is next.
    #[inline(always)]
    pub fn take(&self, buf: &[u8], start: usize, args: &mut Vec<Arg>) -> Option<Taken> {
        let Front { len, name, args: count, .. } = self.front;
        if !self.front.begins(buf.get(start..)?) {
            return None;
        }
        let (name, end) = (Arg { start: start + name.start, len: name.len }, start + len);
        // Most commands have two words or three, and what is known to be that number is not kept in
        // memory.
        match count {
            1 => {
                args.push(name);
                Some(Taken { end, first: Arg::default() })
            }
            2 => {
                let (first, end) = take_arg(buf, end)?;
                args.extend_from_slice(&[name, first]);
                Some(Taken { end, first })
            }
            3 => {
                let (first, end) = take_arg(buf, end)?;
                let (second, end) = take_arg(buf, end)?;
                args.extend_from_slice(&[name, first, second]);
                Some(Taken { end, first })
            }
            _ => take_many(buf, Cursor { position: end, args_left: count - 1 }, name, args),
        }
    }
}

/// The rest of a request of four words or more.
#[inline(never)]
fn take_many(buf: &[u8], behind: Cursor, name: Arg, args: &mut Vec<Arg>) -> Option<Taken> {
    let args_before = args.len();
    args.push(name);
    let Cursor { position, args_left } = take_args(buf, behind, 0, args);
    if args_left > 0 {
        args.truncate(args_before);
        return None;
    }
    Some(Taken { end: position, first: args[args_before + 1] })
}
