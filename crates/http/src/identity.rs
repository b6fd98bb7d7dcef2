//! The sender of a request: each request proves its own, whatever came before on the connection.

use crate::logins::Logins;
use crate::problem::Problem;
use basalt_config::{Secret, Settings};
use basalt_env::Clock;
use basalt_http1::{Credentials, Field, Head, Refusal, Status};
use std::hint::black_box;

/// The only user.
pub(crate) const DEFAULT_USER: &[u8] = b"default";

/// The latest credentials that were accepted on a connection: the same again cost a comparison.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    value: Vec<u8>,
    /// Under which settings.
    version: u64,
    /// Until when, in unix milliseconds.
    end_ms: u64,
}

/// What a request has proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Identity {
    /// There is a password, and the client knows it, or has a token for it.
    Proven,
    /// There is none.
    Anybody,
}

/// What credentials are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Authority<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) settings_version: u64,
    pub(crate) logins: &'a Logins,
    pub(crate) clock: &'a dyn Clock,
}

impl Accepted {
    /// Finds out who sends a request.
    ///
    /// # Errors
    /// The password is missing or wrong, or the token is none.
    pub(crate) fn identify(
        &mut self,
        head: &Head,
        bytes: &[u8],
        authority: Authority<'_>,
    ) -> Result<Identity, Problem> {
        let Authority { settings, settings_version: version, clock, .. } = authority;
        let Some(password) = &settings.clients.password else { return Ok(Identity::Anybody) };
        let Some(value) = head.field(Field::Authorization).map(|range| &bytes[range]) else {
            let text = "NOAUTH Authentication required.";
            return Err(refused("NOAUTH", text, head, bytes));
        };
        let now_ms = clock.unix_ms();
        if self.version == version && now_ms < self.end_ms && is_same(&self.value, value) {
            return Ok(Identity::Proven);
        }
        let Some(end_ms) = end_ms(value, password, authority)? else {
            return Err(wrong_password(head, bytes));
        };
        *self = Accepted { value: value.to_vec(), version, end_ms };
        Ok(Identity::Proven)
    }

    /// Whether what was accepted last would be accepted again: the password may have changed, the
    /// token may have ended.
    pub(crate) fn still_holds(&mut self, authority: Authority<'_>) -> bool {
        let Some(password) = &authority.settings.clients.password else { return true };
        if self.version != authority.settings_version {
            let end_ms = end_ms(&self.value, password, authority);
            self.end_ms = end_ms.ok().flatten().unwrap_or(0);
            self.version = authority.settings_version;
        }
        authority.clock.unix_ms() < self.end_ms
    }
}

/// Until when credentials are good, in unix milliseconds; `None` if they are not.
fn end_ms(
    value: &[u8],
    password: &Secret,
    Authority { settings, logins, clock, .. }: Authority<'_>,
) -> Result<Option<u64>, Refusal> {
    let mut scratch = Vec::new();
    Ok(match Credentials::parse(value, &mut scratch)? {
        Credentials::Basic { user, password: given } => {
            // Both are looked at, so that a wrong user takes as long as a wrong password.
            let is_right = password.is(given) & (user == DEFAULT_USER);
            is_right.then_some(u64::MAX)
        }
        Credentials::Bearer { token } => logins.end_of(token, clock.unix_ms(), settings),
    })
}

/// Whether two texts are the same, found out in a time that depends on their lengths alone, so that
/// nobody can find credentials byte by byte.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() || one.is_empty() {
        return false;
    }
    let differing = one.iter().zip(other).fold(0, |all, (one, other)| black_box(all | one ^ other));
    black_box(differing) == 0
}

/// User and password do not belong together.
pub(crate) fn wrong_password(head: &Head, bytes: &[u8]) -> Problem {
    let text = "WRONGPASS invalid username-password pair or user is disabled.";
    refused("WRONGPASS", text, head, bytes)
}

/// A browser is not asked for a password: it would keep it and attach it to what other sites send.
fn refused(code: &'static str, text: &'static str, head: &Head, bytes: &[u8]) -> Problem {
    let sent_by_browser = [Field::SecFetchSite, Field::SecFetchMode, Field::Origin];
    let agent = head.field(Field::UserAgent).map_or(&b""[..], |range| &bytes[range]);
    let is_browser = agent.starts_with(b"Mozilla/")
        || sent_by_browser.iter().any(|&field| head.field(field).is_some());
    Problem { challenges: !is_browser, ..Problem::new(Status::Unauthorized, code, text) }
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn texts_are_the_same_if_all_of_their_bytes_are() {
        assert!(is_same(b"Basic abc", b"Basic abc"));
        for other in [&b""[..], b"Basic abd", b"casic abc", b"Basic ab", b"Basic abcd"] {
            assert!(!is_same(b"Basic abc", other) && !is_same(other, b"Basic abc"));
        }
        assert!(!is_same(b"", b""), "nothing is no credentials");
    }
}
