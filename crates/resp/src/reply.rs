//! HOT PATH. The reply writers, in both versions of the protocol.
//!
//! Short headers are written as arrays of fixed length, which compile to a check of the capacity
//! and one or two stores.
//!
//! It deliberately does not check that an announced array gets as many elements as announced: that
//! is up to the command, and its tests.

use crate::double::{DoubleText, as_whole};
use crate::error::ProtocolError;
use crate::output::{End, Output, SHARED_BYTES_MIN};
use std::ops::Range;
use std::sync::Arc;

/// The version of the protocol in which a connection wants its replies (`HELLO`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The default: no maps, sets, doubles, booleans or pushes; these become arrays, bulk strings
    /// and integers.
    #[default]
    Resp2,
    /// Everything.
    Resp3,
}

/// Writes replies into an [`Output`].
#[derive(Debug)]
pub struct Reply<'a> {
    out: &'a mut Output,
    protocol: Protocol,
}

/// A place in what is written: see [`Reply::cut`].
#[derive(Debug, Clone, Copy)]
pub struct ReplyMark(End);

/// The place of a header whose count is not known yet: see [`Reply::array_deferred`].
#[derive(Debug)]
#[must_use = "the reply is broken until the header is written"]
pub struct Deferred(End);

impl<'a> Reply<'a> {
    /// Writes to `out` in `protocol`.
    #[inline]
    pub fn new(out: &'a mut Output, protocol: Protocol) -> Self {
        Self { out, protocol }
    }

    /// The protocol of this connection.
    #[inline]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// From here on writes in `protocol` (`HELLO` answers in the protocol that it switches to).
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    /// `+OK`
    #[inline]
    pub fn ok(&mut self) {
        self.out.last.flat.extend_from_slice(b"+OK\r\n");
    }

    /// A simple string. `\r` and `\n` become spaces.
    pub fn simple(&mut self, text: impl AsRef<[u8]>) {
        self.put_line(b"+", text.as_ref());
    }

    /// An error, code first: `ERR syntax error`. `\r` and `\n` become spaces.
    pub fn error(&mut self, text: impl AsRef<[u8]>) {
        self.put_line(b"-", text.as_ref());
    }

    /// The reply to a request that could not be parsed: `-ERR Protocol error: ...`.
    #[cold]
    pub fn protocol_error(&mut self, error: ProtocolError) {
        match error {
            // The only text that holds a byte of the client's, which goes out as it came.
            ProtocolError::ExpectedDollar(byte) => {
                self.error(
                    [b"ERR Protocol error: expected '$', got '", &[byte][..], b"'"].concat(),
                );
            }
            other => self.error(format!("ERR {other}")),
        }
    }

