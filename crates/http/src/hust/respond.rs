//! Replies become responses of huststore's interface.

use super::answer::Answered;
use super::talk::{Profile, ValueForm};
use super::talks::{Next, Talks};
use crate::flat::flat;
use crate::problem::Problem;
use crate::response::Response;
use crate::response::fields::Fields;
use crate::response::first_line::Line;
use crate::response::value::Standing;
use basalt_http1::Value;
use basalt_resp::Value as Reply;

/// Of every answer. A browser shows it as text, and runs nothing of it.
const OF_TEXTS: &str = "Content-Type: text/plain\r\nX-Content-Type-Options: nosniff\r\n\
                        Content-Security-Policy: sandbox\r\nCache-Control: no-store\r\n";

impl Response<'_> {
    /// Writes an answer.
    pub(crate) fn answered(&mut self, answered: Answered, profile: Profile) {
        let answered = answered.seen_by(profile);
        let Answered { status, version, is_refused, fields, body, reason, .. } = &answered;
        let mut all: Vec<(&'static str, Value<'_>)> = Vec::new();
        if let Some(version) = version {
            all.push(("Version", Value::Number(*version)));
        }
        if let Some(is_refused) = is_refused {
            let text: &[u8] = if *is_refused { b"true" } else { b"false" };
            all.push(("VerError", Value::Text(text)));
        }
        all.extend(fields.iter().map(|(name, value)| (*name, Value::Text(value.as_bytes()))));
        if let Some(reason) = reason {
            all.push(("Basalt-Error", Value::Text(reason.as_bytes())));
        }
        self.write(*status, OF_TEXTS, &all, body);
    }

    /// Answers with the reply that has come; returns false if another command comes first.
    pub(crate) fn hust(&mut self, room: usize, talks: &mut Talks) -> bool {
        let form = talks.value_form();
        if form.is_some_and(|form| self.hust_value(room, form)) {
            talks.end();
            return true;
        }
        let Some(value) = self.heard(room, talks.lists()) else {
            talks.end();
            self.answered(Answered::unexpected(), Profile::Node);
            return true;
        };
        match talks.hear(value) {
            Some(Next::Answer(answered, profile)) => {
                self.answered(answered, profile);
                true
            }
            Some(Next::Again) => false,
            None => {
                self.answered(Answered::unexpected(), Profile::Node);
                true
            }
        }
    }

    /// Takes the reply out; an error in its place if it is too large for a listing.
    fn heard(&mut self, room: usize, lists: bool) -> Option<Reply> {
        let mark = self.mark;
        let taken = self.reply().split_off(mark);
        let most = self.circumstances.json_bytes_max;
        if lists && taken.len() > most {
            let problem = Problem::reply_too_large(most);
            return Some(Reply::Error(format!("{} {}", problem.code, problem.detail).into()));
        }
        let reply = flat(taken);
        let (value, _) = basalt_resp::decode(reply.get(room..)?).ok()??;
        Some(value)
    }

    /// Sends a value where it stands; returns false if the reply is none.
    fn hust_value(&mut self, room: usize, form: ValueForm) -> bool {
        let mark = self.mark;
        let is_for_page = self.is_for_page();
        let mut reply = self.reply();
        let Some(copied) = reply.copied_since(mark).filter(|_| !is_for_page) else {
            return self.hust_value_elsewhere(room, form);
        };
        let Some((at, len, version)) = standing(&copied[room..], form) else { return false };
        let at = room + at;
        let standing = Standing { at, len, is_copied: copied.len() == at + len + 2 };
        self.send(standing, None, OF_TEXTS, fields(version));
        true
    }

    /// Sends a value that does not lie together with its room, or with a longer head.
    #[cold]
    fn hust_value_elsewhere(&mut self, room: usize, form: ValueForm) -> bool {
        let bytes = self.take();
        let Some((at, len, version)) = standing(&bytes[room..], form) else {
            self.reply().raw(&bytes);
            return false;
        };
        let body = &bytes[room + at..room + at + len];
        self.write_value(0..len, len, OF_TEXTS, fields(version), body);
        true
    }
}

fn fields(version: Option<u64>) -> Fields<'static> {
    let mut fields = Fields::default();
    if let Some(version) = version {
        fields.push("Version", Value::Number(version));
    }
    fields
}

/// Where the value is in a reply, how long it is, and its version; `None` if the reply is none.
fn standing(reply: &[u8], form: ValueForm) -> Option<(usize, usize, Option<u64>)> {
    if form == ValueForm::Bare {
        let Line::Bulk(at, len) = Line::of(reply) else { return None };
        return Some((at, len, None));
    }
    let (_, rest) = line(reply.strip_prefix(b"*3\r\n$")?)?;
    let (version, rest) = line(rest)?;
    let (_, rest) = line(rest)?;
    let Line::Bulk(at, len) = Line::of(rest) else { return None };
    let version = str::from_utf8(version).ok()?.parse().ok()?;
    Some((reply.len() - rest.len() + at, len, Some(version)))
}

/// The first line, and what is behind it.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\r')?;
    Some((&bytes[..end], bytes.get(end + 2..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_replies() {
        let reply = b"*3\r\n$2\r\n17\r\n:-1\r\n$3\r\nabc\r\n";
        assert_eq!(standing(reply, ValueForm::Versioned), Some((21, 3, Some(17))));
        assert_eq!(standing(b"$3\r\nabc\r\n", ValueForm::Bare), Some((4, 3, None)));
        for reply in [&b"_\r\n"[..], b"-ERR no\r\n", b"*2\r\n:1\r\n$1\r\n0\r\n", b"$3\r\nabc\r\n"] {
            assert_eq!(standing(reply, ValueForm::Versioned), None);
        }
        assert_eq!(standing(b"_\r\n", ValueForm::Bare), None);
    }
}
