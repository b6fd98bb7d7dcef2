//! HOT PATH
//! Bodies in chunks (RFC 9112, section 7.1), decoded in place as they arrive.
//!
//! ```text
//! 5;x=y\r\n abcde\r\n 2\r\n fg\r\n 0\r\n Trailer: z\r\n \r\n next request
//! abcdefg ◀── spent ───────────────────────────────────▶ next request
//! ```
//! The data moves to the front, over sizes and line ends that have been read, so the body ends in
//! one piece, and a client cannot make it take more memory than it has bytes. The decoder keeps no
//! bytes but its place: it has seen all that it was shown, and is shown it once.
//!
//! Extensions and trailers are read over and dropped, within limits: nobody here knows any. White
//! space around extensions, which RFC 9112, section 7.1.1 lets a server take, is refused.

use crate::refusal::Refusal;
use std::ops::Range;

/// Longest extension of a chunk, its semicolon included.
const EXTENSION_BYTES_MAX: usize = 256;
/// Longest trailer section.
const TRAILER_BYTES_MAX: usize = 4 << 10;
/// Most digits of a size, leading zeros included.
const DIGITS_MAX: usize = 16;

/// Decodes one body. One per body.
#[derive(Debug, Default)]
pub struct ChunkedBody {
    at: At,
    /// Bytes of the body that are there.
    body_bytes: usize,
    /// Size of the chunk, as far as its digits have been read; then what of its data is to come.
    chunk_bytes: usize,
    /// Bytes read of what is limited: of a size, of an extension, or of the trailer section.
    counted: usize,
}

/// What the next byte is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum At {
    #[default]
    Size,
    Extension,
    SizeFeed,
    Data,
    DataReturn,
    DataFeed,
    /// The first byte of a line of the trailer section.
    TrailerStart,
    Trailer,
    TrailerFeed,
    /// The line feed of the empty line.
    LastFeed,
    Behind,
}

/// What has come of the bytes that were shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Bytes of the body: the first of those that were shown.
    pub body_bytes: usize,
    /// Bytes that are of no use any more: the caller removes them, before it shows more. They end
    /// where what has been read ends.
    pub spent: Range<usize>,
    /// How many more bytes the body needs at least, on the word of the client; 0 if it is whole.
    pub wanted: usize,
}

impl ChunkedBody {
    /// A decoder at the start of a body.
    pub fn new() -> ChunkedBody {
        ChunkedBody::default()
    }

    /// Decodes what has come. `bytes` begins with the body so far, as it was left by the last call;
    /// behind it are bytes that no call has seen.
    ///
    /// # Panics
    /// If the body so far is not there.
    pub fn decode(&mut self, bytes: &mut [u8], body_bytes_max: usize) -> Result<Decoded, Refusal> {
        let mut read = self.body_bytes;
        assert!(read <= bytes.len(), "the body so far is there");
        while read < bytes.len() && self.at != At::Behind {
            if self.at == At::Data {
                let len = self.chunk_bytes.min(bytes.len() - read);
                bytes.copy_within(read..read + len, self.body_bytes);
                read += len;
                self.body_bytes += len;
                self.chunk_bytes -= len;
                if self.chunk_bytes == 0 {
                    self.at = At::DataReturn;
                }
            } else {
                self.step(bytes[read], body_bytes_max)?;
                read += 1;
            }
        }
        Ok(Decoded {
            body_bytes: self.body_bytes,
            spent: self.body_bytes..read,
            wanted: self.wanted(),
        })
    }

    /// Reads one byte that is not data.
    fn step(&mut self, byte: u8, body_bytes_max: usize) -> Result<(), Refusal> {
        self.at = match (self.at, byte) {
            (At::Size, _) if byte.is_ascii_hexdigit() => self.digit(byte)?,
            (At::Size, b';') if self.counted > 0 => self.begin(At::Extension),
            (At::Size, b'\r') if self.counted > 0 => At::SizeFeed,
            (At::Extension, b'\r') => At::SizeFeed,
            (At::Extension, _) if is_of_line(byte) => {
                self.count(EXTENSION_BYTES_MAX, Refusal::ExtensionTooLong)?;
                At::Extension
            }
            (At::SizeFeed, b'\n') => self.begin_chunk(body_bytes_max)?,
            (At::DataReturn, b'\r') => At::DataFeed,
            (At::DataFeed, b'\n') => self.begin(At::Size),
            (At::TrailerStart, b'\r') => At::LastFeed,
            (At::Trailer, b'\r') => At::TrailerFeed,
            (At::TrailerStart | At::Trailer, _) if is_of_line(byte) => {
                self.count(TRAILER_BYTES_MAX, Refusal::TrailerTooLong)?;
                At::Trailer
            }
            (At::TrailerFeed, b'\n') => At::TrailerStart,
            (At::LastFeed, b'\n') => At::Behind,
            _ => return Err(Refusal::ChunkMalformed),
        };
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<At, Refusal> {
        self.count(DIGITS_MAX, Refusal::ChunkMalformed)?;
        let digit = char::from(byte).to_digit(16).ok_or(Refusal::ChunkMalformed)?;
        self.chunk_bytes = self.chunk_bytes.saturating_mul(16).saturating_add(digit as usize);
        Ok(At::Size)
    }

    /// The size of a chunk is known. The last one has none.
    fn begin_chunk(&mut self, body_bytes_max: usize) -> Result<At, Refusal> {
        if self.chunk_bytes > body_bytes_max.saturating_sub(self.body_bytes) {
            return Err(Refusal::BodyTooLarge);
        }
        let is_last = self.chunk_bytes == 0;
        Ok(self.begin(if is_last { At::TrailerStart } else { At::Data }))
    }

    /// Something begins whose bytes may have to be counted.
    fn begin(&mut self, at: At) -> At {
        self.counted = usize::from(at == At::Extension);
        at
    }

    fn count(&mut self, max: usize, refusal: Refusal) -> Result<(), Refusal> {
        self.counted += 1;
        if self.counted > max { Err(refusal) } else { Ok(()) }
    }

    fn wanted(&self) -> usize {
        match self.at {
            At::Behind => 0,
            At::LastFeed => 1,
            At::TrailerStart => "\r\n".len(),
            At::Trailer => "\r\n\r\n".len(),
            At::TrailerFeed => "\n\r\n".len(),
            At::Data => self.chunk_bytes.saturating_add("\r\n0\r\n\r\n".len()),
            At::DataReturn => "\r\n0\r\n\r\n".len(),
            At::DataFeed => "\n0\r\n\r\n".len(),
            At::Size | At::Extension => "\r\n\r\n".len(),
            At::SizeFeed => "\n\r\n".len(),
        }
    }
}

/// Whether a byte may stand in a line that is read over.
fn is_of_line(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}
