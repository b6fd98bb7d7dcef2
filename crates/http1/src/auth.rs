//! Credentials (RFC 9110, section 11.6.2).

use crate::base64::{self, Alphabet};
use crate::refusal::Refusal;

/// The user that a client claims to be, and its proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Credentials<'a> {
    /// RFC 7617.
    Basic {
        /// Has no colon.
        user: &'a [u8],
        /// Any bytes.
        password: &'a [u8],
    },
    /// RFC 6750, section 2.1.
    Bearer {
        /// Letters, digits and `-._~+/`, then perhaps `=`.
        token: &'a [u8],
    },
}

impl<'a> Credentials<'a> {
    /// Reads the value of `Authorization`. What has to be decoded is decoded in `scratch`.
    pub fn parse(value: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<Credentials<'a>, Refusal> {
        let space = value.iter().position(|&byte| byte == b' ');
        let (scheme, rest) = value.split_at(space.unwrap_or(value.len()));
        let rest = rest.trim_ascii();
        if scheme.eq_ignore_ascii_case(b"basic") {
            scratch.clear();
            scratch.extend_from_slice(rest);
            let len = base64::decode(scratch, Alphabet::Standard)
                .map_err(|_| Refusal::CredentialsMalformed)?;
            let pair = &scratch[..len];
            let colon = pair.iter().position(|&byte| byte == b':');
            let colon = colon.ok_or(Refusal::CredentialsMalformed)?;
            return Ok(Credentials::Basic { user: &pair[..colon], password: &pair[colon + 1..] });
        }
        if scheme.eq_ignore_ascii_case(b"bearer") {
            let padding = rest.iter().rev().take_while(|&&byte| byte == b'=').count();
            let token = &rest[..rest.len() - padding];
            let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(byte);
            if token.is_empty() || !token.iter().all(is_of_token) {
                return Err(Refusal::CredentialsMalformed);
            }
            return Ok(Credentials::Bearer { token: rest });
        }
        Err(Refusal::CredentialsUnknown)
    }
}
