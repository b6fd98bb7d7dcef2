//! The sender of a request: each request proves its own, whatever came before on the connection,
//! and runs with the rights of that user.

use crate::logins::Logins;
use crate::problem::Problem;
use basalt_acl::{Context, Occurrence, Reason};
use basalt_config::Settings;
use basalt_env::Clock;
use basalt_http1::{Credentials, Field, Head, Refusal, Status};
use basalt_service::access::{Access, Rights};
use std::hint::black_box;

/// The latest credentials that were accepted on a connection: the same again cost a comparison.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    value: Vec<u8>,
    /// Until when, in unix milliseconds.
    end_ms: u64,
    /// What they stand for.
    rights: Option<Rights>,
    /// The rights of those who say nothing, if they may come in.
    of_anybody: Option<Rights>,
    /// There is one user, and no password: what requests say of themselves does not matter.
    asks_nobody: bool,
    /// The version of the users of which all of this is; `None` if nothing has been asked yet.
    version: Option<u64>,
    /// The latest request has shown these credentials.
    has_shown: bool,
}

/// What a request has proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Identity {
    /// The client knows the password of its user, or has a token for it.
    Proven,
    /// Its user has none.
    Anybody,
}

/// What credentials are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Authority<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) access: &'a Access,
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
        self.renew(authority);
        let field = head.field(Field::Authorization).filter(|_| !self.asks_nobody);
        let Some(value) = field.map(|range| &bytes[range]) else {
            self.has_shown = false;
            if self.of_anybody.is_some() {
                return Ok(Identity::Anybody);
            }
            let text = "NOAUTH Authentication required.";
            return Err(refused("NOAUTH", text, head, bytes));
        };
        let is_known = authority.clock.unix_ms() < self.end_ms && is_same(&self.value, value);
        if !is_known {
            let Some((rights, end_ms)) = judge(value, authority)? else {
                return Err(wrong_password(head, bytes));
            };
            (self.value, self.end_ms, self.rights) = (value.to_vec(), end_ms, Some(rights));
        }
        self.has_shown = true;
        let needs_none = |rights: &Rights| rights.user().needs_no_password();
        let is_proven = !self.rights.as_ref().is_some_and(needs_none);
        Ok(if is_proven { Identity::Proven } else { Identity::Anybody })
    }

    /// The rights of the latest request that was identified.
    pub(crate) fn rights(&self) -> Option<&Rights> {
        if self.has_shown { self.rights.as_ref() } else { self.of_anybody.as_ref() }
    }

    /// Whether the latest request that was identified would be again, by users who have not
    /// changed since.
    #[inline]
    pub(crate) fn is_current(&self, authority: Authority<'_>) -> bool {
        let ends = self.has_shown && self.end_ms != u64::MAX;
        self.version == Some(authority.access.version())
            && (!ends || authority.clock.unix_ms() < self.end_ms)
    }

    /// Whether what was accepted last would be accepted again: the password may have changed, the
    /// token may have ended.
    pub(crate) fn still_holds(&mut self, authority: Authority<'_>) -> bool {
        self.renew(authority);
        match self.has_shown {
            true => authority.clock.unix_ms() < self.end_ms,
            false => self.of_anybody.is_some(),
        }
    }

    /// If users have changed, what is known is judged again.
    fn renew(&mut self, authority: Authority<'_>) {
        let version = authority.access.version();
        if self.version == Some(version) {
            return;
        }
        let access = authority.access;
        self.version = Some(version);
        self.of_anybody = access.lets_anybody_in().then(|| access.rights_of_new_client(false));
        self.asks_nobody = self.of_anybody.is_some() && !access.has_several_users();
        if self.rights.is_some() {
            let judged = credentials(&self.value, authority).ok().flatten();
            self.end_ms = judged.as_ref().map_or(0, |(_, end_ms)| *end_ms);
            self.rights = judged.map(|(rights, _)| rights);
        }
    }
}

/// Whom credentials stand for, and until when, in unix milliseconds; `None` if they are wrong,
/// which is counted and logged.
fn judge(value: &[u8], authority: Authority<'_>) -> Result<Option<(Rights, u64)>, Refusal> {
    let judged = credentials(value, authority)?;
    if judged.is_none() {
        let mut scratch = Vec::new();
        let user = match Credentials::parse(value, &mut scratch)? {
            Credentials::Basic { user, .. } => user.to_vec(),
            Credentials::Bearer { .. } => Vec::new(),
        };
        note_failure(user, authority);
    }
    Ok(judged)
}

/// Somebody has shown the wrong password.
pub(crate) fn note_failure(
    username: Vec<u8>,
    Authority { settings, access, clock, .. }: Authority<'_>,
) {
    let occurrence = Occurrence {
        reason: Reason::Auth,
        context: Context::TopLevel,
        object: b"HTTP".to_vec(),
        username,
        client: String::new(),
        now_ms: clock.unix_ms(),
    };
    access.note(settings, occurrence);
}

fn credentials(
    value: &[u8],
    Authority { access, logins, clock, .. }: Authority<'_>,
) -> Result<Option<(Rights, u64)>, Refusal> {
    let mut scratch = Vec::new();
    Ok(match Credentials::parse(value, &mut scratch)? {
        Credentials::Basic { user, password } => {
            access.authenticate(user, password).map(|rights| (rights, u64::MAX))
        }
        Credentials::Bearer { token } => logins.judge(token, clock.unix_ms(), access),
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
