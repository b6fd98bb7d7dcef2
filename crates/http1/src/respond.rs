//! HOT PATH
//! Heads of responses (RFC 9112, section 4).
//!
//! What a command replies is written before it is known how long it is, so room is left for the
//! head, which is written over it, to its last byte:
//!
//! ```text
//! │ room                                                                    │
//! HTTP/1.1 200 OK\r\n … Date: …\r\n Content-Length:             1024\r\n\r\n  value
//! ```
//! What is left of the room becomes white space before the value of the last field, which the
//! grammar allows (RFC 9112, section 5.1). So the value behind is never moved.

use crate::date::{DATE_BYTES, Date};
use crate::etag::{ETAG_BYTES_MAX, ETag};
use crate::range::ContentRange;
use crate::status::Status;

/// What a client is told that waits before it sends a body (RFC 9110, section 15.2.1).
pub const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// The head of one response.
#[derive(Clone, Debug)]
pub struct ResponseHead<'a> {
    /// What it begins with.
    pub status: Status,
    /// Lines that are always the same, each with its line end.
    pub lines: &'static str,
    /// Names and values of other fields.
    pub fields: &'a [(&'static str, Value<'a>)],
    /// What becomes of the connection.
    pub connection: Connection,
    /// The time.
    pub date: &'a Date,
    /// Bytes of the body, or of the one that a HEAD does not get. `None` where there must be no
    /// such field, 101 and 204 (RFC 9110, section 8.6), and where the body ends with the
    /// connection.
    pub content_length: Option<u64>,
}

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    /// Text. Control characters, which could begin another line, become spaces.
    Text(&'a [u8]),
    /// A number.
    Number(u64),
    /// The tag of the value.
    ETag(ETag),
    /// Which part it is.
    ContentRange(ContentRange),
}

/// What the response says about its connection (RFC 9112, section 9.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// Nothing: in HTTP/1.1 it is kept.
    Unsaid,
    /// It is kept, which must be said in HTTP/1.0.
    Kept,
    /// This is its last response.
    Closes,
}

impl ResponseHead<'_> {
    /// Writes the head over all of `room`. Returns false if it does not fit; then what is in the
    /// room is of no use.
    #[inline]
    #[must_use]
    pub fn write_over(&self, room: &mut [u8]) -> bool {
        let mut room = Room { bytes: room, at: 0 };
        self.write_to(&mut room);
        room.at == room.bytes.len()
    }

    /// Writes the head to the start of `buffer`, without white space that it does not need; returns
    /// its length, or `None` if the buffer is too short.
    #[inline]
    pub fn write_to_start(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut start = Start(Room { bytes: buffer, at: 0 });
        self.write_to(&mut start);
        let Start(Room { bytes, at }) = start;
        (at <= bytes.len()).then_some(at)
    }

    /// Appends the head to `out`, without white space that it does not need.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_to(out);
    }

    #[inline]
    fn write_to(&self, out: &mut impl Sink) {
        out.put(self.status.line().as_bytes());
        out.put(self.lines.as_bytes());
        match self.connection {
            Connection::Unsaid => {}
            Connection::Kept => out.put(b"Connection: keep-alive\r\n"),
            Connection::Closes => out.put(b"Connection: close\r\n"),
        }
        for (name, value) in self.fields {
            out.put(name.as_bytes());
            out.put(b": ");
            value.write_to(out);
            out.put(b"\r\n");
        }
        out.put(b"Date: ");
        match self.content_length {
            Some(length) => {
                out.put(self.date.text());
                out.put(b"\r\nContent-Length: ");
                let mut digits = itoa::Buffer::new();
                let digits = digits.format(length).as_bytes();
                out.pad(digits.len() + "\r\n\r\n".len());
                out.put(digits);
            }
            None => {
                out.pad(DATE_BYTES + "\r\n\r\n".len());
                out.put(self.date.text());
            }
        }
        out.put(b"\r\n\r\n");
    }
}

impl Value<'_> {
    #[inline]
    fn write_to(&self, out: &mut impl Sink) {
        let mut digits = itoa::Buffer::new();
        match self {
            Value::Text(text) if text.iter().any(u8::is_ascii_control) => put_spaced(text, out),
            Value::Text(text) => out.put(text),
            Value::Number(number) => out.put(digits.format(*number).as_bytes()),
            Value::ETag(tag) => out.put(tag.text(&mut [0; ETAG_BYTES_MAX])),
            Value::ContentRange(ContentRange::Part { range, length }) => {
                out.put(b"bytes ");
                out.put(digits.format(range.start).as_bytes());
                out.put(b"-");
                out.put(digits.format(range.end.saturating_sub(1)).as_bytes());
                out.put(b"/");
                out.put(digits.format(*length).as_bytes());
            }
            Value::ContentRange(ContentRange::Unsatisfied { length }) => {
                out.put(b"bytes */");
                out.put(digits.format(*length).as_bytes());
            }
        }
    }
}

#[cold]
fn put_spaced(text: &[u8], out: &mut impl Sink) {
    for &byte in text {
        out.put(&[if byte.is_ascii_control() { b' ' } else { byte }]);
    }
}

/// Where a head is written.
trait Sink {
    fn put(&mut self, bytes: &[u8]);
    /// Puts spaces, if it must be filled; `rest` bytes come behind them.
    fn pad(&mut self, rest: usize);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn pad(&mut self, _rest: usize) {}
}

/// A place for a head of at most this length.
struct Start<'a>(Room<'a>);

impl Sink for Start<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0.put(bytes);
    }

    #[inline]
    fn pad(&mut self, _rest: usize) {}
}

/// A place for a head of exactly this length.
struct Room<'a> {
    bytes: &'a mut [u8],
    /// How many have been put, or were to be.
    at: usize,
}

impl Sink for Room<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }

    #[inline]
    fn pad(&mut self, rest: usize) {
        let end = self.bytes.len().saturating_sub(rest);
        if let Some(place) = self.bytes.get_mut(self.at..end) {
            place.fill(b' ');
            self.at = end;
        }
    }
}
