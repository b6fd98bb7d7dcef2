//! Members with their tags.
//!
//! ```text
//! *2 $1 0 :-1          what CAS.SISMEMBER replies: version, time to live
//! *3 $1 0 :-1 ,1.5     what CAS.ZSCORE replies: version, time to live, score
//! ```

use super::Response;
use super::fields::Fields;
use super::first_line::{Line, number};
use super::lines::{OF_JSON, OF_NOTHING};
use super::tagged::line;
use crate::conditions::{Conditions, Verdict, unmet};
use crate::json;
use basalt_http1::{ETag, Status, Value};

/// A member as its reply says.
#[derive(Debug, PartialEq, Eq)]
struct Element<'a> {
    /// 0 for none.
    version: u64,
    /// How long it lives, if it does not live for ever.
    left_ms: Option<u64>,
    /// The score as it was replied, if it has one.
    score: &'a [u8],
}

impl Element<'_> {
    fn of(reply: &[u8]) -> Option<Element<'_>> {
        let (count, rest) = line(reply.strip_prefix(b"*")?)?;
        let (_, rest) = line(rest.strip_prefix(b"$")?)?;
        let (version, rest) = line(rest)?;
        let (left_ms, score) = line(rest.strip_prefix(b":")?)?;
        let is_whole = match count {
            b"2" => score.is_empty(),
            b"3" => score.starts_with(b","),
            _ => false,
        };
        let version = number(version).filter(|_| is_whole)?;
        Some(Element { version, left_ms: number(left_ms), score })
    }

    /// A member has no tag before it has a version: there is nothing else that could change.
    fn tag(&self) -> Option<ETag> {
        (self.version != 0).then_some(ETag::Version(self.version))
    }
}

impl Response<'_> {
    /// A member, with its tag.
    pub(crate) fn element(&mut self, conditions: Option<&Conditions>) {
        let bytes = self.take();
        let Some(element) = Element::of(&bytes) else {
            return self.no_value(Line::of(&bytes), conditions);
        };
        let tag = element.tag();
        let mut fields = Fields::default();
        if let Some(tag) = tag {
            fields.push("ETag", Value::ETag(tag));
        }
        let verdict = conditions.map_or(Verdict::Send, |conditions| conditions.judge(tag));
        match verdict {
            Verdict::NotModified => {
                self.write_head(Status::NotModified, OF_NOTHING, fields.as_slice(), None);
            }
            Verdict::Unmet => self.problem_with(&unmet(), fields.as_slice()),
            Verdict::Send => {
                if let Some(left_ms) = element.left_ms {
                    fields.push("Basalt-Ttl-Ms", Value::Number(left_ms));
                }
                self.send_element(&element, fields.as_slice());
            }
        }
    }

    fn send_element(&mut self, element: &Element<'_>, fields: &[(&'static str, Value<'_>)]) {
        if element.score.is_empty() {
            return self.write_head(Status::NoContent, OF_NOTHING, fields, None);
        }
        let score = json::of_reply(element.score, usize::MAX).unwrap_or_default();
        let body = [&b"{\"score\":"[..], &score, b"}"].concat();
        self.write(Status::Ok, OF_JSON, fields, &body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_commands_write_them() {
        let member = Element::of(b"*2\r\n$2\r\n77\r\n:-1\r\n").expect("a member");
        assert_eq!(member, Element { version: 77, left_ms: None, score: b"" });
        assert_eq!(member.tag(), Some(ETag::Version(77)));
        let scored = Element::of(b"*3\r\n$1\r\n0\r\n:900\r\n,1.5\r\n").expect("a member");
        assert_eq!(
            (scored.left_ms, scored.score, scored.tag()),
            (Some(900), &b",1.5\r\n"[..], None)
        );
        for other in [&b"_\r\n"[..], b"-ERR x\r\n", b"", b"*2\r\n", b"*3\r\n$1\r\n0\r\n:1\r\n"] {
            assert_eq!(Element::of(other), None, "{other:?}");
        }
    }
}
