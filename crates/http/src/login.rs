//! `POST /v1/login`: a password becomes a token.
//!
//! ```json
//! {"user": "default", "password": "…"}   ▸   {"token": "…", "expires_in_s": 43200}
//! ```
//! The password comes as the body, or as `Authorization: Basic`. A token buys no other token:
//! it would never end.

use crate::identity::{Authority, note_failure, wrong_password};
use crate::problem::Problem;
use basalt_acl::User;
use basalt_dispatch::Dispatcher;
use basalt_http1::{Credentials, Field, Head, Status};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;

/// Largest body that is looked at.
const BODY_BYTES_MAX: usize = 16 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login<'a> {
    #[serde(borrow)]
    user: Option<Cow<'a, str>>,
    #[serde(borrow)]
    password: Cow<'a, str>,
}

/// Whether a request brings its password in its head.
///
/// # Errors
/// It brings a token.
pub(crate) fn is_in_head(head: &Head, bytes: &[u8]) -> Result<bool, Problem> {
    let Some(value) = head.field(Field::Authorization) else { return Ok(false) };
    match Credentials::parse(&bytes[value], &mut Vec::new())? {
        Credentials::Basic { .. } => Ok(true),
        Credentials::Bearer { .. } => Err(Problem::bad_request("log in with a password")),
    }
}

/// Whether there is anything to log in for.
///
/// # Errors
/// There is no password.
pub(crate) fn demand_password(authority: Authority<'_>) -> Result<(), Problem> {
    let Authority { access, .. } = authority;
    if !access.lets_anybody_in() || access.has_several_users() {
        return Ok(());
    }
    let text = "there is no password (requirepass), so nothing to log in for";
    Err(Problem::new(Status::BadRequest, "NOPASSWORD", text))
}

/// The user who logs in with the password in a body.
///
/// # Errors
/// It is wrong, or the body is none.
pub(crate) fn check(
    body: &[u8],
    (head, bytes): (&Head, &[u8]),
    authority: Authority<'_>,
) -> Result<Arc<User>, Problem> {
    let form = || Problem::bad_request(r#"the body is {"user": "default", "password": "…"}"#);
    if body.len() > BODY_BYTES_MAX {
        return Err(form());
    }
    let login: Login<'_> = serde_json::from_slice(body).map_err(|_| form())?;
    let user = login.user.as_deref().unwrap_or("default").as_bytes();
    match authority.access.authenticate(user, login.password.as_bytes()) {
        Some(rights) => Ok(Arc::clone(rights.user())),
        None => {
            note_failure(user.to_vec(), authority);
            Err(wrong_password(head, bytes))
        }
    }
}

/// A token for a user, as JSON.
pub(crate) fn granted(server: &Dispatcher, authority: Authority<'_>, user: &Arc<User>) -> Vec<u8> {
    let Authority { settings, logins, clock, .. } = authority;
    let token = logins.grant(&*server.env.entropy, clock.unix_ms(), &settings.http, user);
    let lasts_s = settings.http.login_time.as_secs();
    format!(r#"{{"token":"{token}","expires_in_s":{lasts_s}}}"#).into_bytes()
}
