//! The authority of a URL (RFC 3986, section 3.2): the host and the port in `Host`, `Origin`,
//! `Referer` and targets in absolute form.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A host, and a port if one is named. Without user information, which `http` URLs should not have
/// (RFC 9110, section 4.2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Authority<'a> {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub host: &'a str,
    /// None if the scheme's own is meant.
    pub port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// What `text` spells. Names consist of letters, digits and `-._~`: no percent signs, which
    /// no resolver is asked for.
    pub fn parse(text: &'a [u8]) -> Option<Authority<'a>> {
        let text = str::from_utf8(text).ok()?;
        let host_len = match text.strip_prefix('[') {
            Some(inner) => {
                let len = inner.find(']')?;
                Ipv6Addr::from_str(&inner[..len]).ok()?;
                len + 2
            }
            None => text.bytes().take_while(|&byte| is_of_name(byte)).count(),
        };
        let (host, rest) = text.split_at(host_len);
        let port = match rest.strip_prefix(':') {
            _ if host.is_empty() => return None,
            // An empty port is the scheme's own (RFC 3986, section 6.2.3).
            Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            None if rest.is_empty() => None,
            _ => return None,
        };
        Some(Authority { host, port })
    }

    /// The authority of a URL with this scheme, which is to be in lower case, and what follows it.
    pub fn of_url(url: &'a [u8], scheme: &str) -> Option<(Authority<'a>, &'a [u8])> {
        let (own, rest) = url.split_at_checked(scheme.len())?;
        let rest = rest.strip_prefix(b"://")?;
        let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
        let (authority, rest) = rest.split_at(rest.iter().position(ends).unwrap_or(rest.len()));
        let is_own = own.eq_ignore_ascii_case(scheme.as_bytes());
        is_own.then(|| Authority::parse(authority)).flatten().map(|parsed| (parsed, rest))
    }

    /// Whether both name the same host and port, for a scheme with this port of its own.
    pub fn is_same(&self, other: &Authority<'_>, scheme_port: u16) -> bool {
        self.host.eq_ignore_ascii_case(other.host)
            && self.port.unwrap_or(scheme_port) == other.port.unwrap_or(scheme_port)
    }

    /// Whether the host is an address, so that no name server was asked for it.
    pub fn is_address(&self) -> bool {
        self.host.starts_with('[') || Ipv4Addr::from_str(self.host).is_ok()
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}
