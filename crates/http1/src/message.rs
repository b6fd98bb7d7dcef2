//! HOT PATH
//! What a client says over a WebSocket (RFC 6455, sections 5.4 to 5.6), put together in place.
//!
//! ```text
//! message so far │ raw: frame of the message │ ping │ rest of the message │ next message
//! ```
//! The payloads of a message's frames move to the front, so it ends in one piece. Control frames
//! may come between them. A frame is looked at when it is wholly there; before that nothing is
//! changed, and the frame's head says how many bytes that takes. Text is checked when it is whole.

use crate::close::CloseCode;
use crate::frame::{FrameHead, Opcode};
use std::ops::Range;

/// Puts one client's messages together. One per connection.
#[derive(Debug, Default)]
pub struct MessageReader {
    /// What the message is of which frames have come and not all.
    begun: Option<MessageKind>,
    /// Bytes of it.
    bytes: usize,
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageKind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

/// What has come. Its payload is where [`Taken::payload`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incoming {
    /// A whole message.
    Message(MessageKind),
    /// The client asks whether the server is there: a pong with the payload is due.
    Ping,
    /// The client is there. Nothing is due.
    Pong,
    /// The client ends the WebSocket: a close frame is due if none was sent, then the end.
    Close(Option<CloseCode>),
    /// Nothing that is whole.
    Part {
        /// How many more bytes it needs at least, on the word of the client.
        wanted: usize,
    },
}

/// What has come, and what of the bytes that were shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// What has come.
    pub incoming: Incoming,
    /// Where its payload is; of a close, its reason.
    pub payload: Range<usize>,
    /// Bytes that are of no use any more once the payload has been used: the caller removes them
    /// before it asks again. Where they begin at 0, as behind a whole message, it may step over
    /// them: nothing behind has to move.
    pub spent: Range<usize>,
}

impl MessageReader {
    /// A reader at the start of a message.
    pub fn new() -> MessageReader {
        MessageReader::default()
    }

    /// Takes what comes first. `bytes` begins with the message so far, as it was left by the last
    /// call. After an error the client is told the code, and the connection closes.
    ///
    /// # Panics
    /// If the message so far is not there.
    pub fn take(&mut self, bytes: &mut [u8], message_bytes_max: usize) -> Result<Taken, CloseCode> {
        let mut read = self.bytes;
        loop {
            let raw = &mut bytes[read..];
            let head = match FrameHead::parse(raw)? {
                Ok(head) => head,
                Err(needed) => return Ok(self.part(read, needed - raw.len())),
            };
            self.check(&head, message_bytes_max)?;
            // Not more than a message or a control frame may have.
            let payload_bytes = head.payload_bytes as usize;
            let end = head.bytes + payload_bytes;
            if end > raw.len() {
                return Ok(self.part(read, end - raw.len()));
            }
            head.unmask(&mut raw[head.bytes..end]);
            let payload = read + head.bytes..read + end;
            read += end;
            if head.opcode.is_control() {
                return self.control(head.opcode, bytes, payload, read);
            }
            bytes.copy_within(payload, self.bytes);
            self.bytes += payload_bytes;
            let kind = match head.opcode {
                Opcode::Text => MessageKind::Text,
                Opcode::Binary => MessageKind::Binary,
                _ => self.begun.ok_or(CloseCode::PROTOCOL_ERROR)?,
            };
            if head.is_final {
                return self.finish(kind, bytes, read);
            }
            self.begun = Some(kind);
        }
    }

    /// Refuses a frame that must not come now, or is too large, by its head.
    fn check(&self, head: &FrameHead, message_bytes_max: usize) -> Result<(), CloseCode> {
        if head.opcode.is_control() {
            return Ok(());
        }
        let continues = head.opcode == Opcode::Continuation;
        if continues != self.begun.is_some() {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        let room = message_bytes_max.saturating_sub(self.bytes) as u64;
        if head.payload_bytes > room { Err(CloseCode::TOO_BIG) } else { Ok(()) }
    }

    fn part(&self, read: usize, wanted: usize) -> Taken {
        let incoming = Incoming::Part { wanted };
        Taken { incoming, payload: self.bytes..self.bytes, spent: self.bytes..read }
    }

    fn finish(&mut self, kind: MessageKind, bytes: &[u8], read: usize) -> Result<Taken, CloseCode> {
        let payload = 0..std::mem::take(&mut self.bytes);
        self.begun = None;
        if kind == MessageKind::Text {
            str::from_utf8(&bytes[payload.clone()]).map_err(|_| CloseCode::INVALID_PAYLOAD)?;
        }
        Ok(Taken { incoming: Incoming::Message(kind), payload, spent: 0..read })
    }

    fn control(
        &self,
        opcode: Opcode,
        bytes: &[u8],
        payload: Range<usize>,
        read: usize,
    ) -> Result<Taken, CloseCode> {
        let spent = self.bytes..read;
        let incoming = match (opcode, &bytes[payload.clone()]) {
            (Opcode::Ping, _) => Incoming::Ping,
            (Opcode::Pong, _) => Incoming::Pong,
            (_, []) => Incoming::Close(None),
            (_, [high, low, reason @ ..]) => {
                let code = CloseCode::new(u16::from_be_bytes([*high, *low]));
                let code = code.ok_or(CloseCode::PROTOCOL_ERROR)?;
                str::from_utf8(reason).map_err(|_| CloseCode::INVALID_PAYLOAD)?;
                let payload = payload.start + 2..payload.end;
                return Ok(Taken { incoming: Incoming::Close(Some(code)), payload, spent });
            }
            (_, [_]) => return Err(CloseCode::PROTOCOL_ERROR),
        };
        Ok(Taken { incoming, payload, spent })
    }
}
