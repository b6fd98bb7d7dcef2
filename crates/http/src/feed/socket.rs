//! A client that has made a WebSocket of its connection: its frames, and those that it is sent.
//!
//! ```text
//! frames ─▶ pings, pongs: done with at once ─▶ a message, or the end: heard ─▶ orders.rs
//! ```
//! Nothing is heard before what was heard last has been dealt with. Of several pings that have come
//! together the last is answered (RFC 6455, section 5.5.3).

use super::note::Note;
use crate::json;
use crate::shape::{begin, bulk, member};
use basalt_env::Instant;
use basalt_http1::{
    CloseCode, FrameKind, Incoming, MessageKind, MessageReader, Taken, write_close,
    write_frame_head,
};
use basalt_net::Input;
use std::ops::Range;
use std::time::Duration;

/// Control frames that may come within one message.
const CONTROLS_WITHIN_MAX: usize = 32;

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct Socket {
    /// What the client's key is answered with.
    pub(super) accept: String,
    reader: MessageReader,
    /// What is to be dealt with.
    pub(super) heard: Option<Heard>,
    /// The payload of the last ping, if it has not been answered.
    ping: Option<Vec<u8>>,
    /// Control frames since the last message.
    controls: usize,
    /// When the client was asked whether it is there, and whether it has sent anything since.
    pinged: Option<Instant>,
    is_there: bool,
}

/// What a client has said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// A message.
    Message {
        kind: MessageKind,
        /// Where it is, behind where its frames begin.
        payload: Range<usize>,
        /// Bytes of its frames.
        bytes: usize,
    },
    /// It ends, or has done what nobody may.
    End(CloseCode),
}

/// What a look at the client's bytes has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// Something is to be dealt with.
    Heard,
    /// Nothing that is whole; there must be `wanted` bytes before there can be.
    Part { wanted: usize },
}

impl Socket {
    pub(super) fn new(accept: String) -> Socket {
        Socket {
            accept,
            reader: MessageReader::new(),
            heard: None,
            ping: None,
            controls: 0,
            pinged: None,
            is_there: true,
        }
    }

    /// Looks at the bytes from `start` on, and removes what is done with.
    pub(super) fn look(&mut self, input: &mut Input, start: usize, bytes_max: usize) -> Look {
        if self.heard.is_some() {
            return Look::Heard;
        }
        let mut at = start;
        let look = self.go_through(input, &mut at, bytes_max);
        if at > start {
            input.remove(start..at);
        }
        look
    }

    fn go_through(&mut self, input: &mut Input, at: &mut usize, bytes_max: usize) -> Look {
        loop {
            let bytes = &mut input.bytes_mut()[*at..];
            if bytes.is_empty() {
                return Look::Part { wanted: 1 };
            }
            let there = bytes.len();
            let Taken { incoming, payload, spent } = match self.reader.take(bytes, bytes_max) {
                Ok(taken) => taken,
                Err(code) => return self.hear(Heard::End(code)),
            };
            match incoming {
                Incoming::Message(kind) => {
                    self.controls = 0;
                    return self.hear(Heard::Message { kind, payload, bytes: spent.end });
                }
                Incoming::Close(code) => {
                    return self.hear(Heard::End(code.unwrap_or(CloseCode::NORMAL)));
                }
                Incoming::Part { wanted } => {
                    let wanted = there - spent.len() + wanted;
                    input.remove(*at + spent.start..*at + spent.end);
                    return Look::Part { wanted };
                }
                Incoming::Ping => self.ping = Some(bytes[payload].to_vec()),
                Incoming::Pong => {}
            }
            self.is_there = true;
            if spent.start == 0 {
                *at += spent.end;
                continue;
            }
            self.controls += 1;
            if self.controls > CONTROLS_WITHIN_MAX {
                return self.hear(Heard::End(CloseCode::POLICY));
            }
            input.remove(*at + spent.start..*at + spent.end);
        }
    }

    fn hear(&mut self, heard: Heard) -> Look {
        self.is_there = true;
        self.heard = Some(heard);
        Look::Heard
    }

    /// Appends the answer to the last ping, if it is due; returns true if it is.
    pub(super) fn answer_ping(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(payload) = self.ping.take() else { return false };
        write_frame_head(FrameKind::Pong, payload.len(), out);
        out.extend_from_slice(&payload);
        true
    }

    /// Asks the client whether it is there, if that has not been asked for that long. Returns false
    /// if it has been asked and has said nothing since.
    pub(super) fn ask(&mut self, now: Instant, every: Duration, out: &mut Vec<u8>) -> bool {
        let last = *self.pinged.get_or_insert(now);
        if now - last < every {
            return true;
        }
        self.pinged = Some(now);
        write_frame_head(FrameKind::Ping, 0, out);
        std::mem::replace(&mut self.is_there, false)
    }
}

/// Appends a message that is text.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    write_frame_head(FrameKind::Text, text.len(), out);
    out.extend_from_slice(text);
}

/// Appends the end.
pub(super) fn write_end(code: CloseCode, reason: &str, out: &mut Vec<u8>) {
    write_close(code, reason, out);
}

/// Appends what a client is told.
pub(super) fn write(note: &Note<'_>, out: &mut Vec<u8>) {
    match *note {
        Note::Entry { id, fields, .. } => {
            let mut reply = beginning("entry", 3);
            put(&mut reply, "id", id);
            member(&mut reply, "fields", fields);
            write_reply(&reply, out);
        }
        Note::Message { channel, pattern, body } => {
            let members = 3 + usize::from(pattern.is_some());
            let mut reply = beginning("message", members);
            put(&mut reply, "channel", channel);
            if let Some(pattern) = pattern {
                put(&mut reply, "pattern", pattern);
            }
            write_with_body(reply, body, out);
        }
        Note::Delivery { token, body, numbers } => {
            let mut reply = beginning("message", 6);
            put(&mut reply, "token", token);
            for (name, number) in ["deliveries", "put_ms", "priority"].into_iter().zip(numbers) {
                member(&mut reply, name, number);
            }
            write_with_body(reply, body, out);
        }
    }
}

fn beginning(op: &str, members: usize) -> Vec<u8> {
    let mut reply = Vec::new();
    begin(&mut reply, members);
    put(&mut reply, "op", op.as_bytes());
    reply
}

fn put(reply: &mut Vec<u8>, name: &str, value: &[u8]) {
    member(reply, name, b"");
    bulk(reply, value);
}

/// Appends a message that ends with a body, or with the news that the body is the next one.
fn write_with_body(mut reply: Vec<u8>, body: &[u8], out: &mut Vec<u8>) {
    if str::from_utf8(body).is_ok() {
        put(&mut reply, "body", body);
        return write_reply(&reply, out);
    }
    member(&mut reply, "binary", b"#t\r\n");
    write_reply(&reply, out);
    write_frame_head(FrameKind::Binary, body.len(), out);
    out.extend_from_slice(body);
}

fn write_reply(reply: &[u8], out: &mut Vec<u8>) {
    write_text(&json::of_reply(reply, usize::MAX).unwrap_or_default(), out);
}
