//! What a read demands of the tag that the value has now, and what a write does (RFC 9110, section
//! 13).

use crate::problem::Problem;
use basalt_http1::{Comparison, ETag, ETags, Field, Head, Several, Status, if_range_holds};
use std::borrow::Cow;

/// Longest value that has a tag without a version: the digest of a longer one would take longer
/// than the rest of its response.
pub(crate) const DIGESTED_BYTES_MAX: usize = 64 << 10;

/// The fields, as they came: words are written over the head before the value is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Conditions {
    if_match: Option<Box<[u8]>>,
    if_none_match: Option<Box<[u8]>>,
    if_range: Option<Box<[u8]>>,
}

/// What becomes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It is sent.
    Send,
    /// The client has it: 304.
    NotModified,
    /// It is not what the client wants: 412.
    Unmet,
}

impl Conditions {
    /// What the fields of a read demand; `None` if there are none.
    ///
    /// # Errors
    /// They are no lists of tags.
    pub(crate) fn of(head: &Head, bytes: &[u8]) -> Result<Option<Box<Conditions>>, Problem> {
        let field = |field| head.field(field).map(|range| Box::from(&bytes[range]));
        let conditions = Conditions {
            if_match: field(Field::IfMatch),
            if_none_match: field(Field::IfNoneMatch),
            if_range: field(Field::IfRange),
        };
        for list in [&conditions.if_match, &conditions.if_none_match].into_iter().flatten() {
            ETags::parse(list)?;
        }
        let Conditions { if_match, if_none_match, if_range } = &conditions;
        let is_any = if_match.is_some() || if_none_match.is_some() || if_range.is_some();
        Ok(is_any.then(|| Box::new(conditions)))
    }

    /// What becomes of a value that has this tag.
    pub(crate) fn judge(&self, current: Option<ETag>) -> Verdict {
        let names = |list: &Option<Box<[u8]>>, comparison| {
            let tags = ETags::parse(list.as_deref()?).ok()?;
            Some(match current {
                Some(current) => tags.include(current, comparison),
                None => tags == ETags::Any,
            })
        };
        if names(&self.if_match, Comparison::Strong) == Some(false) {
            Verdict::Unmet
        } else if names(&self.if_none_match, Comparison::Weak) == Some(true) {
            Verdict::NotModified
        } else {
            Verdict::Send
        }
    }

    /// It is an error if there is no value.
    pub(crate) fn demands_a_value(&self) -> bool {
        self.if_match.is_some()
    }

    /// A part of a value with this tag fits what the client has.
    pub(crate) fn allows_parts(&self, current: Option<ETag>) -> bool {
        let holds = |field: &[u8]| current.is_some_and(|current| if_range_holds(field, current));
        self.if_range.as_deref().is_none_or(holds)
    }
}

/// What a write demands of what is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Missing,
    There,
    /// It is the value's.
    Tag(ETag),
}

impl Condition {
    /// The words of it, as the options of CAS commands.
    pub(crate) fn words(self) -> Cow<'static, str> {
        match self {
            Condition::Missing => Cow::Borrowed("NX"),
            Condition::There => Cow::Borrowed("XX"),
            Condition::Tag(ETag::Version(version)) => Cow::Owned(format!("IF {version}")),
            Condition::Tag(ETag::Digest(digest)) => Cow::Owned(format!("IFDEQ {digest:016x}")),
        }
    }
}

/// What a write demands, if anything. A tag that is none of ours is no value's.
pub(crate) fn condition(head: &Head, bytes: &[u8]) -> Result<Option<Condition>, Problem> {
    let tags = |field| head.field(field).map(|range| ETags::parse(&bytes[range])).transpose();
    let if_match = tags(Field::IfMatch)?;
    let if_none_match = tags(Field::IfNoneMatch)?;
    let several = |Several| Problem::bad_request("name one entity tag");
    match (if_match, if_none_match) {
        (Some(ETags::Any), Some(ETags::Any)) => Err(unmet()),
        (Some(tags @ ETags::OneOf(_)), _) => {
            match tags.only().map_err(several)? {
                // No key has the version 0.
                None | Some(ETag::Version(0)) => Err(unmet()),
                Some(tag) => Ok(Some(Condition::Tag(tag))),
            }
        }
        (Some(ETags::Any), _) => Ok(Some(Condition::There)),
        (None, Some(ETags::Any)) => Ok(Some(Condition::Missing)),
        (None, Some(ETags::OneOf(_)) | None) => Ok(None),
    }
}

/// The condition of the request does not hold.
pub(crate) fn unmet() -> Problem {
    Problem::new(Status::PreconditionFailed, "CONDITION", "the condition of the request is not met")
}
