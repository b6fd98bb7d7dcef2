//! HOT PATH
//! The fields of a request's head that mean something here, found by their names.

/// A field whose value a [`Head`](crate::Head) keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// RFC 9110, section 7.2.
    Host,
    /// RFC 9110, section 11.6.2.
    Authorization,
    /// RFC 6265, section 5.4.
    Cookie,
    /// RFC 9110, section 12.5.1. Of several lines, the first counts.
    Accept,
    /// RFC 9110, section 8.3.
    ContentType,
    /// RFC 9110, section 13.1.1.
    IfMatch,
    /// RFC 9110, section 13.1.2.
    IfNoneMatch,
    /// RFC 9110, section 13.1.5.
    IfRange,
    /// RFC 9110, section 14.2.
    Range,
    /// RFC 6454, section 7.
    Origin,
    /// RFC 9110, section 10.1.3.
    Referer,
    /// RFC 9110, section 10.1.5.
    UserAgent,
    /// Fetch Metadata, section 2.3: from where a page asks.
    SecFetchSite,
    /// Fetch Metadata, section 2.2: `navigate`, for one.
    SecFetchMode,
    /// Fetch Metadata, section 2.1: `document`, for one.
    SecFetchDest,
    /// Fetch, section 3.3.2.
    AccessControlRequestMethod,
    /// Fetch, section 3.3.2.
    AccessControlRequestHeaders,
    /// RFC 9110, section 7.8.
    Upgrade,
    /// RFC 6455, section 11.3.1.
    SecWebSocketKey,
    /// RFC 6455, section 11.3.5.
    SecWebSocketVersion,
    /// HTML Standard, section 9.2.4: the last event that a client has got.
    LastEventId,
    /// Our own: until when the response to a change waits.
    Durable,
    /// Our own: a page that can set it has passed a preflight.
    XBasalt,
}

impl Field {
    /// How many there are.
    pub(crate) const COUNT: usize = Field::XBasalt as usize + 1;

    /// Whether a second line of it changes nothing: proxies may split lists (RFC 9110, section
    /// 5.3), and a preference may be overlooked.
    pub(crate) fn may_repeat(self) -> bool {
        self == Field::Accept
    }
}

/// What a line of the head is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Kept(Field),
    ContentLength,
    TransferEncoding,
    Connection,
    Expect,
}

/// A field's name in lower case, its [`words`], and what the field is for.
struct Named {
    name: &'static str,
    words: [u64; 2],
    purpose: Purpose,
}

/// By the lengths of their names.
static NAMES: [Named; 27] = {
    use Purpose::Kept;
    [
        named("host", Kept(Field::Host)),
        named("range", Kept(Field::Range)),
        named("accept", Kept(Field::Accept)),
        named("origin", Kept(Field::Origin)),
        named("cookie", Kept(Field::Cookie)),
        named("expect", Purpose::Expect),
        named("referer", Kept(Field::Referer)),
        named("upgrade", Kept(Field::Upgrade)),
        named("durable", Kept(Field::Durable)),
        named("if-match", Kept(Field::IfMatch)),
        named("if-range", Kept(Field::IfRange)),
        named("x-basalt", Kept(Field::XBasalt)),
        named("user-agent", Kept(Field::UserAgent)),
        named("connection", Purpose::Connection),
        named("content-type", Kept(Field::ContentType)),
        named("authorization", Kept(Field::Authorization)),
        named("if-none-match", Kept(Field::IfNoneMatch)),
        named("last-event-id", Kept(Field::LastEventId)),
        named("content-length", Purpose::ContentLength),
        named("sec-fetch-site", Kept(Field::SecFetchSite)),
        named("sec-fetch-mode", Kept(Field::SecFetchMode)),
        named("sec-fetch-dest", Kept(Field::SecFetchDest)),
        named("transfer-encoding", Purpose::TransferEncoding),
        named("sec-websocket-key", Kept(Field::SecWebSocketKey)),
        named("sec-websocket-version", Kept(Field::SecWebSocketVersion)),
        named("access-control-request-method", Kept(Field::AccessControlRequestMethod)),
        named("access-control-request-headers", Kept(Field::AccessControlRequestHeaders)),
    ]
};

const NAME_BYTES_MAX: usize = 30;

