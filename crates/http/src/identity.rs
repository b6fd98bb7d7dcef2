//! The sender of a request: each request proves its own, whatever came before on the connection.

use crate::problem::Problem;
use basalt_config::Settings;
use basalt_http1::{Credentials, Field, Head, Status};

/// The only user.
const DEFAULT_USER: &[u8] = b"default";

/// The latest credentials that were accepted on a connection: the same again cost a comparison.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    value: Vec<u8>,
    /// Under which settings.
    version: u64,
}

/// What a request has proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Identity {
    /// There is a password, and the client knows it.
    Proven,
    /// There is none.
    Anybody,
}

impl Accepted {
    /// Finds out who sends a request, under the settings with this version.
    ///
    /// # Errors
    /// The password is missing or wrong.
    pub(crate) fn identify(
        &mut self,
        head: &Head,
        bytes: &[u8],
        (settings, version): (&Settings, u64),
    ) -> Result<Identity, Problem> {
        let Some(password) = &settings.clients.password else { return Ok(Identity::Anybody) };
        let Some(value) = head.field(Field::Authorization).map(|range| &bytes[range]) else {
            let text = "NOAUTH Authentication required.";
            return Err(refused("NOAUTH", text, head, bytes));
        };
        if self.version == version && !self.value.is_empty() && self.value == value {
            return Ok(Identity::Proven);
        }
        let mut scratch = Vec::new();
        let is_right = match Credentials::parse(value, &mut scratch)? {
            Credentials::Basic { user, password: given } => {
                // Both are looked at, so that a wrong user takes as long as a wrong password.
                password.is(given) & (user == DEFAULT_USER)
            }
            Credentials::Bearer { .. } => false,
        };
        if !is_right {
            let text = "WRONGPASS invalid username-password pair or user is disabled.";
            return Err(refused("WRONGPASS", text, head, bytes));
        }
        *self = Accepted { value: value.to_vec(), version };
        Ok(Identity::Proven)
    }
}

/// A browser is not asked for a password: it would keep it and attach it to what other sites send.
fn refused(code: &'static str, text: &'static str, head: &Head, bytes: &[u8]) -> Problem {
    let sent_by_browser = [Field::SecFetchSite, Field::SecFetchMode, Field::Origin];
    let agent = head.field(Field::UserAgent).map_or(&b""[..], |range| &bytes[range]);
    let is_browser = agent.starts_with(b"Mozilla/")
        || sent_by_browser.iter().any(|&field| head.field(field).is_some());
    Problem { challenges: !is_browser, ..Problem::new(Status::Unauthorized, code, text) }
}
