//! HOT PATH
//! Heads of requests (RFC 9112, sections 2 to 5).
//!
//! ```text
//! \r\n GET /v1/strings/k?x=1 HTTP/1.1\r\n Host: a\r\n If-Match: "v7"\r\n \r\n body
//!      ^start    ^path      ^query              ^     values ^         ^      ^end
//! ```
//! The end is searched for from where the last search stopped, line end by line end, so that a head
//! that comes a byte at a time costs no more than one that comes at once; then it is parsed, once.
//! A head holds no bytes but says where they are: what is in its place may be changed in place.
//!
//! `httparse` knows the grammar: tokens, what a field may contain, a space before a colon, folded
//! lines. The rest of the strictness is here, in `framing.rs` and in `authority.rs`.

use crate::authority::Authority;
use crate::field::{Field, Purpose, purpose};
use crate::framing::{Body, Framing, Version};
use crate::method::Method;
use crate::refusal::Refusal;
use memchr::{memchr, memchr_iter};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Most fields of a head.
pub const HEADERS_MAX: usize = 64;

/// What a request line has beside its target, at most: a method, two spaces, a version, a line end.
const REQUEST_LINE_REST_MAX: usize = 32;

/// How large a head may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadLimits {
    /// Bytes of the whole head, its last line end and empty lines before it included.
    pub head_bytes_max: u16,
    /// Bytes of the target.
    pub target_bytes_max: u16,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self { head_bytes_max: 16 << 10, target_bytes_max: 8 << 10 }
    }
}

/// Takes heads off the front of what a client has sent. One per connection.
///
/// After `Ok(None)` it remembers how far it came: the next call must show it the same head, with
/// more bytes behind. After an error the connection closes.
#[derive(Debug, Default)]
pub struct HeadReader {
    /// Bytes in which there is no further line end.
    searched: usize,
    /// Where the line begins whose end is looked for.
    line: usize,
    /// Where the request line begins: behind empty lines (RFC 9112, section 2.2).
    start: usize,
}

impl HeadReader {
    /// A reader at the start of a head.
    pub fn new() -> HeadReader {
        HeadReader::default()
    }

    /// Whether no byte of a head has been looked at.
    #[inline]
    pub fn is_at_start(&self) -> bool {
        self.searched == 0
    }

    /// Reads the head that `bytes` begins with. `None` if it is not wholly there.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<Head>, Refusal> {
        let Some(end) = self.find_end(bytes, limits)? else { return Ok(None) };
        let start = std::mem::take(self).start;
        Head::parse(&bytes[..end], start, limits).map(Some)
    }

    /// Finds where the head ends: behind the first empty line that follows another line.
    #[inline]
    fn find_end(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<usize>, Refusal> {
        let before = self.searched;
        for at in memchr_iter(b'\n', &bytes[before..]) {
            let feed = before + at;
            self.bound(feed + 1, limits)?;
            if feed == self.line || bytes[feed - 1] != b'\r' {
                return Err(Refusal::BareLineFeed);
            }
            let is_empty = feed == self.line + 1;
            if is_empty && self.line > self.start {
                return Ok(Some(feed + 1));
            }
            if !is_empty && self.line == self.start {
                check_version(&bytes[self.line..feed - 1])?;
            }
            self.line = feed + 1;
            if is_empty {
                self.start = feed + 1;
            }
        }
        self.searched = bytes.len();
        self.bound(bytes.len() + 1, limits)?;
        Ok(None)
    }

    /// Refuses a head whose line ends at `end` or later. Of two limits the nearer one counts, so
    /// that it does not matter in what pieces the head has come.
    #[inline]
    fn bound(&self, end: usize, limits: &HeadLimits) -> Result<(), Refusal> {
        let head_max = usize::from(limits.head_bytes_max);
        let line_max = match self.line == self.start {
            true => self.start + usize::from(limits.target_bytes_max) + REQUEST_LINE_REST_MAX,
            false => usize::MAX,
        };
        match end > head_max.min(line_max) {
            true if line_max < head_max => Err(Refusal::TargetTooLong),
            true => Err(Refusal::HeadTooLarge),
            false => Ok(()),
        }
    }
}

/// What the head of a request says.
///
/// Its ranges are of the bytes that it was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// What is asked to be done.
    pub method: Method,
    /// How long the body is that follows.
    pub body: Body,
    /// Whether the connection is kept when the request is answered.
    pub keeps_alive: bool,
    /// Whether HTTP/1.0 is spoken, where keeping a connection must be said in the response.
    pub is_old: bool,
    /// Whether the client sends the body only if it is told to go on (RFC 9110, section 10.1.1).
    pub expects_continue: bool,
    /// Whether the client wants to go on in the protocol that `Upgrade` names (RFC 9110, section
    /// 7.8).
    pub upgrades: bool,
    /// Bytes of the head: the body is behind them.
    pub bytes: usize,
    path: Span,
    query: Span,
    fields: [Span; Field::COUNT],
}

/// Where something is in a head. Nothing that may be absent begins at 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Span {
    start: u16,
    len: u16,
}

impl Span {
    /// Where `part` is, which is a part of `head`.
    #[inline]
    fn of(part: &[u8], head: &[u8]) -> Span {
        let start = part.as_ptr() as usize - head.as_ptr() as usize;
        // A head has no more bytes than a `u16` counts: so its limit says.
        Span { start: start as u16, len: part.len() as u16 }
    }

