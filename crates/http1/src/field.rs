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

/// Finds what a field is for by its name, in any case.
#[inline]
pub(crate) fn purpose(name: &[u8]) -> Option<Purpose> {
    use Purpose::Kept;
    // Few names have the same length, so one comparison is enough as a rule.
    let candidates: &[(&str, Purpose)] = match name.len() {
        4 => &[("host", Kept(Field::Host))],
        5 => &[("range", Kept(Field::Range))],
        6 => &[
            ("accept", Kept(Field::Accept)),
            ("origin", Kept(Field::Origin)),
            ("cookie", Kept(Field::Cookie)),
            ("expect", Purpose::Expect),
        ],
        7 => &[("referer", Kept(Field::Referer)), ("upgrade", Kept(Field::Upgrade))],
        8 => &[
            ("if-match", Kept(Field::IfMatch)),
            ("if-range", Kept(Field::IfRange)),
            ("x-basalt", Kept(Field::XBasalt)),
        ],
        10 => &[("user-agent", Kept(Field::UserAgent)), ("connection", Purpose::Connection)],
        12 => &[("content-type", Kept(Field::ContentType))],
        13 => &[
            ("authorization", Kept(Field::Authorization)),
            ("if-none-match", Kept(Field::IfNoneMatch)),
        ],
        14 => &[
            ("content-length", Purpose::ContentLength),
            ("sec-fetch-site", Kept(Field::SecFetchSite)),
            ("sec-fetch-mode", Kept(Field::SecFetchMode)),
            ("sec-fetch-dest", Kept(Field::SecFetchDest)),
        ],
        17 => &[
            ("transfer-encoding", Purpose::TransferEncoding),
            ("sec-websocket-key", Kept(Field::SecWebSocketKey)),
        ],
        21 => &[("sec-websocket-version", Kept(Field::SecWebSocketVersion))],
        29 => &[("access-control-request-method", Kept(Field::AccessControlRequestMethod))],
        30 => &[("access-control-request-headers", Kept(Field::AccessControlRequestHeaders))],
        _ => &[],
    };
    let found = candidates.iter().find(|(text, _)| name.eq_ignore_ascii_case(text.as_bytes()));
    found.map(|(_, purpose)| *purpose)
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
