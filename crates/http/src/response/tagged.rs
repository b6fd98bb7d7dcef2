//! HOT PATH
//! Values with their tags, and what became of a write under a condition.
//!
//! ```text
//! *3 $1 0 :-1 $5 value      what CAS.GET replies: version, time to live, value
//! *3 :1 $18 112… _          what CAS.SET … GET replies: done, version, what was there
//! ```

use super::Response;
use super::fields::Fields;
use super::first_line::{Line, number};
use super::lines::{OF_NOTHING, lines_of};
use super::value::{Standing, part_of};
use crate::conditions::{Conditions, DIGESTED_BYTES_MAX, Verdict, unmet};
use crate::digests::digest_of;
use crate::plan::Answer;
use basalt_http1::{ByteRange, ETag, Status, Value};
use basalt_stdx::digest::Digest;

/// A value as its reply begins.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// 0 for none.
    version: u64,
    /// How long it lives, if it does not live for ever.
    left_ms: Option<u64>,
    /// Where the value begins, and its length.
    at: usize,
    len: usize,
}

impl State {
    #[inline]
    fn of(reply: &[u8]) -> Option<State> {
        let (_, rest) = line(reply.strip_prefix(b"*3\r\n$")?)?;
        let (version, rest) = line(rest)?;
        let (left_ms, rest) = line(rest.strip_prefix(b":")?)?;
        let (len, rest) = line(rest.strip_prefix(b"$")?)?;
        let (version, len) = (number(version)?, number(len)? as usize);
        Some(State { version, left_ms: number(left_ms), at: reply.len() - rest.len(), len })
    }

    #[inline]
    fn fields(&self, tag: Option<ETag>) -> Fields<'static> {
        let mut fields = Fields::default();
        if let Some(tag) = tag {
            fields.push("ETag", Value::ETag(tag));
        }
        if let Some(left_ms) = self.left_ms {
            fields.push("Basalt-Ttl-Ms", Value::Number(left_ms));
        }
        fields
    }

    /// The tag of the value, with its digest if there is one.
    #[inline]
    fn tag(&self, digest: impl FnOnce() -> Option<Digest>) -> Option<ETag> {
        match self.version {
            0 if self.len > DIGESTED_BYTES_MAX => None,
            0 => digest().map(|digest| ETag::Digest(digest.number())),
            version => Some(ETag::Version(version)),
        }
    }
}

/// What has become of a write under a condition.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    is_done: bool,
    version: u64,
    previous: Previous,
}

/// What was there before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Previous {
    /// The command does not say.
    Unknown,
    Nothing,
    /// A value of this length, which begins there.
    Value {
        at: usize,
        len: usize,
    },
}

impl Outcome {
    fn of(reply: &[u8]) -> Option<Outcome> {
        let (_, rest) = line(reply.strip_prefix(b"*")?)?;
        let (is_done, rest) = line(rest.strip_prefix(b":")?)?;
        let (_, rest) = line(rest.strip_prefix(b"$")?)?;
        let (version, rest) = line(rest)?;
        let (is_done, version) = (is_done == b"1", number(version)?);
        let previous = match Line::of(rest) {
            Line::Nothing => Previous::Nothing,
            Line::Bulk(at, len) => Previous::Value { at: reply.len() - rest.len() + at, len },
            _ => Previous::Unknown,
        };
        Some(Outcome { is_done, version, previous })
    }
}

/// The first line, and what is behind it.
#[inline]
pub(crate) fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\r')?;
    Some((&bytes[..end], bytes.get(end + 2..)?))
}

/// How a value with its tag is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) range: Option<ByteRange>,
    pub(crate) is_document: bool,
    pub(crate) conditions: Option<&'a Conditions>,
}

