//! HOT PATH
//! Frames of a WebSocket (RFC 6455, section 5.2).
//!
//! ```text
//! bit 0      4         8      9                  then
//! │ FIN RSV×3 │ opcode │ MASK │ length, 126, 127 │ 16 or 64 bits of length │ mask │ payload
//! ```
//! A client's frames are masked, a server's are not. No extension is agreed upon, so the reserved
//! bits are zero. What is longer than it need be is refused, as section 5.2 demands.

use crate::close::CloseCode;

/// Longest payload of a control frame (section 5.5).
pub(crate) const CONTROL_BYTES_MAX: usize = 125;

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opcode {
    /// More of the message before.
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn parse(bits: u8) -> Result<Opcode, CloseCode> {
        match bits {
            0 => Ok(Opcode::Continuation),
            1 => Ok(Opcode::Text),
            2 => Ok(Opcode::Binary),
            8 => Ok(Opcode::Close),
            9 => Ok(Opcode::Ping),
            10 => Ok(Opcode::Pong),
            _ => Err(CloseCode::PROTOCOL_ERROR),
        }
    }

    pub(crate) fn is_control(self) -> bool {
        self as u8 >= Opcode::Close as u8
    }
}

/// What a client's frame begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameHead {
    pub(crate) is_final: bool,
    pub(crate) opcode: Opcode,
    mask: [u8; 4],
    /// Bytes of the head.
    pub(crate) bytes: usize,
    pub(crate) payload_bytes: u64,
}

impl FrameHead {
    /// Reads what a frame begins with. `Err` of how long it must be, if it is not wholly there.
    #[inline]
    pub(crate) fn parse(bytes: &[u8]) -> Result<Result<FrameHead, usize>, CloseCode> {
        let [first, second, rest @ ..] = bytes else { return Ok(Err(2)) };
        let (is_final, opcode) = (first & 0x80 != 0, Opcode::parse(first & 0x0f)?);
        let is_masked = second & 0x80 != 0;
        let short = second & 0x7f;
        let is_short_or_data = !opcode.is_control() || is_final && short < 126;
        if first & 0x70 != 0 || !is_masked || !is_short_or_data {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        let (payload_bytes, length_bytes) = match (short, rest) {
            (126, [a, b, ..]) => (u64::from(u16::from_be_bytes([*a, *b])), 2),
            (126, _) => return Ok(Err(2 + 2 + 4)),
            (127, [a, b, c, d, e, f, g, h, ..]) => {
                (u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]), 8)
            }
            (127, _) => return Ok(Err(2 + 8 + 4)),
            (length, _) => (u64::from(length), 0),
        };
        if length_bytes != length_bytes_of(payload_bytes) || payload_bytes > i64::MAX as u64 {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        let bytes = 2 + length_bytes + 4;
        match rest[length_bytes..] {
            [a, b, c, d, ..] => {
                Ok(Ok(FrameHead { is_final, opcode, mask: [a, b, c, d], bytes, payload_bytes }))
            }
            _ => Ok(Err(bytes)),
        }
    }

    /// Takes the mask off the payload (section 5.3).
    #[inline]
    pub(crate) fn unmask(&self, payload: &mut [u8]) {
        let [a, b, c, d] = self.mask;
        let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
        let (groups, rest) = payload.as_chunks_mut::<8>();
        for group in groups {
            *group = (u64::from_ne_bytes(*group) ^ wide).to_ne_bytes();
        }
        rest.iter_mut().zip(self.mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// In how many bytes a length is said that does not fit seven bits.
fn length_bytes_of(payload_bytes: u64) -> usize {
    match payload_bytes {
        0..=125 => 0,
        126..=0xffff => 2,
        _ => 8,
    }
}

/// What a server sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// A whole message: UTF-8.
    Text,
    /// A whole message: any bytes.
    Binary,
    /// Asks whether the client is there.
    Ping,
    /// The answer to a ping, with its payload.
    Pong,
}

/// Appends what a frame begins with to `out`; the payload comes behind it.
///
/// # Panics
/// If a ping or a pong is to have more than 125 bytes.
#[inline]
pub fn write_frame_head(kind: FrameKind, payload_bytes: usize, out: &mut Vec<u8>) {
    let opcode = match kind {
        FrameKind::Text => Opcode::Text,
        FrameKind::Binary => Opcode::Binary,
        FrameKind::Ping => Opcode::Ping,
        FrameKind::Pong => Opcode::Pong,
    };
    write_head(opcode, payload_bytes, out);
}

/// Appends the last frame of a WebSocket to `out`. Of the reason as much as there is room for is
/// sent, in whole characters.
pub fn write_close(code: CloseCode, reason: &str, out: &mut Vec<u8>) {
    let reason = &reason[..reason.floor_char_boundary(CONTROL_BYTES_MAX - 2)];
    write_head(Opcode::Close, 2 + reason.len(), out);
    out.extend(code.code().to_be_bytes());
    out.extend(reason.bytes());
}

fn write_head(opcode: Opcode, payload_bytes: usize, out: &mut Vec<u8>) {
    assert!(!opcode.is_control() || payload_bytes <= CONTROL_BYTES_MAX, "a short control frame");
    out.push(0x80 | opcode as u8);
    let length = payload_bytes as u64;
    match length_bytes_of(length) {
        0 => out.push(length as u8),
        2 => {
            out.push(126);
            out.extend((length as u16).to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend(length.to_be_bytes());
        }
    }
}
