//! A second front, the least that there can be: requests and replies are lines.
//!
//! ```text
//! 7 SET key some_words\n     ─▶  7 +OK\n          the reply repeats the tag; `_` is a blank
//! 8 ?\n                      ─▶  8 ready\n        answered by the front itself
//! LAST 9 GET key\n           ─▶  9 some words\n   and the end
//! HURRY 9 GET key\n          ─▶  9 some words\n   a client that is refused may not stay
//! D10 SET key x\n            ─▶  D10 +OK\n        when it is on disk
//! ```

use basalt_dispatch::{Durability, Ended, ReplyForm, Terms, Then};
use basalt_net::{Front, Input, Linger, Next};
use basalt_resp::{
    Arg, Output, Protocol, Reply, ReplyMark, RequestLimits, SHARED_BYTES_MIN, Value, decode,
};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::Duration;

/// See the head of this file.
#[derive(Debug, Default)]
pub struct LineFront {
    /// Requests that are parsed and have not begun to run.
    plans: VecDeque<Plan>,
    /// The request that has begun to run, and where its reply begins.
    current: Option<Plan>,
    mark: Option<ReplyMark>,
    /// Its reply comes later.
    is_late: bool,
    /// The tag of the line that is for the front itself.
    asked: String,
    /// A line was no request; its client may go on sending.
    has_refused: bool,
    /// No longer than until that is looked at.
    is_hurried: bool,
}

/// What a client may send behind a line that was refused.
pub const LINGER_BYTES_MAX: usize = 1_000_000;

/// What the front has to know of a request when its reply is there.
#[derive(Debug)]
struct Plan {
    tag: String,
    then: Then,
}

impl Front for LineFront {
    fn next(&mut self, input: &mut Input, limits: &RequestLimits, words: &mut Vec<Arg>) -> Next {
        let start = input.parsed();
        let rest = &input.bytes()[start..];
        let Some(len) = rest.iter().position(|&byte| byte == b'\n') else {
            let is_long = rest.len() > limits.line_bytes_max;
            return if is_long {
                Next::Refused
            } else {
                Next::Incomplete { wanted: rest.len() + 1 }
            };
        };
        let line = rest[..len].to_vec();
        let mut at = start;
        let mut found = Vec::new();
        for word in line.split(|&byte| byte == b' ') {
            found.push(Arg { start: at, len: word.len() });
            at += word.len() + 1;
        }
        let text = |word: &Arg| String::from_utf8_lossy(word.of(input.bytes())).into_owned();
        let is_last = text(&found[0]) == "LAST";
        let then = if is_last { Then::Closes } else { Then::GoesOn };
        let is_hurried = text(&found[0]) == "HURRY";
        self.is_hurried |= is_hurried;
        let found = &found[usize::from(is_last || is_hurried)..];
        let Some((tag, command)) = found.split_first() else { return Next::Refused };
        match command {
            [] => return Next::Refused,
            [word] if text(word) == "?" => {
                self.asked = text(tag);
                return Next::Passed { bytes: len + 1 };
            }
            _ => {}
        }
        self.plans.push_back(Plan { tag: text(tag), then });
        words.extend_from_slice(command);
        if line.contains(&b'_') {
            input.keep(start..start + len);
            let line = &mut input.bytes_mut()[start..start + len];
            line.iter_mut().filter(|byte| **byte == b'_').for_each(|byte| *byte = b' ');
        }
        Next::Request { bytes: len + 1 }
    }

    fn rewind(&mut self) {
        self.plans.clear();
        if !self.is_late {
            self.current = None;
        }
    }

    fn answer(&mut self, out: &mut Output) {
        put(out, &format!("{} ready", self.asked));
    }

    fn refuse(&mut self, out: &mut Output) {
        self.has_refused = true;
        put(out, "! a tag and a command");
    }

    fn linger(&self, _: bool) -> Option<Linger> {
        let time_max = if self.is_hurried { Duration::ZERO } else { Duration::MAX };
        self.has_refused.then_some(Linger { bytes_max: LINGER_BYTES_MAX, time_max })
    }

    fn dismiss(&mut self, error: &str, out: &mut Output) {
        put(out, &format!("! {error}"));
    }

    fn deliver(&mut self, message: Output, out: &mut Output) {
        put(out, &format!("* {}", shown(&message)));
    }

    fn protocol(&self) -> Protocol {
        Protocol::Resp3
    }
}

impl ReplyForm for LineFront {
    fn begin(&mut self, out: &mut Output, _: u64) -> Option<Terms> {
        self.current = self.current.take().or_else(|| self.plans.pop_front());
        self.mark = Some(Reply::new(out, Protocol::Resp3).mark());
        let is_durable = self.current.as_ref().is_some_and(|plan| plan.tag.starts_with('D'));
        let durability = Durability::OnDisk;
        is_durable.then_some(Terms { db: 0, key_wait_max: Duration::MAX, durability })
    }

    fn end(&mut self, ended: Ended, out: &mut Output) -> Then {
        let mark = self.mark.take().expect("it has begun");
        let reply = Reply::new(out, Protocol::Resp3).split_off(mark);
        self.is_late = ended == Ended::AnsweredLater;
        if ended != Ended::Answered {
            assert!(reply.is_empty(), "{}", shown(&reply));
            return Then::GoesOn;
        }
        let Plan { tag, then } = self.current.take().expect("it has been parsed");
        put(out, &format!("{tag} {}", shown(&reply)));
        then
    }
}

fn put(out: &mut Output, line: &str) {
    let mut reply = Reply::new(out, Protocol::Resp3);
    reply.raw(line.as_bytes());
    reply.raw(b"\n");
}

/// What commands have written, as a person would.
fn shown(reply: &Output) -> String {
    let mut slices = [IoSlice::new(&[]); 16];
    let count = reply.io_slices(&mut slices);
    let bytes: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
    let (mut at, mut values) = (0, Vec::new());
    while let Some((value, len)) = decode(&bytes[at..]).expect("a reply") {
        values.push(text(&value));
        at += len;
    }
    assert_eq!(at, bytes.len(), "whole replies");
    values.join(" ")
}

fn text(value: &Value) -> String {
    match value {
        Value::Simple(text) => format!("+{}", String::from_utf8_lossy(text)),
        Value::Error(text) => format!("-{}", String::from_utf8_lossy(text)),
        Value::Bulk(text) if text.len() >= SHARED_BYTES_MIN => format!("{} bytes", text.len()),
        Value::Bulk(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Null => String::from("nothing"),
        Value::Array(values) | Value::Push(values) => {
            let values: Vec<String> = values.iter().map(text).collect();
            format!("[{}]", values.join(" "))
        }
        other => format!("{other:?}"),
    }
}
