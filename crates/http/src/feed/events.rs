//! What a client is told as server-sent events.

use super::note::Note;
use crate::json;
use crate::problem::Problem;
use crate::shape::{begin, bulk, member};
use basalt_http1::base64::{self, Alphabet};
use basalt_http1::sse::{Event, write_comment, write_retry};

/// How long clients wait before they come again, in milliseconds.
const RETRY_MS: u32 = 1000;

/// What the stream of events begins with.
pub(super) fn beginning() -> Vec<u8> {
    let mut out = Vec::new();
    write_retry(RETRY_MS, &mut out);
    out
}

/// A sign of life.
pub(super) fn ping() -> Vec<u8> {
    let mut out = Vec::new();
    write_comment("ping", &mut out);
    out
}

/// Why the stream of events ends.
pub(super) fn problem(problem: &Problem) -> Vec<u8> {
    let mut out = Vec::new();
    put_json("problem", &problem.body(), &mut out);
    out
}

/// Appends what a client is told.
pub(super) fn write(note: &Note<'_>, out: &mut Vec<u8>) {
    match *note {
        Note::Entry { id, data: Some(data), .. } => put_body(Some(id), data, out),
        Note::Entry { id, fields, .. } => {
            let fields = json::of_reply(fields, usize::MAX).unwrap_or_default();
            let (id, data) = (str::from_utf8(id).ok(), str::from_utf8(&fields).unwrap_or_default());
            Event { id, name: Some("fields"), data }.write(out);
        }
        Note::Delivery { token, body, numbers } => {
            let mut reply = Vec::new();
            begin(&mut reply, 5);
            member(&mut reply, "token", b"");
            bulk(&mut reply, token);
            member(&mut reply, "body", b"");
            bulk(&mut reply, body);
            for (name, number) in ["deliveries", "put_ms", "priority"].into_iter().zip(numbers) {
                member(&mut reply, name, number);
            }
            put_json("json", &json::of_reply(&reply, usize::MAX).unwrap_or_default(), out);
        }
        Note::Message { body, pattern: None, .. } => put_body(None, body, out),
        Note::Message { channel, body, pattern: Some(_) } => {
            let mut reply = Vec::new();
            begin(&mut reply, 2);
            for (name, value) in [("channel", channel), ("body", body)] {
                member(&mut reply, name, b"");
                bulk(&mut reply, value);
            }
            put_json("json", &json::of_reply(&reply, usize::MAX).unwrap_or_default(), out);
        }
    }
}

/// Bytes, which may be text.
fn put_body(id: Option<&[u8]>, body: &[u8], out: &mut Vec<u8>) {
    let id = id.and_then(|id| str::from_utf8(id).ok());
    // A carriage return would come out as a line feed.
    if let Ok(data) = str::from_utf8(body)
        && !body.contains(&b'\r')
    {
        return Event { id, name: None, data }.write(out);
    }
    let mut encoded = Vec::new();
    base64::encode(body, Alphabet::Standard, &mut encoded);
    let data = str::from_utf8(&encoded).unwrap_or_default();
    Event { id, name: Some("b64"), data }.write(out);
}

fn put_json(name: &'static str, json: &[u8], out: &mut Vec<u8>) {
    let data = str::from_utf8(json).unwrap_or_default();
    Event { id: None, name: Some(name), data }.write(out);
}
