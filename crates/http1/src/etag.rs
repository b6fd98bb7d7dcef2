//! Entity tags (RFC 9110, section 8.8.3) and the conditions that name them (section 13.1).
//!
//! ```text
//! ETag: "v7"                    the version of a key
//! ETag: "d00000000c0ffee00"     the digest of a value that has no version
//! If-None-Match: W/"v7", "x"    those of others are read over
//! ```
//! All of ours are strong: equal tags mean equal bytes.

use crate::refusal::Refusal;
use memchr::memchr;

/// Longest text of an [`ETag`].
pub const ETAG_BYTES_MAX: usize = "\"v18446744073709551615\"".len();

/// Which state of a value it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ETag {
    /// The version, given once and never again.
    Version(u64),
    /// A digest of the bytes.
    Digest(u64),
}

impl ETag {
    /// Writes it into `buffer`, with its quotes, and returns it.
    #[inline]
    pub fn text(self, buffer: &mut [u8; ETAG_BYTES_MAX]) -> &[u8] {
        let mut digits = itoa::Buffer::new();
        let hex;
        let (letter, text) = match self {
            ETag::Version(version) => (b'v', digits.format(version).as_bytes()),
            ETag::Digest(digest) => {
                hex = hex_digits(digest);
                (b'd', &hex[..])
            }
        };
        let len = text.len() + 3;
        buffer[..2].copy_from_slice(&[b'"', letter]);
        buffer[2..len - 1].copy_from_slice(text);
        buffer[len - 1] = b'"';
        &buffer[..len]
    }
}

fn hex_digits(number: u64) -> [u8; 16] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|at| DIGITS[(number >> (60 - 4 * at) & 15) as usize])
}

/// When two tags are the same (RFC 9110, section 8.8.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Both are strong: for `If-Match` and `If-Range`.
    Strong,
    /// One may be weak: for `If-None-Match`.
    Weak,
}

/// More tags are named than one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Several;

/// What `If-Match` or `If-None-Match` names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ETags<'a> {
    /// `*`: whatever there is.
    Any,
    /// One of these.
    OneOf(ETagList<'a>),
}

/// A list of tags that has been found to be one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ETagList<'a> {
    value: &'a [u8],
}

impl<'a> ETags<'a> {
    /// Reads the value of the field.
    pub fn parse(value: &'a [u8]) -> Result<ETags<'a>, Refusal> {
        if value == b"*" {
            return Ok(ETags::Any);
        }
        let (mut rest, mut count) = (value, 0);
        while let Some((_, behind)) = next_tag(rest)? {
            rest = behind;
            count += 1;
        }
        if count == 0 {
            return Err(Refusal::ETagMalformed);
        }
        Ok(ETags::OneOf(ETagList { value }))
    }

    /// The one tag that they are, if it could be one of ours.
    ///
    /// # Errors
    /// There are several.
    pub fn only(&self) -> Result<Option<ETag>, Several> {
        let ETags::OneOf(ETagList { value }) = self else { return Ok(None) };
        // There is no error in a list that has been found to be one.
        let Ok(Some((tag, behind))) = next_tag(value) else { return Ok(None) };
        match next_tag(behind) {
            Ok(None) => Ok(tag.own()),
            _ => Err(Several),
        }
    }

    /// Whether they include what there is now.
    pub fn include(&self, current: ETag, comparison: Comparison) -> bool {
        match self {
            ETags::Any => true,
            ETags::OneOf(list) => list.includes(current, comparison),
        }
    }
}

impl ETagList<'_> {
    fn includes(&self, current: ETag, comparison: Comparison) -> bool {
        let mut rest = self.value;
        // There is no error in a list that has been found to be one.
        while let Ok(Some((tag, behind))) = next_tag(rest) {
            if tag.is(current, comparison) {
                return true;
            }
            rest = behind;
        }
        false
    }
}

/// Whether `If-Range` (RFC 9110, section 13.1.5) holds: whether the client has a part of what there
/// is now. If not, `Range` is ignored. A date never holds, for no response has `Last-Modified`.
pub fn if_range_holds(value: &[u8], current: ETag) -> bool {
    match next_tag(value) {
        Ok(Some((tag, []))) => tag.is(current, Comparison::Strong),
        _ => false,
    }
}

/// A tag as a client sent it.
struct Tag<'a> {
    is_weak: bool,
    /// With its quotes.
    opaque: &'a [u8],
}

impl Tag<'_> {
    /// The tag, if it is strong and spelled as we spell ours.
    fn own(&self) -> Option<ETag> {
        let text = str::from_utf8(self.opaque).ok()?.strip_prefix('"')?.strip_suffix('"')?;
        let tag = match (text.split_at_checked(1)?, self.is_weak) {
            (("v", digits), false) => ETag::Version(digits.parse().ok()?),
            (("d", digits), false) => ETag::Digest(u64::from_str_radix(digits, 16).ok()?),
            _ => return None,
        };
        self.is(tag, Comparison::Strong).then_some(tag)
    }

    fn is(&self, current: ETag, comparison: Comparison) -> bool {
        let is_comparable = comparison == Comparison::Weak || !self.is_weak;
        is_comparable && self.opaque == current.text(&mut [0; ETAG_BYTES_MAX])
    }
}

/// The first tag of a list and what is behind it. `None` at the end. Empty elements are read over
/// (RFC 9110, section 5.6.1.2).
fn next_tag(list: &[u8]) -> Result<Option<(Tag<'_>, &[u8])>, Refusal> {
    let separates = |byte: &u8| matches!(byte, b',' | b' ' | b'\t');
    let Some(start) = list.iter().position(|byte| !separates(byte)) else { return Ok(None) };
    let tag = &list[start..];
    let (is_weak, tag) = match tag.strip_prefix(b"W/") {
        Some(tag) => (true, tag),
        None => (false, tag),
    };
    let inner = tag.strip_prefix(b"\"").ok_or(Refusal::ETagMalformed)?;
    let inner_len = memchr(b'"', inner).ok_or(Refusal::ETagMalformed)?;
    let is_of_tag = |&byte: &u8| byte > b' ' && byte != 0x7f;
    let (opaque, rest) = tag.split_at(inner_len + 2);
    let behind = rest.trim_ascii_start();
    if !inner[..inner_len].iter().all(is_of_tag) || !matches!(behind, [] | [b',', ..]) {
        return Err(Refusal::ETagMalformed);
    }
    Ok(Some((Tag { is_weak, opaque }, behind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tag_of_ours_is_told_from_others() {
        let only = |list: &'static str| ETags::parse(list.as_bytes()).expect("a list").only();
        assert_eq!(only("\"v7\""), Ok(Some(ETag::Version(7))));
        assert_eq!(
            only(" , \"d9555e8555c62dcfd\","),
            Ok(Some(ETag::Digest(0x9555_e855_5c62_dcfd)))
        );
        for other in [
            "*",
            "\"v07\"",
            "\"v+7\"",
            "\"v\"",
            "\"v18446744073709551616\"",
            "W/\"v7\"",
            "\"d955\"",
            "\"D9555e8555c62dcfd\"",
            "\"d9555E8555c62dcfd\"",
            "\"\"",
        ] {
            assert_eq!(only(other), Ok(None), "{other}");
        }
        assert_eq!(only("\"v7\", \"x\""), Err(Several));
    }
}
