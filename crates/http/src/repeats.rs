//! HOT PATH
//! Requests that differ from the one before in their key alone, as nearly all do of a client that
//! reads and writes strings.
//!
//! ```text
//! GET /v1/strings/ key  HTTP/1.1\r\n Host: …\r\n Authorization: …\r\n\r\n
//! ─── before ─────     ─────────────── behind ─────────────────────────
//! CAS.GET          key  the words: the name over the start of the head, the key where it stands
//! ```
//! What becomes of a request depends on the bytes of its head, on the settings, on the users, and
//! on the time at which a token ends. If none of that has changed, and nothing differs in the head
//! but a key of characters that stand for themselves, then what was found out about the request
//! before holds for this one, which need not be parsed, routed, guarded and asked for its user
//! again: all of that has been done with the same bytes. Everything else goes the long way, which
//! forgets what is known here, and may note something new.
//!
//! A connection knows its own latest request and no other connection's. So the time that it takes
//! to compare two heads tells nobody about the credentials of another client.

use crate::plan::Plan;
use crate::strings::PlainCall;
use basalt_config::HttpSettings;
use basalt_http1::{Body, Head};
use std::ops::Range;

/// Longest head without its key that is kept: a browser's has some 600 bytes.
const HEAD_BYTES_MAX: usize = 1 << 10;

/// The latest request of a connection, as far as the next one may repeat it.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// Its head without its key.
    head: Vec<u8>,
    known: Option<Known>,
}

/// What was found out about it.
#[derive(Debug)]
struct Known {
    key_start: usize,
    /// Longest key with which the head is within its limits.
    key_bytes_max: usize,
    body_bytes: usize,
    call: PlainCall,
    plan: Plan,
}

/// A request that repeats the one before.
pub(crate) struct Repeated<'a> {
    pub(crate) call: PlainCall,
    /// Where its key is in its head.
    pub(crate) key: Range<usize>,
    pub(crate) head_bytes: usize,
    pub(crate) body_bytes: usize,
    pub(crate) plan: &'a Plan,
}

impl Repeats {
    /// The next request repeats none.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.known = None;
    }

    /// Notes a request of which all is known but whether its key can be decoded. `bytes` are those
    /// of its head.
    pub(crate) fn note(
        &mut self,
        (head, bytes): (&Head, &[u8]),
        (call, key): (PlainCall, Range<usize>),
        plan: Plan,
        settings: &HttpSettings,
    ) {
        let Body::Length(body_bytes) = head.body else { return };
        let len = bytes.len() - key.len();
        if len > HEAD_BYTES_MAX || key.start < call.bytes_before_key() {
            return;
        }
        self.head.clear();
        self.head.extend_from_slice(&bytes[..key.start]);
        self.head.extend_from_slice(&bytes[key.end..]);
        // Of the target, the limit is that of a whole head here: a little strict, and enough.
        let head_bytes_max = settings.head_bytes_max.min(settings.path_bytes_max);
        self.known = Some(Known {
            key_start: key.start,
            key_bytes_max: usize::from(head_bytes_max).saturating_sub(len),
            body_bytes: body_bytes as usize,
            call,
            plan,
        });
    }

    /// The request that `bytes` begins with, if it is wholly there and repeats the one before.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<Repeated<'_>> {
        let Known { key_start, key_bytes_max, body_bytes, call, plan } = self.known.as_ref()?;
        let (before, behind) = self.head.split_at(*key_start);
        let rest = bytes.strip_prefix(before)?;
        let key_bytes = rest.iter().position(|&byte| !stands_for_itself(byte))?;
        if key_bytes == 0 || key_bytes > *key_bytes_max {
            return None;
        }
        let there = rest[key_bytes..].strip_prefix(behind)?.len();
        let head_bytes = self.head.len() + key_bytes;
        let key = *key_start..key_start + key_bytes;
        let (call, body_bytes) = (*call, *body_bytes);
        (there >= body_bytes).then_some(Repeated { call, key, head_bytes, body_bytes, plan })
    }
}

/// Characters of a segment of a path (RFC 3986, section 3.3) that are not encoded.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let char = byte as u8;
        plain[byte] = char.is_ascii_alphanumeric()
            || matches!(char, b'-' | b'.' | b'_' | b'~' | b':' | b'@' | b',' | b'=' | b'+');
        byte += 1;
    }
    plain
};

