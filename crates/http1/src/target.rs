//! HOT PATH
//! The parts of a target, as they came: they are taken apart before they are decoded, so that an
//! encoded slash, `&` or `=` belongs to its part.
//!
//! Deliberately not here: `.` and `..` mean nothing. Clients resolve them (RFC 3986, section
//! 5.2.4); what still comes with them names a key like any other.

use std::ops::Range;

/// One parameter of a query, as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Where its name is in the query.
    pub name: Range<usize>,
    /// Where its value is. Empty if there is none.
    pub value: Range<usize>,
}

/// The segments of a path (RFC 3986, section 3.3), as ranges of it: what is between and behind its
/// slashes. A path without a slash has one empty segment, as `/` has.
#[inline]
pub fn segments(path: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let start = path.len().min(1);
    pieces(path, start, b'/')
}

/// The parameters of a query (URL Standard, section 5.1), in their order.
#[inline]
pub fn parameters(query: &[u8]) -> impl Iterator<Item = Parameter> {
    pieces(query, 0, b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        let sign = memchr::memchr(b'=', &query[pair.clone()]);
        let name_end = sign.map_or(pair.end, |at| pair.start + at);
        Parameter { name: pair.start..name_end, value: (name_end + 1).min(pair.end)..pair.end }
    })
}

/// What is between the separators behind `start`, as ranges of `bytes`; one more than there are
/// separators.
fn pieces(bytes: &[u8], start: usize, separator: u8) -> impl Iterator<Item = Range<usize>> {
    let mut next = Some(start);
    std::iter::from_fn(move || {
        let start = next?;
        let end = memchr::memchr(separator, &bytes[start..]).map(|at| start + at);
        next = end.map(|end| end + 1);
        Some(start..end.unwrap_or(bytes.len()))
    })
}
