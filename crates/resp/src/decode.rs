//! Replies, from a client's point of view: for the benchmark tool and the tests.
//!
//! It decodes a reply that is wholly there and starts over if it is not, so a reply that comes in
//! many pieces is scanned many times. It deliberately does not know attributes and streamed
//! replies, which Basalt never sends.

use crate::line::parse_integer;
use memchr::memchr;
use thiserror::Error;

/// Deepest nesting of arrays, maps, sets and pushes in a reply.
pub const NESTING_MAX: usize = 32;

/// Longest header line: 20 digits, or a double. (Simple strings and errors may be longer.)
const HEADER_BYTES_MAX: usize = 512;

/// A decoded reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `+`
    Simple(Vec<u8>),
    /// `-`, or `!` in RESP3: code and message.
    Error(Vec<u8>),
    /// `:`
    Integer(i64),
    /// `$`
    Bulk(Vec<u8>),
    /// `$-1` or `_`
    Null,
    /// `*-1`
    NullArray,
    /// `*`
    Array(Vec<Value>),
    /// `%`
    Map(Vec<(Value, Value)>),
    /// `~`
    Set(Vec<Value>),
    /// `>`
    Push(Vec<Value>),
    /// `,`
    Double(f64),
    /// `#`
    Boolean(bool),
    /// `(`
    BigNumber(Vec<u8>),
    /// `=`
    Verbatim {
        /// Three letters, such as `txt`.
        format: [u8; 3],
        /// What follows the format and its colon.
        text: Vec<u8>,
    },
}

/// Bytes that are no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// A reply starts with an unknown byte.
    #[error("no reply starts with byte {0:#04x}: check that the server speaks the redis protocol")]
    UnknownKind(u8),
    /// A number, a length or a boolean cannot be read.
    #[error("a reply holds a malformed number, length or boolean")]
    MalformedScalar,
    /// A string is not followed by a line end.
    #[error("a string in a reply does not end with CR LF")]
    MissingLineEnd,
    /// Aggregates are nested more than [`NESTING_MAX`] deep.
    #[error("a reply is nested more than {NESTING_MAX} deep")]
    TooDeep,
}

/// Decodes the reply at the front of `buf`: the value and the count of bytes it takes up, or `None`
/// if bytes are missing.
pub fn decode(buf: &[u8]) -> Result<Option<(Value, usize)>, DecodeError> {
    let mut decoder = Decoder { buf, at: 0 };
    match decoder.value(NESTING_MAX) {
        Ok(value) => Ok(Some((value, decoder.at))),
        Err(Stop::Incomplete) => Ok(None),
        Err(Stop::Error(error)) => Err(error),
    }
}

enum Stop {
    Incomplete,
    Error(DecodeError),
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        Self::Error(error)
    }
}

