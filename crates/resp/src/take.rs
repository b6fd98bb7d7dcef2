//! HOT PATH. Arguments that are short-headed and wholly there.
//!
//! As Redis does, this trusts the bytes that it does not need: the `\n` of a line end, and the two
//! bytes after a payload, are skipped unseen.

use crate::arg::Arg;

/// A place before an argument.
pub(crate) struct Cursor {
    /// Index into the whole buffer.
    pub(crate) position: usize,
    /// Arguments still to come.
    pub(crate) args_left: usize,
}

/// Takes arguments from `cursor` on for as long as they are short-headed and wholly there, and
/// pushes them with starts relative to `base`. Returns where it stopped: at the end, or before an
/// argument for the careful way.
#[inline(always)]
pub(crate) fn take_args(buf: &[u8], cursor: Cursor, base: usize, args: &mut Vec<Arg>) -> Cursor {
    let Cursor { position, mut args_left } = cursor;
    let mut rest = buf.get(position..).unwrap_or_default();
    while args_left > 0 {
        let Some(header) = short_header::<b'$'>(rest) else { break };
        let Some(behind) = rest.get(header.bytes_with_payload..) else { break };
        let start = buf.len() - rest.len() + header.bytes - base;
        args.push(Arg { start, len: header.value });
        rest = behind;
        args_left -= 1;
    }
    Cursor { position: buf.len() - rest.len(), args_left }
}

/// The argument at `position` and where the next one begins, if it is short-headed and wholly
/// there.
#[inline(always)]
pub(crate) fn take_arg(buf: &[u8], position: usize) -> Option<(Arg, usize)> {
    let header = short_header::<b'$'>(buf.get(position..)?)?;
    let end = position + header.bytes_with_payload;
    (end <= buf.len()).then_some((Arg { start: position + header.bytes, len: header.value }, end))
}

/// A `*count` or `$length` line.
pub(crate) struct ShortHeader {
    pub(crate) value: usize,
    /// Length of the line.
    pub(crate) bytes: usize,
    /// Length of the line and, if the value is the length of a payload, of that and its line end.
    bytes_with_payload: usize,
}

/// Reads the line at the front of `rest` if it is `KIND` and a number of one to four digits, and if
/// six bytes are there, which is what the shortest argument (`$0\r\n\r\n`) takes up.
///
/// The place of the next header hangs on this number and little else does, so what counts is the
/// latency from these bytes to `bytes_with_payload`. Hence a predictable branch per digit, and not
/// arithmetic on all bytes at once; hence also the sums over undecoded bytes, from which all that
/// is constant is taken at once.
#[inline(always)]
pub(crate) fn short_header<const KIND: u8>(rest: &[u8]) -> Option<ShortHeader> {
    let &[kind, a, b, c, d, e] = rest.first_chunk()?;
    if kind != KIND || !a.is_ascii_digit() {
        return None;
    }
    let is_short = |sum: usize, zeros: usize, bytes: usize| ShortHeader {
        value: sum.wrapping_sub(zeros),
        bytes,
        bytes_with_payload: sum.wrapping_sub(zeros - bytes - 2),
    };
    const ZERO: usize = b'0' as usize;
    let [a, b, c, d] = [a, b, c, d].map(usize::from);
    if b == CR {
        return Some(is_short(a, ZERO, 4));
    }
    if a == ZERO || !is_digit(b) {
        return None;
    }
    if c == CR {
        return Some(is_short(10 * a + b, 11 * ZERO, 5));
    }
    if !is_digit(c) {
        return None;
    }
    if d == CR {
        return Some(is_short(100 * a + 10 * b + c, 111 * ZERO, 6));
    }
    if !is_digit(d) || e != b'\r' {
        return None;
    }
    Some(is_short(1000 * a + 100 * b + 10 * c + d, 1111 * ZERO, 7))
}

const CR: usize = b'\r' as usize;

fn is_digit(byte: usize) -> bool {
    byte.wrapping_sub(usize::from(b'0')) < 10
}