/// For each length, where its names begin in [`NAMES`]; they end where those of the next one begin.
static STARTS: [usize; NAME_BYTES_MAX + 2] = {
    let mut starts = [0; NAME_BYTES_MAX + 2];
    let (mut len, mut at) = (0, 0);
    while len < starts.len() {
        while at < NAMES.len() && NAMES[at].name.len() < len {
            at += 1;
        }
        starts[len] = at;
        len += 1;
    }
    assert!(at == NAMES.len(), "no name is longer than the longest");
    starts
};

/// Longest name of which [`words`] have every byte.
const WORDS_BYTES: usize = 16;

const fn named(name: &'static str, purpose: Purpose) -> Named {
    Named { name, words: words(name.as_bytes()), purpose }
}

/// The first and the last eight bytes of a name, or four of a name that is shorter, in lower case.
/// Case is one bit of a letter; no byte of these names differs in that bit alone from another one
/// that a token may contain.
#[inline]
const fn words(name: &[u8]) -> [u64; 2] {
    const LOWER: u64 = 0x2020_2020_2020_2020;
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        return [u64::from_le_bytes(*first) | LOWER, u64::from_le_bytes(*last) | LOWER];
    }
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        let [first, last] = [u32::from_le_bytes(*first), u32::from_le_bytes(*last)];
        return [first as u64 | LOWER, last as u64 | LOWER];
    }
    [0; 2]
}

/// Finds what a field is for by its name, which is a token, in any case.
#[inline]
pub(crate) fn purpose(name: &[u8]) -> Option<Purpose> {
    let &[start, end] = STARTS.get(name.len()..)?.first_chunk()?;
    let own = words(name);
    let named = NAMES[start..end].iter().find(|named| named.words == own)?;
    let is_it = name.len() <= WORDS_BYTES || name.eq_ignore_ascii_case(named.name.as_bytes());
    is_it.then_some(named.purpose)
}

/// The elements of a list (RFC 9110, section 5.6.1): what is between commas, without white space.
/// A quoted comma is taken for one that separates.
pub(crate) fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let elements = value.split(|&byte| byte == b',').map(|element| element.trim_ascii());
    elements.filter(|element| !element.is_empty())
}

/// A number as RFC 9110, section 8.6 has it: digits only. What 64 bits do not hold is the largest
/// that they do, beyond any limit.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        digits.iter().fold(0u64, |value, digit| {
            value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_case_and_no_prefixes() {
        assert_eq!(purpose(b"hOsT"), Some(Purpose::Kept(Field::Host)));
        assert_eq!(purpose(b"Content-Length"), Some(Purpose::ContentLength));
        assert_eq!(purpose(b"Content-Lengths"), None);
        assert_eq!(purpose(b"Content_Length"), None);
        assert_eq!(purpose(b""), None);
        assert_eq!(purpose(b"Ho"), None);
        assert_eq!(purpose(b"Hosts"), None);
        assert_eq!(purpose(b"Access-Control-Bequest-Method"), None);
        // No byte of a token is taken for another one.
        for name in ["host", "referer", "if-match", "connection", "content-length"] {
            for (at, byte) in (0..name.len()).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                let mut other = name.as_bytes().to_vec();
                other[at] = byte;
                let is_token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
                let is_same = other.eq_ignore_ascii_case(name.as_bytes());
                let found = purpose(&other).is_some();
                assert!(!is_token || found == is_same, "{}", other.escape_ascii());
            }
        }
    }

    #[test]
    fn every_name_is_under_its_length() {
        let names: [&str; Field::COUNT] = [
            "Host",
            "Authorization",
            "Cookie",
            "Accept",
            "Content-Type",
            "If-Match",
            "If-None-Match",
            "If-Range",
            "Range",
            "Origin",
            "Referer",
            "User-Agent",
            "Sec-Fetch-Site",
            "Sec-Fetch-Mode",
            "Sec-Fetch-Dest",
            "Access-Control-Request-Method",
            "Access-Control-Request-Headers",
            "Upgrade",
            "Sec-WebSocket-Key",
            "Sec-WebSocket-Version",
            "Last-Event-ID",
            "Durable",
            "X-Basalt",
        ];
        for (index, name) in names.into_iter().enumerate() {
            let found = match purpose(name.as_bytes()) {
                Some(Purpose::Kept(field)) => field as usize,
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(found, index, "{name}");
        }
        for name in ["transfer-encoding", "connection", "expect", "content-length"] {
            assert!(purpose(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn numbers_are_digits() {
        assert_eq!(number(b"007"), Some(7));
        assert_eq!(number(b"18446744073709551616"), Some(u64::MAX));
        for text in ["", "+1", "-1", "1 ", "0x1", "1,1", "1.0"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }
}
