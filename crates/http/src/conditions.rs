//! What a read demands of the tag that the value has now (RFC 9110, section 13).

use crate::problem::Problem;
use basalt_http1::{Comparison, ETag, ETags, Field, Head, if_range_holds};

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
