//! HOT PATH
//! The head of a value that has no version and does not expire: all of it but the digest, the date
//! and the length is written before the value is there, in the room for it.
//!
//! ```text
//! │ room                                                  │ what CAS.GET replies            │
//! HTTP/1.1 200 OK\r\n … ETag: "d", Date:, Content-Length:  *3 $1 0 :-1 $1024\r\n value \r\n
//! HTTP/1.1 200 OK\r\n … ETag: "d9555…", Date: Sun …, Content-Length:    1024\r\n\r\n value
//! ```
//! If the reply is something else, or has its value elsewhere, nothing is done here, and a head is
//! written over all of the room as if nothing had been there.

use super::first_line::number;
use super::lines::OF_VALUES;
use crate::plan::{Answer, Ending, Plan};
use basalt_http1::{Connection, DATE_BYTES, Date};
use basalt_resp::{Output, Protocol, Reply, ReplyMark};
use basalt_stdx::digest::{DIGITS, Digest};

/// Room for the head of a plain value.
pub(super) const ROOM: usize = 336;

const STATUS: &str = "HTTP/1.1 200 OK\r\n";
const TAG: &str = "ETag: \"d";
const DATE: &str = "\"\r\nDate: ";
const LENGTH: &str = "\r\nContent-Length: ";
const DIGITS_AT: usize = STATUS.len() + OF_VALUES.len() + TAG.len();
const DATE_AT: usize = DIGITS_AT + DIGITS + DATE.len();
const LENGTH_AT: usize = DATE_AT + DATE_BYTES;
const END: &[u8] = b"\r\n\r\n";

/// What the reply begins with: no version, no expiry.
const REPLY: &[u8] = b"*3\r\n$1\r\n0\r\n:-1\r\n$";

static STENCIL: [u8; ROOM] = {
    let mut stencil = [b' '; ROOM];
    stencil = written(stencil, 0, STATUS);
    stencil = written(stencil, STATUS.len(), OF_VALUES);
    stencil = written(stencil, STATUS.len() + OF_VALUES.len(), TAG);
    stencil = written(stencil, DIGITS_AT + DIGITS, DATE);
    written(stencil, LENGTH_AT, LENGTH)
};

const fn written(mut stencil: [u8; ROOM], at: usize, text: &str) -> [u8; ROOM] {
    let mut index = 0;
    while index < text.len() {
        stencil[at + index] = text.as_bytes()[index];
        index += 1;
    }
    stencil
}

/// Whether the response will most likely have such a head.
#[inline]
pub(crate) fn is_for(plan: &Plan) -> bool {
    const ENDING: Ending =
        Ending { connection: Connection::Unsaid, is_without_body: false, origin: None };
    matches!(plan.answer, Answer::Tagged { range: None, is_document: false })
        && plan.ending == ENDING
        && plan.conditions.is_none()
}

/// Leaves room with the head in it.
#[inline]
pub(crate) fn begin(out: &mut Output) {
    Reply::new(out, Protocol::Resp3).raw(&STENCIL);
}

/// Makes the response of what has been written since the mark, if that is room with such a head and
/// a value of which it is the head; returns true if so.
#[inline]
pub(crate) fn finish(mark: ReplyMark, date: &Date, out: &mut Output) -> bool {
    let mut reply = Reply::new(out, Protocol::Resp3);
    let is_done = reply.copied_since(mark).is_some_and(|copied| fill(copied, date).is_some());
    if is_done {
        reply.shorten(END.len() / 2);
    }
    is_done
}

/// Fills in what was not known before; `None` if the reply is another one.
#[inline]
fn fill(copied: &mut [u8], date: &Date) -> Option<()> {
    let length = copied.get(ROOM..)?.strip_prefix(REPLY)?;
    let digits = length.iter().position(|&byte| byte == b'\r')?;
    let len = number(&length[..digits])? as usize;
    let length_at = ROOM + REPLY.len();
    let at = length_at + digits + 2;
    let value = copied.get(at..at + len).filter(|_| copied.len() == at + len + 2)?;
    let digest = Digest::of(value).digits();
    copied[DIGITS_AT..DIGITS_AT + DIGITS].copy_from_slice(&digest);
    copied[DATE_AT..DATE_AT + DATE_BYTES].copy_from_slice(date.text());
    let end = at - END.len();
    copied.copy_within(length_at..length_at + digits, end - digits);
    copied[ROOM..end - digits].fill(b' ');
    copied[end..at].copy_from_slice(END);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_http1::{ETag, ResponseHead, Status, Value};

    /// What a reply becomes; `None` if it stays as it is.
    fn response(reply: &[u8]) -> Option<Vec<u8>> {
        let (mut out, date) = (Output::new(), Date::new(784_111_777_000));
        let mut written = Reply::new(&mut out, Protocol::Resp3);
        written.raw(b"+before\r\n");
        let mark = written.mark();
        begin(&mut out);
        Reply::new(&mut out, Protocol::Resp3).raw(reply);
        let is_done = finish(mark, &date, &mut out);
        let bytes = Reply::new(&mut out, Protocol::Resp3).copied_since(mark)?.to_vec();
        assert!(is_done || bytes == [&STENCIL[..], reply].concat());
        is_done.then_some(bytes)
    }

    #[test]
    fn the_head_is_the_one_that_would_be_written_over_the_room() {
        for len in [0, 1, 9, 10, 1024, 16_383] {
            let value = vec![b'v'; len];
            let header = format!("*3\r\n$1\r\n0\r\n:-1\r\n${len}\r\n");
            let reply = [header.as_bytes(), &value, b"\r\n"].concat();
            let digest = Digest::of(&value);
            let head = ResponseHead {
                status: Status::Ok,
                lines: OF_VALUES,
                fields: &[("ETag", Value::ETag(ETag::Digest(digest.number())))],
                connection: Connection::Unsaid,
                date: &Date::new(784_111_777_000),
                content_length: Some(len as u64),
            };
            let mut expected = vec![0; ROOM + header.len()];
            assert!(head.write_over(&mut expected));
            expected.extend_from_slice(&value);
            assert_eq!(response(&reply), Some(expected), "{len}");
        }
    }

    #[test]
    fn other_replies_are_left_to_others() {
        for reply in [
            &b""[..],
            b"_\r\n",
            b"-ERR x\r\n",
            b"*3\r\n$1\r\n7\r\n:-1\r\n$1\r\nv\r\n",
            b"*3\r\n$1\r\n0\r\n:90\r\n$1\r\nv\r\n",
            // The value is not copied.
            b"*3\r\n$1\r\n0\r\n:-1\r\n$20000\r\n\r\n",
            b"*3\r\n$1\r\n0\r\n:-1\r\n$1",
        ] {
            assert_eq!(response(reply), None, "{}", reply.escape_ascii());
        }
    }
}
