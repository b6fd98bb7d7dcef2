//! The web console: the files of `basalt_console`, to a browser.
//!
//! They are no secret, so they need no user: the page itself asks for the password that its
//! requests need. Where there is none, the rules of `guard.rs` hold as for data. What the page may
//! do is what its requests may; `console read-only` has it show data and change none, and `no`
//! leaves it out.

use crate::guard;
use crate::identity::{Authority, Identity};
use crate::own::Own;
use crate::problem::Problem;
use basalt_config::ConsoleMode;
use basalt_console::File;
use basalt_http1::{Comparison, ETag, ETags, Field, Head, Method, Status};

/// A file that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Served {
    pub(crate) file: &'static File,
    /// The client has it already.
    pub(crate) is_known: bool,
}

impl Served {
    /// Its tag.
    pub(crate) fn tag(&self) -> ETag {
        ETag::Digest(self.file.digest)
    }
}

/// What the methods of the files are.
const ALLOW: &str = "GET, HEAD, OPTIONS";

/// Fields of every file. Nothing comes from elsewhere or is shown within another page, no text
/// becomes a script, and no address that the page has is told to anybody.
pub(crate) const FIELDS: &str = "Content-Security-Policy: default-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'\r\n\
     X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
     Cross-Origin-Opener-Policy: same-origin\r\nCache-Control: no-cache\r\n";

/// Finds the file that a request asks for; its path is none of the table of paths.
///
/// # Errors
/// The path is none of the console's, which is `nothing`; or the client may not have it, or not so.
pub(crate) fn find(
    head: &Head,
    bytes: &[u8],
    authority: Authority<'_>,
    nothing: Problem,
) -> Result<Own, Problem> {
    match basalt_console::find(&bytes[head.path()]) {
        Some(file) if authority.settings.http.console != ConsoleMode::No => {
            answer(file, head, bytes, authority)
        }
        _ => Err(nothing),
    }
}

fn answer(
    file: &'static File,
    head: &Head,
    bytes: &[u8],
    Authority { settings, access, .. }: Authority<'_>,
) -> Result<Own, Problem> {
    // With a password, knowing it is what counts, under whatever name the server is called.
    let has_password = !access.lets_anybody_in();
    let identity = if has_password { Identity::Proven } else { Identity::Anybody };
    guard::admit(head, bytes, identity, &settings.http)?;
    match head.method {
        Method::Get | Method::Head => {}
        Method::Options => return Ok(Own::Methods(ALLOW.to_owned())),
        _ => {
            let text = format!("the path takes {ALLOW}");
            let problem = Problem::new(Status::MethodNotAllowed, "BADMETHOD", text);
            return Err(Problem { allow: Some(ALLOW.to_owned()), ..problem });
        }
    }
    let tags =
        head.field(Field::IfNoneMatch).map(|range| ETags::parse(&bytes[range])).transpose()?;
    let mut served = Served { file, is_known: false };
    served.is_known = tags.is_some_and(|tags| tags.include(served.tag(), Comparison::Weak));
    Ok(Own::File(served))
}
