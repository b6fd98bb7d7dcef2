//! HOT PATH
//! Where a request ends, and whether another one follows (RFC 9112, sections 6 and 9).
//!
//! A proxy and a server that disagree about the end of a request let a client smuggle another one
//! past the proxy (RFC 9112, section 11.2). So there is one way to say each thing, and everything
//! else is refused: also what RFC 9112 lets a server repair, such as two equal `Content-Length`.

use crate::field::{Purpose, elements, number};
use crate::refusal::Refusal;

/// How long the body is. A request without a body has one of no bytes (RFC 9112, section 6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// This many bytes.
    Length(u64),
    /// It says so itself: see RFC 9112, section 7.1.
    Chunked,
}

/// A version of HTTP that is spoken here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    Http10,
    Http11,
}

/// What the lines say that have to do with the ends of requests.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    length: Option<u64>,
    is_chunked: bool,
    closes: bool,
    keeps_alive: bool,
    upgrades: bool,
    expects_continue: bool,
}

impl Framing {
    /// Takes note of a line of the head. A line of another purpose is none of its business.
    #[inline]
    pub(crate) fn note(&mut self, purpose: Purpose, value: &[u8]) -> Result<(), Refusal> {
        match purpose {
            Purpose::Kept(_) => {}
            Purpose::ContentLength => {
                let length = number(value).ok_or(Refusal::LengthMalformed)?;
                if self.length.replace(length).is_some() {
                    return Err(Refusal::FieldRepeated);
                }
            }
            Purpose::TransferEncoding => {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Refusal::CodingUnknown);
                }
                if std::mem::replace(&mut self.is_chunked, true) {
                    return Err(Refusal::FieldRepeated);
                }
            }
            Purpose::Connection => {
                for option in elements(value) {
                    self.closes |= option.eq_ignore_ascii_case(b"close");
                    self.keeps_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                    self.upgrades |= option.eq_ignore_ascii_case(b"upgrade");
                }
            }
            Purpose::Expect => {
                if !value.eq_ignore_ascii_case(b"100-continue") {
                    return Err(Refusal::ExpectationUnknown);
                }
                self.expects_continue = true;
            }
        }
        Ok(())
    }

    pub(crate) fn body(&self, version: Version) -> Result<Body, Refusal> {
        match (self.is_chunked, self.length) {
            (true, Some(_)) => Err(Refusal::LengthAndCoding),
            (true, None) if version == Version::Http10 => Err(Refusal::CodingInOldVersion),
            (true, None) => Ok(Body::Chunked),
            (false, length) => Ok(Body::Length(length.unwrap_or(0))),
        }
    }

    /// Whether the connection is to be kept (RFC 9112, section 9.3).
    pub(crate) fn keeps_alive(&self, version: Version) -> bool {
        !self.closes && (self.keeps_alive || version == Version::Http11)
    }

    /// Whether another protocol may be agreed upon, which HTTP/1.0 does not know (RFC 9110, section
    /// 7.8).
    pub(crate) fn upgrades(&self, version: Version) -> bool {
        self.upgrades && version == Version::Http11
    }

    /// Whether the client waits to be told to go on. In HTTP/1.0 nobody does (RFC 9110, section
    /// 10.1.1).
    pub(crate) fn expects_continue(&self, version: Version) -> bool {
        self.expects_continue && version == Version::Http11
    }
}
