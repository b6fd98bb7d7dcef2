//! HOT PATH. The front that a request shares with the one before.
//!
//! ```text
//! *3\r\n $3\r\n SET \r\n | $1\r\n k \r\n …
//! ^ front: count and first argument
//! ```
//! Pipelines repeat their command, so the same bytes are parsed again and again: comparing them, at once,
//! takes a fifth of that.

use crate::parser::{Cursor, take_args};
use crate::{Arg, Limits};

const BLOCK_BYTES: usize = 16;
/// Longest front: its count has one digit or two, and its name up to 20 bytes.
const FRONT_BYTES_MAX: usize = 2 * BLOCK_BYTES;

/// A front that was parsed, or none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Front {
    /// Its bytes, the first one lowest, and behind it zeros.
    blocks: [u128; 2],
    /// Which bytes of the blocks are its own.
    masks: [u128; 2],
    /// 0 if there is none.
    len: usize,
    /// The first argument, from the start of the request.
    pub(crate) name: Arg,
    /// Count of arguments, the first included.
    pub(crate) args: usize,
}

impl Front {
    /// That of the request at `start` in `buf`, which was parsed to `args`. None if it is long, or the line
    /// of an inline request.
    #[inline]
    pub fn of(buf: &[u8], start: usize, args: &[Arg]) -> Front {
        let Some(&name) = args.first() else { return Front::default() };
        if name.start == start {
            return Front::default(); // Inline, and perhaps unquoted there: then `*` is of its name.
        }
        let len = name.start + name.len + 2 - start;
        let request = buf.get(start..).unwrap_or_default();
        match (request.first_chunk::<BLOCK_BYTES>(), request.first_chunk::<FRONT_BYTES_MAX>()) {
            (Some(first), _) if len <= BLOCK_BYTES && first[0] == b'*' => {
                Front::with([first, &[0; BLOCK_BYTES]], len, start, name, args.len())
            }
            (_, Some(both)) if len <= FRONT_BYTES_MAX && both[0] == b'*' => {
                let (blocks, _) = both.as_chunks();
                Front::with([&blocks[0], &blocks[1]], len, start, name, args.len())
            }
            _ => Front::default(),
        }
    }

    #[inline]
    fn with(
        [first, second]: [&[u8; BLOCK_BYTES]; 2],
        len: usize,
        start: usize,
        name: Arg,
        args: usize,
    ) -> Front {
        let masks = [mask(len), mask(len.saturating_sub(BLOCK_BYTES))];
        let block = |bytes: &[u8; BLOCK_BYTES], mask| u128::from_le_bytes(*bytes) & mask;
        Front {
            blocks: [block(first, masks[0]), block(second, masks[1])],
            masks,
            len,
            name: Arg { start: name.start - start, ..name },
            args,
        }
    }

    /// Whether requests that begin so are for the fast way under these limits, as far as the front goes.
    #[inline]
    pub(crate) fn is_within(&self, limits: &Limits) -> bool {
        self.len > 0 && limits.allow_short() && self.args <= limits.args_max
    }

    /// Whether `request` begins with it; `None` if it is too short to tell.
    #[inline(always)]
    fn begins(&self, request: &[u8]) -> Option<bool> {
        let same = |bytes: &[u8; BLOCK_BYTES], number: usize| {
            (u128::from_le_bytes(*bytes) ^ self.blocks[number]) & self.masks[number] == 0
        };
        let (first, others) = request.split_first_chunk()?;
        let is_long = self.len > BLOCK_BYTES;
        Some(same(first, 0) && (!is_long || same(others.first_chunk()?, 1)))
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

    /// Takes the request at `buf[start..]` and appends its arguments to `args`, if it begins with the front
    /// and the rest of it is for the fast way. If not, nothing has been done, and
    /// [`Parser::parse`](crate::Parser::parse) is next.
    #[inline(always)]
    pub fn take(&self, buf: &[u8], start: usize, args: &mut Vec<Arg>) -> Option<Taken> {
        let Front { len, name, args: count, .. } = self.front;
        if !self.front.begins(buf.get(start..)?)? {
            return None;
        }
        let args_before = args.len();
        args.push(Arg { start: start + name.start, len: name.len });
        let first_only = Cursor { position: start + len, args_left: count.min(2) - 1 };
        let mut cursor = take_args(buf, first_only, 0, args);
        if cursor.args_left == 0 {
            let first = if count > 1 { args[args_before + 1] } else { Arg::default() };
            cursor.args_left = count.saturating_sub(2);
            cursor = take_args(buf, cursor, 0, args);
            if cursor.args_left == 0 {
                return Some(Taken { end: cursor.position, first });
            }
        }
        args.truncate(args_before);
        None
    }
}

/// The lowest `bytes` bytes of a block.
#[inline]
fn mask(bytes: usize) -> u128 {
    if bytes >= BLOCK_BYTES { u128::MAX } else { (1 << (8 * bytes)) - 1 }
}