    /// A 64-bit integer.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => put_header(&mut self.out.last.flat, b':', value),
            Err(_) => put_negative(&mut self.out.last.flat, value),
        }
    }

    /// A bulk string: any bytes.
    #[inline]
    pub fn bulk(&mut self, value: &[u8]) {
        put_bulk(self.out, value);
    }

    /// A bulk string that is not copied, if it has at least [`SHARED_BYTES_MIN`] bytes.
    pub fn bulk_shared(&mut self, value: Arc<Vec<u8>>) {
        if value.len() < SHARED_BYTES_MIN {
            return self.bulk(&value);
        }
        put_header(&mut self.out.last.flat, b'$', value.len() as u64);
        self.out.push_shared(value);
        self.out.last.flat.extend_from_slice(b"\r\n");
    }

    /// A part of a value as a bulk string that is not copied. It has at least
    /// [`SHARED_BYTES_MIN`] bytes.
    pub fn bulk_part(&mut self, value: Arc<Vec<u8>>, part: Range<usize>) {
        put_header(&mut self.out.last.flat, b'$', part.len() as u64);
        self.out.push_shared(value);
        self.out.last.narrow_shared(part);
        self.out.last.flat.extend_from_slice(b"\r\n");
    }

    /// No value: `$-1` in RESP2, `_` in RESP3.
    #[inline]
    pub fn null(&mut self) {
        match self.protocol {
            Protocol::Resp2 => self.out.last.flat.extend_from_slice(b"$-1\r\n"),
            Protocol::Resp3 => self.out.last.flat.extend_from_slice(b"_\r\n"),
        }
    }

    /// No array: `*-1` in RESP2, `_` in RESP3.
    #[inline]
    pub fn null_array(&mut self) {
        match self.protocol {
            Protocol::Resp2 => self.out.last.flat.extend_from_slice(b"*-1\r\n"),
            Protocol::Resp3 => self.out.last.flat.extend_from_slice(b"_\r\n"),
        }
    }

    /// The header of an array: `count` replies follow.
    #[inline]
    pub fn array(&mut self, count: usize) {
        put_header(&mut self.out.last.flat, b'*', count as u64);
    }

    /// The header of a map: `count` pairs of replies follow. An array of twice as many in RESP2.
    #[inline]
    pub fn map(&mut self, count: usize) {
        let (kind, count) = self.map_header(count);
        put_header(&mut self.out.last.flat, kind, count);
    }

    /// The header of a set: `count` replies follow. An array in RESP2.
    #[inline]
    pub fn set(&mut self, count: usize) {
        let kind = self.set_kind();
        put_header(&mut self.out.last.flat, kind, count as u64);
    }

    /// The header of a push, which is no reply to a request: `count` elements follow. An array in
    /// RESP2.
    #[inline]
    pub fn push(&mut self, count: usize) {
        let kind = match self.protocol {
            Protocol::Resp2 => b'*',
            Protocol::Resp3 => b'>',
        };
        put_header(&mut self.out.last.flat, kind, count as u64);
    }

    /// A double, with the fewest digits that read back as the same. A bulk string in RESP2.
    pub fn double(&mut self, value: f64) {
        // As most scores are.
        if let Some(whole) = as_whole(value) {
            return self.double_as(itoa::Buffer::new().format(whole).as_bytes());
        }
        self.double_as(DoubleText::new(value).as_bytes());
    }

    #[inline]
    fn double_as(&mut self, text: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(text),
            Protocol::Resp3 => self.put_line(b",", text),
        }
    }

    /// A boolean. 1 or 0 in RESP2.
    pub fn boolean(&mut self, value: bool) {
        let text = match (self.protocol, value) {
            (Protocol::Resp2, false) => b":0\r\n",
            (Protocol::Resp2, true) => b":1\r\n",
            (Protocol::Resp3, false) => b"#f\r\n",
            (Protocol::Resp3, true) => b"#t\r\n",
        };
        self.out.last.flat.extend_from_slice(text);
    }

    /// An integer of any size, in decimal. A bulk string in RESP2.
    pub fn big_number(&mut self, digits: &str) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(digits.as_bytes()),
            Protocol::Resp3 => self.put_line(b"(", digits.as_bytes()),
        }
    }

    /// Text for people, with its format (`txt`, `mkd`). A bulk string without the format in RESP2.
    pub fn verbatim(&mut self, format: [u8; 3], text: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(text),
            Protocol::Resp3 => {
                let flat = &mut self.out.last.flat;
                put_header(flat, b'=', text.len() as u64 + 4);
                flat.extend_from_slice(&format);
                flat.push(b':');
                flat.extend_from_slice(text);
                flat.extend_from_slice(b"\r\n");
            }
        }
    }

    /// Bytes that are replies already.
    #[inline]
    pub fn raw(&mut self, replies: &[u8]) {
        if self.out.has_room_for(replies.len()) {
            self.out.last.flat.extend_from_slice(replies);
        }
    }

    /// Bytes that are replies already, which are not copied if they are at least
    /// [`SHARED_BYTES_MIN`].
    pub fn raw_owned(&mut self, mut replies: Vec<u8>) {
        if replies.len() < SHARED_BYTES_MIN {
            return self.raw(&replies);
        }
        // They may wait for long until the client reads them.
        replies.shrink_to_fit();
        self.out.push_shared(Arc::new(replies));
    }

    /// Bytes that are replies already and are sent to others, too. They are not copied if they are
    /// at least [`SHARED_BYTES_MIN`].
    pub fn raw_shared(&mut self, replies: &Arc<Vec<u8>>) {
        if replies.len() < SHARED_BYTES_MIN {
            return self.raw(replies);
        }
        self.out.push_shared(Arc::clone(replies));
    }

    /// Replies that were written aside; nothing of them has been sent.
    pub fn append(&mut self, replies: Output) {
        self.out.append(replies);
    }

    /// Bytes that are written and not sent, this reply's and those before it.
    pub fn bytes_owed(&self) -> usize {
        self.out.len()
    }

    /// Bytes that are copied to where this reply is written, those before it included.
    pub fn bytes_copied(&self) -> usize {
        self.out.copied_bytes()
    }

    /// Whether more was to be copied than may be ([`Output::is_over`]).
    #[inline]
    pub fn is_over(&self) -> bool {
        self.out.is_over()
    }

    /// The end of what is written so far.
    #[inline]
    pub fn mark(&self) -> ReplyMark {
        ReplyMark(self.out.end())
    }

    /// Takes back what was written since the mark; nothing has been sent since.
    pub fn cut(&mut self, mark: ReplyMark) {
        self.out.cut(mark.0);
    }

    /// What was copied since the mark, to be changed in its place; `None` if it does not lie
    /// together. Nothing of it has been sent, and values that are not copied keep their place among
    /// these bytes.
    #[inline]
    pub fn copied_since(&mut self, mark: ReplyMark) -> Option<&mut [u8]> {
        self.out.flat_since(mark.0)
    }

    /// Takes back the last bytes that were copied.
    ///
    /// # Panics
    /// If a value that was not copied, or something that has been sent, is among them.
    #[inline]
    pub fn shorten(&mut self, bytes: usize) {
        self.out.shorten(bytes);
    }

    /// Of the last value that was not copied, leaves these bytes; `false` if there was none since
    /// the mark. Nothing has been sent since.
    pub fn narrow_shared(&mut self, mark: ReplyMark, range: Range<usize>) -> bool {
        self.out.narrow_shared(mark.0, range)
    }

    /// The last value that was not copied, whole, whatever part of it is to be sent; `None` if
    /// there was none since the mark.
    pub fn last_shared(&self, mark: ReplyMark) -> Option<&Arc<Vec<u8>>> {
        self.out.last_shared(mark.0)
    }

    /// Takes out what was written since the mark; nothing has been sent since.
    pub fn split_off(&mut self, mark: ReplyMark) -> Output {
        self.out.split_off(mark.0)
    }

    /// Leaves out the header of an aggregate whose count is not known before its elements are
    /// written. Write these, then the header with [`Reply::array_end`], [`Reply::map_end`] or
    /// [`Reply::set_end`], inner ones first, before anything is sent. The header moves everything
    /// behind it once: count first if counting is cheap.
    pub fn array_deferred(&mut self) -> Deferred {
        Deferred(self.out.end())
    }

    /// Writes the header that was left out at `place`: an array of `count` elements.
    pub fn array_end(&mut self, place: Deferred, count: usize) {
        self.insert_header(place, b'*', count as u64);
    }

    /// Writes the header that was left out at `place`: a map of `count` pairs. An array of twice as
    /// many in RESP2.
    pub fn map_end(&mut self, place: Deferred, count: usize) {
        let (kind, count) = self.map_header(count);
        self.insert_header(place, kind, count);
    }

    /// Writes the header that was left out at `place`: a set of `count` elements. An array in
    /// RESP2.
    pub fn set_end(&mut self, place: Deferred, count: usize) {
        self.insert_header(place, self.set_kind(), count as u64);
    }

    fn insert_header(&mut self, place: Deferred, kind: u8, count: u64) {
        let mut header = Vec::with_capacity(HEADER_BYTES_MAX);
        put_header(&mut header, kind, count);
        self.out.insert(place.0, &header);
    }

    fn map_header(&self, count: usize) -> (u8, u64) {
        match self.protocol {
            Protocol::Resp2 => (b'*', count as u64 * 2),
            Protocol::Resp3 => (b'%', count as u64),
        }
    }

    fn set_kind(&self) -> u8 {
        match self.protocol {
            Protocol::Resp2 => b'*',
            Protocol::Resp3 => b'~',
        }
    }

    fn put_line(&mut self, kind: &[u8; 1], text: &[u8]) {
        let flat = &mut self.out.last.flat;
        flat.extend_from_slice(kind);
        let start = flat.len();
        flat.extend_from_slice(text);
        for byte in &mut flat[start..] {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        flat.extend_from_slice(b"\r\n");
    }
}