impl Response<'_> {
    /// A value, where it stands.
    #[inline]
    pub(crate) fn tagged(&mut self, room: usize, wanted: Wanted<'_>) {
        if self.is_for_page() {
            return self.tagged_elsewhere(room, wanted);
        }
        let mark = self.mark;
        let mut reply = self.reply();
        let Some(copied) = reply.copied_since(mark) else {
            return self.tagged_elsewhere(room, wanted);
        };
        let Some(state) = State::of(&copied[room..]) else {
            let line = Line::of(&copied[room..]);
            return self.no_value(line, wanted.conditions);
        };
        let at = room + state.at;
        let is_copied = copied.len() == at + state.len + 2;
        let tag = if is_copied {
            state.tag(|| Some(Digest::of(&copied[at..at + state.len])))
        } else {
            state.tag(|| reply.last_shared(mark).map(digest_of))
        };
        let standing = Standing { at, len: state.len, is_copied };
        if let Some(range) = self.judged(tag, wanted) {
            self.send(standing, range, lines_of(wanted.is_document), state.fields(tag));
        }
    }

    /// The range to be sent of a value with this tag; `None` if it is not sent.
    #[inline]
    fn judged(&mut self, tag: Option<ETag>, wanted: Wanted<'_>) -> Option<Option<ByteRange>> {
        let Some(conditions) = wanted.conditions else { return Some(wanted.range) };
        let fields = tag.map(|tag| ("ETag", Value::ETag(tag)));
        match conditions.judge(tag) {
            Verdict::Send if conditions.allows_parts(tag) => return Some(wanted.range),
            Verdict::Send => return Some(None),
            Verdict::NotModified => {
                self.write_head(Status::NotModified, OF_NOTHING, fields.as_slice(), None);
            }
            Verdict::Unmet => self.problem_with(&unmet(), fields.as_slice()),
        }
        None
    }

    /// A value that does not lie together with its room, or something else.
    #[cold]
    fn tagged_elsewhere(&mut self, room: usize, wanted: Wanted<'_>) {
        let bytes = self.take();
        let Some(state) = State::of(&bytes[room..]) else {
            return self.no_value(Line::of(&bytes[room..]), wanted.conditions);
        };
        let value = &bytes[room + state.at..][..state.len];
        let tag = state.tag(|| Some(Digest::of(value)));
        let Some(range) = self.judged(tag, wanted) else { return };
        let Some(part) = part_of(state.len, range) else { return self.no_such_part(state.len) };
        let body = &value[part.clone()];
        self.write_value(part, state.len, lines_of(wanted.is_document), state.fields(tag), body);
    }

    #[cold]
    pub(crate) fn no_value(&mut self, line: Line, conditions: Option<&Conditions>) {
        let demands = conditions.is_some_and(Conditions::demands_a_value);
        if line == Line::Nothing && demands {
            self.problem(&unmet())
        } else {
            self.unexpected(line)
        }
    }

    /// What a command replies that writes under a condition: 201 or 204, and 412.
    pub(crate) fn outcome(&mut self, answer: Answer) {
        let mark = self.mark;
        let (outcome, line) = match self.reply().copied_since(mark) {
            Some(copied) => (Outcome::of(copied), Line::of(copied)),
            None => {
                let bytes = self.take();
                (Outcome::of(&bytes), Line::of(&bytes))
            }
        };
        let Some(Outcome { is_done, version, previous }) = outcome else {
            return self.unexpected(line);
        };
        let tag = match (version, previous) {
            (0, Previous::Value { at, len }) if !is_done => self.digest(at, len),
            (0, _) => None,
            (version, _) => Some(ETag::Version(version)),
        };
        let field = tag.map(|tag| ("ETag", Value::ETag(tag)));
        let fields = field.as_slice();
        match (is_done, previous == Previous::Nothing || answer == Answer::Made) {
            (false, _) => self.problem_with(&unmet(), fields),
            (true, true) => self.write(Status::Created, OF_NOTHING, fields, b""),
            (true, false) => self.write_head(Status::NoContent, OF_NOTHING, fields, None),
        }
    }

    /// The tag of a value without a version, which is in the reply from `at` on, if it has one.
    fn digest(&mut self, at: usize, len: usize) -> Option<ETag> {
        let mark = self.mark;
        let mut reply = self.reply();
        if len > DIGESTED_BYTES_MAX {
            return None;
        }
        let digest = match reply.copied_since(mark)?.get(at..at + len) {
            Some(value) => Digest::of(value),
            None => digest_of(reply.last_shared(mark).filter(|shared| shared.len() == len)?),
        };
        Some(ETag::Digest(digest.number()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_commands_write_them() {
        let state = State::of(b"*3\r\n$2\r\n77\r\n:-1\r\n$5\r\nhello\r\n").expect("a state");
        assert_eq!(state, State { version: 77, left_ms: None, at: 21, len: 5 });
        assert_eq!(state.tag(|| None), Some(ETag::Version(77)));
        let state = State::of(b"*3\r\n$1\r\n0\r\n:900\r\n$70000\r\n").expect("a state");
        let tag = state.tag(|| Some(Digest::of(b"")));
        assert_eq!((state.left_ms, state.len, tag), (Some(900), 70_000, None));
        let outcome =
            |reply: &[u8]| Outcome::of(reply).map(|it| (it.is_done, it.version, it.previous));
        let nothing = Some((true, 7, Previous::Nothing));
        assert_eq!(outcome(b"*3\r\n:1\r\n$1\r\n7\r\n_\r\n"), nothing);
        let value = Some((true, 7, Previous::Value { at: 19, len: 1 }));
        assert_eq!(outcome(b"*3\r\n:1\r\n$1\r\n7\r\n$1\r\nv\r\n"), value);
        assert_eq!(outcome(b"*2\r\n:0\r\n$1\r\n0\r\n"), Some((false, 0, Previous::Unknown)));
        for other in [&b"_\r\n"[..], b"-ERR x\r\n", b"", b"*3\r\n", b"*3\r\n$1\r\n"] {
            assert_eq!((State::of(other), Outcome::of(other)), (None, None), "{other:?}");
        }
    }
}