struct Decoder<'a> {
    buf: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    fn value(&mut self, nesting_left: usize) -> Result<Value, Stop> {
        let &kind = self.buf.get(self.at).ok_or(Stop::Incomplete)?;
        self.at += 1;
        Ok(match kind {
            b'+' => Value::Simple(self.line()?.to_vec()),
            b'-' => Value::Error(self.line()?.to_vec()),
            b':' => Value::Integer(self.integer()?),
            b'(' => Value::BigNumber(self.big_number()?),
            b',' => Value::Double(self.double()?),
            b'#' => match self.header()? {
                b"t" => Value::Boolean(true),
                b"f" => Value::Boolean(false),
                _ => return Err(DecodeError::MalformedScalar.into()),
            },
            b'_' => match self.header()? {
                b"" => Value::Null,
                _ => return Err(DecodeError::MalformedScalar.into()),
            },
            b'$' => {
                self.length()?.map_or(Ok(Value::Null), |len| self.bytes(len).map(Value::Bulk))?
            }
            b'!' => Value::Error(self.present_bytes()?),
            b'=' => self.verbatim()?,
            b'*' => match self.length()? {
                Some(count) => Value::Array(self.elements(count, nesting_left)?),
                None => Value::NullArray,
            },
            b'~' => Value::Set(self.present_elements(nesting_left)?),
            b'>' => Value::Push(self.present_elements(nesting_left)?),
            b'%' => Value::Map(self.pairs(nesting_left)?),
            other => return Err(DecodeError::UnknownKind(other).into()),
        })
    }

    /// The rest of the line.
    fn line(&mut self) -> Result<&'a [u8], Stop> {
        let rest = &self.buf[self.at..];
        let end = memchr(b'\r', rest).ok_or(Stop::Incomplete)?;
        match rest.get(end + 1) {
            None => Err(Stop::Incomplete),
            Some(b'\n') => {
                self.at += end + 2;
                Ok(&rest[..end])
            }
            Some(_) => Err(DecodeError::MissingLineEnd.into()),
        }
    }

    /// The rest of a line that cannot be long.
    fn header(&mut self) -> Result<&'a [u8], Stop> {
        match self.line() {
            Err(Stop::Incomplete) if self.buf.len() - self.at > HEADER_BYTES_MAX => {
                Err(DecodeError::MalformedScalar.into())
            }
            other => other,
        }
    }

    fn integer(&mut self) -> Result<i64, Stop> {
        let text = self.header()?;
        let digits = text.strip_prefix(b"+").unwrap_or(text);
        Ok(parse_integer(digits).ok_or(DecodeError::MalformedScalar)?)
    }

    fn big_number(&mut self) -> Result<Vec<u8>, Stop> {
        let text = self.line()?;
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        match !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            true => Ok(text.to_vec()),
            false => Err(DecodeError::MalformedScalar.into()),
        }
    }

    fn double(&mut self) -> Result<f64, Stop> {
        let text = std::str::from_utf8(self.header()?).ok();
        Ok(text.and_then(|text| text.parse().ok()).ok_or(DecodeError::MalformedScalar)?)
    }

    /// A length or a count; `None` for -1.
    fn length(&mut self) -> Result<Option<usize>, Stop> {
        match self.integer()? {
            -1 => Ok(None),
            len => Ok(Some(usize::try_from(len).map_err(|_| DecodeError::MalformedScalar)?)),
        }
    }

    /// A length or a count that cannot be missing.
    fn present_length(&mut self) -> Result<usize, Stop> {
        Ok(self.length()?.ok_or(DecodeError::MalformedScalar)?)
    }

    fn bytes(&mut self, len: usize) -> Result<Vec<u8>, Stop> {
        let rest = &self.buf[self.at..];
        let end = len.checked_add(2).filter(|&end| end <= rest.len()).ok_or(Stop::Incomplete)?;
        if rest[len..end] != *b"\r\n" {
            return Err(DecodeError::MissingLineEnd.into());
        }
        self.at += end;
        Ok(rest[..len].to_vec())
    }

    fn present_bytes(&mut self) -> Result<Vec<u8>, Stop> {
        let len = self.present_length()?;
        self.bytes(len)
    }

    fn verbatim(&mut self) -> Result<Value, Stop> {
        let bytes = self.present_bytes()?;
        match bytes[..] {
            [a, b, c, b':', ref text @ ..] => {
                Ok(Value::Verbatim { format: [a, b, c], text: text.to_vec() })
            }
            _ => Err(DecodeError::MalformedScalar.into()),
        }
    }

    fn elements(&mut self, count: usize, nesting_left: usize) -> Result<Vec<Value>, Stop> {
        let nesting_left = nesting_left.checked_sub(1).ok_or(DecodeError::TooDeep)?;
        // Not allocated by the count: that is only the server's word.
        (0..count).map(|_| self.value(nesting_left)).collect()
    }

    fn present_elements(&mut self, nesting_left: usize) -> Result<Vec<Value>, Stop> {
        let count = self.present_length()?;
        self.elements(count, nesting_left)
    }

    fn pairs(&mut self, nesting_left: usize) -> Result<Vec<(Value, Value)>, Stop> {
        let count = self.present_length()?;
        let nesting_left = nesting_left.checked_sub(1).ok_or(DecodeError::TooDeep)?;
        (0..count).map(|_| Ok((self.value(nesting_left)?, self.value(nesting_left)?))).collect()
    }
}