/// Longest header: kind, 20 digits, line end.
const HEADER_BYTES_MAX: usize = 23;

/// Writes `kind`, `value` and a line end.
///
/// Small values branch on the count of digits: where the next reply goes hangs on it, and a branch
/// can be predicted.
#[inline]
pub(crate) fn put_header(out: &mut Vec<u8>, kind: u8, value: u64) {
    let digit = |unit: u64| b'0' + (value / unit % 10) as u8;
    if value < 10 {
        out.extend_from_slice(&[kind, digit(1), b'\r', b'\n']);
    } else if value < 100 {
        out.extend_from_slice(&[kind, digit(10), digit(1), b'\r', b'\n']);
    } else if value < 1000 {
        out.extend_from_slice(&[kind, digit(100), digit(10), digit(1), b'\r', b'\n']);
    } else if value < 100_000_000 {
        put_medium_header(out, kind, value);
    } else {
        put_long_header(out, kind, value);
    }
}

/// Writes a header of up to eight digits without a branch on their count: sixteen bytes are stored,
/// of which the header is the front part.
#[inline(never)]
fn put_medium_header(out: &mut Vec<u8>, kind: u8, value: u64) {
    const ROOM: usize = 16;
    let digits = eight_digits(value);
    let zeros = digits.trailing_zeros() / 8;
    let text = (digits | 0x3030_3030_3030_3030) >> (8 * zeros);
    let (start, end) = (out.len(), 9_usize.saturating_sub(zeros as usize));
    out.extend_from_slice(&[0; ROOM]);
    let Some(header) = out.last_chunk_mut::<ROOM>() else { return };
    header[0] = kind;
    header[1..9].copy_from_slice(&text.to_le_bytes());
    header[end..end + 2].copy_from_slice(b"\r\n");
    out.truncate(start + end + 2);
}