    #[inline]
    fn range(self) -> Range<usize> {
        usize::from(self.start)..usize::from(self.start) + usize::from(self.len)
    }
}

impl Head {
    /// The path of the target, as it came: a slash, and what is behind it up to a question mark.
    /// Empty if the target is a URL without a path, which means `/`.
    #[inline]
    pub fn path(&self) -> Range<usize> {
        self.path.range()
    }

    /// What is behind the question mark of the target, as it came. Empty if there is nothing.
    #[inline]
    pub fn query(&self) -> Range<usize> {
        self.query.range()
    }

    /// The value of a field, without white space around it.
    #[inline]
    pub fn field(&self, field: Field) -> Option<Range<usize>> {
        let span = self.fields[field as usize];
        (span != Span::default()).then(|| span.range())
    }

    fn parse(bytes: &[u8], start: usize, limits: &HeadLimits) -> Result<Head, Refusal> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut []);
        match request.parse_with_uninit_headers(&bytes[start..], &mut headers) {
            Ok(httparse::Status::Complete(len)) if start + len == bytes.len() => {}
            Ok(_) => return Err(Refusal::HeadMalformed),
            Err(error) => return Err(refusal_of(error)),
        }
        let (Some(method), Some(target), Some(version)) =
            (request.method, request.path, request.version)
        else {
            return Err(Refusal::HeadMalformed);
        };
        let version = if version == 0 { Version::Http10 } else { Version::Http11 };
        let method = Method::parse(method)?;
        if target.len() > usize::from(limits.target_bytes_max) {
            return Err(Refusal::TargetTooLong);
        }
        let mut fields = [Span::default(); Field::COUNT];
        let mut framing = Framing::default();
        for header in request.headers.iter() {
            match purpose(header.name.as_bytes()) {
                Some(Purpose::Kept(field)) => {
                    let span = &mut fields[field as usize];
                    if *span == Span::default() {
                        *span = Span::of(header.value, bytes);
                    } else if !field.may_repeat() {
                        return Err(Refusal::FieldRepeated);
                    }
                }
                Some(purpose) => framing.note(purpose, header.value)?,
                None => {}
            }
        }
        let host = fields[Field::Host as usize];
        let host = (host != Span::default()).then(|| &bytes[host.range()]);
        let (path, query) = split_target(target.as_bytes(), known_host(host, version)?)?;
        Ok(Head {
            method,
            body: framing.body(version)?,
            keeps_alive: framing.keeps_alive(version),
            is_old: version == Version::Http10,
            expects_continue: framing.expects_continue(version),
            upgrades: framing.upgrades(version),
            bytes: bytes.len(),
            path: Span::of(path, bytes),
            query: Span::of(query, bytes),
            fields,
        })
    }
}

/// Whom the client asks. HTTP/1.1 demands that it says so (RFC 9112, section 3.2).
#[inline]
fn known_host(value: Option<&[u8]>, version: Version) -> Result<Option<Authority<'_>>, Refusal> {
    match value {
        Some(value) => Authority::parse(value).map(Some).ok_or(Refusal::HostMalformed),
        None if version == Version::Http10 => Ok(None),
        None => Err(Refusal::HostMissing),
    }
}

/// Path and query of a target that is a path, or a URL of `host`. Of what may stand in them all
/// that can be seen is taken but the hash sign: browsers send braces and bars as they are.
#[inline]
fn split_target<'a>(
    target: &'a [u8],
    host: Option<Authority<'_>>,
) -> Result<(&'a [u8], &'a [u8]), Refusal> {
    // Control characters and spaces are none of a target's bytes already for `httparse`.
    if !target.is_ascii() || memchr(b'#', target).is_some() {
        return Err(Refusal::TargetMalformed);
    }
    let target = match target.first() {
        Some(b'/') => target,
        _ => local_part(target, host).ok_or(Refusal::TargetMalformed)?,
    };
    Ok(match memchr(b'?', target) {
        Some(at) => (&target[..at], &target[at + 1..]),
        None => (target, &target[target.len()..]),
    })
}

/// What is behind the authority of a URL, if that is `host`: were it another one, two readers could
/// disagree about whom the request is for.
#[cold]
fn local_part<'a>(url: &'a [u8], host: Option<Authority<'_>>) -> Option<&'a [u8]> {
    [("http", 80), ("https", 443)].into_iter().find_map(|(scheme, port)| {
        let (authority, rest) = Authority::of_url(url, scheme)?;
        authority.is_same(&host?, port).then_some(rest)
    })
}

#[cold]
fn refusal_of(error: httparse::Error) -> Refusal {
    match error {
        httparse::Error::TooManyHeaders => Refusal::HeadTooLarge,
        _ => Refusal::HeadMalformed,
    }
}

/// Looks whether a request line ends with a version that is known. Before the rest of the head has
/// come: a client that speaks another protocol waits for an answer, not for the end of its head.
#[inline]
fn check_version(line: &[u8]) -> Result<(), Refusal> {
    match line.ends_with(b" HTTP/1.1") || line.ends_with(b" HTTP/1.0") {
        true => Ok(()),
        false => Err(refusal_of_version(line)),
    }
}

/// A request line may end with another version of HTTP (RFC 9112, section 2.3), or with none.
#[cold]
fn refusal_of_version(line: &[u8]) -> Refusal {
    match line {
        [.., b' ', b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            Refusal::VersionUnknown
        }
        _ => Refusal::HeadMalformed,
    }
}
