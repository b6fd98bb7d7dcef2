//! Which requests are refused because a web page of another site may have had a browser send them.
//! The rules hold for every method.
//!
//! - Without a password, `Host` is an address, `localhost` or one of `http-hosts`: a page whose own
//!   name leads here (DNS rebinding) has its browser name it.
//! - `Sec-Fetch-Site` is not `cross-site` or `same-site`, but for the user's way to `/`, and
//!   `Origin` is ours: against forms, images and scripts.
//! - Without `Sec-Fetch-Site`, a `Referer` is ours: the same for browsers that do not send that
//!   field to plain addresses.
//!
//! Pages whose origins are listed (`http-cors-origins`) may send what others may not; before what
//! needs it, their browsers ask, and are told so (Fetch, section 3.3).
//!
//! A body in JSON must be called so (`command.rs`): a page cannot do that without being asked.

use crate::identity::Identity;
use crate::problem::Problem;
use basalt_config::HttpSettings;
use basalt_http1::{Authority, Field, Head, Status};

/// Refuses what a page may have sent.
///
/// # Errors
/// See the head of this file.
pub(crate) fn admit(
    head: &Head,
    bytes: &[u8],
    identity: Identity,
    settings: &HttpSettings,
) -> Result<(), Problem> {
    let hosts = &settings.hosts;
    let value = |field| head.field(field).map(|range| &bytes[range]);
    let host = value(Field::Host).and_then(Authority::parse);
    if identity == Identity::Anybody && host.is_some_and(|host| !is_known(&host, hosts)) {
        let text = "the server is not known by this name: see the option http-hosts";
        return Err(Problem::new(Status::MisdirectedRequest, "BADHOST", text));
    }
    if listed_origin(head, bytes, settings).is_some() {
        return Ok(());
    }
    let site = value(Field::SecFetchSite);
    let is_foreign = matches!(site, Some(b"cross-site" | b"same-site"));
    if is_foreign && !is_way_to_start(head, bytes) {
        return Err(cross_site());
    }
    if value(Field::Origin).is_some_and(|origin| !is_ours(origin, host)) {
        return Err(cross_site());
    }
    if site.is_none() && value(Field::Referer).is_some_and(|page| !is_ours(page, host)) {
        return Err(cross_site());
    }
    Ok(())
}

/// Which of the origins whose pages may use the server sends a request, if one does.
#[inline]
pub(crate) fn listed_origin(head: &Head, bytes: &[u8], settings: &HttpSettings) -> Option<u16> {
    if settings.cors_origins.is_empty() {
        return None;
    }
    let origin = &bytes[head.field(Field::Origin)?];
    let at = settings.cors_origins.iter().position(|listed| listed.as_bytes() == origin)?;
    u16::try_from(at).ok()
}

/// Whether a browser asks what a page with a listed origin may send. It sends no credentials with
/// that question.
pub(crate) fn is_preflight(head: &Head, bytes: &[u8], settings: &HttpSettings) -> bool {
    head.field(Field::AccessControlRequestMethod).is_some()
        && listed_origin(head, bytes, settings).is_some()
}

fn cross_site() -> Problem {
    let text = "a page of another site may not send this";
    Problem::new(Status::Forbidden, "CROSSSITE", text)
}

fn is_known(host: &Authority<'_>, hosts: &[String]) -> bool {
    let is = |name: &str| host.host.eq_ignore_ascii_case(name.as_bytes());
    host.is_address() || is("localhost") || hosts.iter().any(|name| is(name))
}

/// Whether a user follows a link to the start page.
fn is_way_to_start(head: &Head, bytes: &[u8]) -> bool {
    let is = |field, wanted: &[u8]| head.field(field).is_some_and(|range| &bytes[range] == wanted);
    bytes[head.path()] == *b"/"
        && is(Field::SecFetchMode, b"navigate")
        && is(Field::SecFetchDest, b"document")
}

/// Whether a URL, or an origin, is of the host that the request is for.
fn is_ours(url: &[u8], host: Option<Authority<'_>>) -> bool {
    let Some(host) = host else { return false };
    [("http", 80), ("https", 443)].iter().any(|&(scheme, port)| {
        Authority::of_url(url, scheme).is_some_and(|(authority, _)| authority.is_same(&host, port))
    })
}
