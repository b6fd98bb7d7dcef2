//! HOT PATH
//! The authority of a URL (RFC 3986, section 3.2): the host and the port in `Host`, `Origin`,
//! `Referer` and targets in absolute form.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A host, and a port if one is named. Without user information, which `http` URLs should not have
/// (RFC 9110, section 4.2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Authority<'a> {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub host: &'a [u8],
    /// None if the scheme's own is meant.
    pub port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// What `text` spells. Names consist of letters, digits and `-._~`: no percent signs, which
    /// no resolver is asked for.
    #[inline]
    pub fn parse(text: &'a [u8]) -> Option<Authority<'a>> {
        let host_bytes = match text {
            [b'[', inner @ ..] => address_bytes(inner)? + 2,
            _ => text.iter().take_while(|&&byte| is_of_name(byte)).count(),
        };
        let (host, rest) = text.split_at(host_bytes);
        let port = match rest {
            _ if host.is_empty() => return None,
            // An empty port is the scheme's own (RFC 3986, section 6.2.3).
            [] | [b':'] => None,
            [b':', digits @ ..] => Some(port(digits)?),
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
        let is_v4 = |host| Ipv4Addr::from_str(host).is_ok();
        self.host.starts_with(b"[") || str::from_utf8(self.host).is_ok_and(is_v4)
    }
}

const OF_NAMES: [bool; 256] = {
    let mut of_names = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let char = byte as u8;
        of_names[byte] = char.is_ascii_alphanumeric() || matches!(char, b'-' | b'.' | b'_' | b'~');
        byte += 1;
    }
    of_names
};

#[inline]
fn is_of_name(byte: u8) -> bool {
    OF_NAMES[usize::from(byte)]
}

/// How long the IPv6 address is that ends with a bracket.
#[cold]
fn address_bytes(text: &[u8]) -> Option<usize> {
    let bytes = text.iter().position(|&byte| byte == b']')?;
    Ipv6Addr::from_str(str::from_utf8(&text[..bytes]).ok()?).ok()?;
    Some(bytes)
}

fn port(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0u16, |port, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        port.checked_mul(10)?.checked_add(digit as u16)
    })
}