#[inline]
fn stands_for_itself(byte: u8) -> bool {
    PLAIN[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::general::General;
    use crate::plan::Ending;
    use crate::strings::StringCall;
    use basalt_config::Config;
    use basalt_http1::{HeadLimits, HeadReader};

    /// What is known after a request by a server with these limits.
    fn after(request: &str, (head_bytes_max, path_bytes_max): (u16, u16)) -> Repeats {
        let mut settings = Config::default().settings().http.clone();
        (settings.head_bytes_max, settings.path_bytes_max) = (head_bytes_max, path_bytes_max);
        let bytes = request.as_bytes();
        let head = HeadReader::new().read(bytes, &HeadLimits::default()).unwrap().unwrap();
        let key = "/v1/strings/".len()..head.path().len();
        let call = StringCall::of(&head, bytes, Some(key), General::plain(0)).unwrap();
        let plan = Plan::new(call.answer(), call.general, Ending::of(&head, None));
        let mut repeats = Repeats::default();
        if let Some(plain) = call.plain() {
            repeats.note((&head, &bytes[..head.bytes]), plain, plan, &settings);
        }
        repeats
    }

    const LIMITS: (u16, u16) = (16 << 10, 8 << 10);

    #[test]
    fn what_differs_in_a_plain_key_repeats_and_nothing_else() {
        let repeats = after("GET /v1/strings/k HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", LIMITS);
        let key = |request: &str| {
            let found = repeats.find(request.as_bytes())?;
            assert_eq!((found.head_bytes, found.body_bytes), (request.len(), 0), "{request}");
            Some(request[found.key].to_owned())
        };
        for name in ["k", "key:000000000007", "a-b.c_d~e@f,g=h+i", "Z"] {
            let request = format!("GET /v1/strings/{name} HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n");
            assert_eq!(key(&request).as_deref(), Some(name));
        }
        for other in [
            "GET /v1/strings/ HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/a%20b HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/a/b HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k?db=1 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k#x HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k\u{e4} HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k\0 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k  HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "PUT /v1/strings/k HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k HTTP/1.0\r\nHost: a\r\nX: y\r\n\r\n",
            "GET /v1/strings/k HTTP/1.1\r\nHost: b\r\nX: y\r\n\r\n",
            "GET /v1/strings/k HTTP/1.1\r\nHost: a\r\nX: y\r\nX: y\r\n\r\n",
            "GET /v1/strings/k HTTP/1.1\r\nHost: a\r\nX: y\r\n",
            "GET /v1/strings/k",
            "GET ",
            "",
        ] {
            assert_eq!(key(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_body_must_be_there_and_is_as_long_as_before() {
        let request = "PUT /v1/strings/k HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
        let repeats = after(request, LIMITS);
        let found = repeats.find(request.as_bytes()).expect("it is there");
        assert_eq!((found.head_bytes, found.body_bytes), (request.len() - 3, 3));
        assert!(repeats.find(&request.as_bytes()[..request.len() - 1]).is_none());
        assert!(repeats.find(request.replace(": 3", ": 4").as_bytes()).is_none());
    }

    #[test]
    fn what_has_options_is_not_known() {
        for request in [
            "PUT /v1/strings/k?ttl=1 HTTP/1.1\r\nHost: a\r\n\r\n",
            "PUT /v1/strings/k HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n",
            "PUT /v1/strings/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET /v1/strings/k HTTP/1.1\r\nHost: a\r\nIf-Match: *\r\n\r\n",
            "PATCH /v1/strings/k?offset=1 HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert!(after(request, LIMITS).known.is_none(), "{request}");
        }
        let long =
            format!("GET /v1/strings/k HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "y".repeat(1000));
        assert!(after(&long, LIMITS).known.is_none());
    }

    #[test]
    fn no_limit_is_passed_over() {
        let head = |key: &str| format!("GET /v1/strings/{key} HTTP/1.1\r\nHost: a\r\n\r\n");
        let max = head("").len() as u16 + 10;
        for limits in [(max, u16::MAX), (u16::MAX, max)] {
            let repeats = after(&head("k"), limits);
            assert!(repeats.find(head(&"k".repeat(10)).as_bytes()).is_some());
            assert!(repeats.find(head(&"k".repeat(11)).as_bytes()).is_none());
        }
    }
}