/// The eight decimal digits of `value` < 10^8, one a byte, the first one lowest. Each step splits
/// all groups of digits in two: 8, 4 + 4, 2 + 2 + 2 + 2; the multiplications are divisions by 100
/// and 10 of numbers this small.
#[inline]
fn eight_digits(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 5243) >> 19) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - tens * 10) << 8)
}

#[inline(never)]
fn put_long_header(out: &mut Vec<u8>, kind: u8, value: u64) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(value).as_bytes();
    out.reserve(HEADER_BYTES_MAX);
    out.push(kind);
    out.extend_from_slice(digits);
    out.extend_from_slice(b"\r\n");
}

#[inline(never)]
fn put_negative(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(b":-");
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(value.unsigned_abs()).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Room for a bulk string that is written in blocks.
const BLOCKS_BYTES_MAX: usize = 72;

/// Longest bulk string that is written in blocks.
const BLOCKS_VALUE_MAX: usize = 64;

/// The headers of bulk strings of two digits. Each has three bytes more than it needs, which the
/// string covers.
static BLOCKS_HEADERS: [[u8; 8]; BLOCKS_VALUE_MAX + 1] = {
    let mut headers = [*b"$00\r\n\0\0\0"; BLOCKS_VALUE_MAX + 1];
    let mut len = 0;
    while len < headers.len() {
        headers[len][1] += (len / 10) as u8;
        headers[len][2] += (len % 10) as u8;
        len += 1;
    }
    headers
};

/// Writes a bulk string. What is written in blocks calls nothing that might come back, so that
/// nothing has to be kept across a call.
fn put_bulk(out: &mut Output, value: &[u8]) {
    if value.len() > BLOCKS_VALUE_MAX {
        return put_long_bulk(out, value);
    }
    if out.last.flat.capacity() - out.last.flat.len() < BLOCKS_BYTES_MAX {
        return make_room_and_put_bulk(out, value);
    }
    let out = &mut out.last.flat;
    match value.len() {
        0..=9 => put_short_bulk(out, value),
        10..=16 => put_blocks::<8, 24>(out, value),
        17..=32 => put_blocks::<16, 40>(out, value),
        _ => put_blocks::<32, BLOCKS_BYTES_MAX>(out, value),
    }
}

#[cold]
#[inline(never)]
fn make_room_and_put_bulk(out: &mut Output, value: &[u8]) {
    if out.make_room(BLOCKS_BYTES_MAX) {
        put_bulk(out, value);
    }
}

#[inline(never)]
fn put_long_bulk(out: &mut Output, value: &[u8]) {
    if out.has_room_for(value.len() + HEADER_BYTES_MAX + 2) {
        put_plain_bulk(&mut out.last.flat, value);
    }
}

/// Writes a bulk string of any length.
#[inline(never)]
pub(crate) fn put_plain_bulk(out: &mut Vec<u8>, value: &[u8]) {
    put_header(out, b'$', value.len() as u64);
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Writes a bulk string of one or two blocks, whose length has two digits. Two blocks that overlap
/// are stored faster than a number of bytes that varies is copied, and room that is made once is
/// not asked for with each part. `ROOM` is header, two blocks and line end, up to a whole number of
/// words.
#[inline(always)]
fn put_blocks<const BLOCK: usize, const ROOM: usize>(out: &mut Vec<u8>, value: &[u8]) {
    let len = value.len();
    let (Some(first), Some(last), Some(header)) =
        (value.first_chunk::<BLOCK>(), value.last_chunk::<BLOCK>(), BLOCKS_HEADERS.get(len))
    else {
        return put_plain_bulk(out, value);
    };
    const HEADER_BYTES: usize = 5;
    let (start, end) = (out.len(), HEADER_BYTES + len);
    out.extend_from_slice(&[0; ROOM]);
    let Some(bulk) = out.last_chunk_mut::<ROOM>() else { return };
    bulk[..8].copy_from_slice(header);
    bulk[HEADER_BYTES..][..BLOCK].copy_from_slice(first);
    bulk[end - BLOCK..end].copy_from_slice(last);
    bulk[end..end + 2].copy_from_slice(b"\r\n");
    out.truncate(start + end + 2);
}

/// Writes a bulk string of up to nine bytes, whose length has one digit.
#[inline(always)]
fn put_short_bulk(out: &mut Vec<u8>, value: &[u8]) {
    const HEADER_BYTES: usize = 4;
    const ROOM: usize = 16;
    let len = value.len();
    let (start, end) = (out.len(), HEADER_BYTES + len);
    if end + 2 > ROOM {
        return put_plain_bulk(out, value);
    }
    out.extend_from_slice(&[0; ROOM]);
    let Some(bulk) = out.last_chunk_mut::<ROOM>() else { return };
    bulk[..HEADER_BYTES].copy_from_slice(&[b'$', b'0' + len as u8, b'\r', b'\n']);
    if let (Some(first), Some(last)) = (value.first_chunk::<8>(), value.last_chunk::<8>()) {
        bulk[HEADER_BYTES..][..8].copy_from_slice(first);
        bulk[end - 8..end].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        bulk[HEADER_BYTES..][..4].copy_from_slice(first);
        bulk[end - 4..end].copy_from_slice(last);
    } else if len > 0 {
        bulk[HEADER_BYTES] = value[0];
        bulk[HEADER_BYTES + len / 2] = value[len / 2];
        bulk[end - 1] = value[len - 1];
    }
    bulk[end..end + 2].copy_from_slice(b"\r\n");
    out.truncate(start + end + 2);
}
