//! Users and their rights: every command without its category, a naive model, and redis-server.

mod alike;
mod arbitrary;
mod categories;
mod differential;
mod model;
mod rows;

use crate::harness::TestServer;
use basalt_resp::Value;

/// Makes the connection one of a user with these rules.
pub fn log_in(server: &mut TestServer, name: &str, rules: &[&str]) {
    let words: Vec<&[u8]> = rules.iter().map(|rule| rule.as_bytes()).collect();
    let access = &server.server.access;
    access.set_user(&server.worker.settings, name.as_bytes(), &words).expect("they are rules");
    let rights = access.authenticate(name.as_bytes(), b"").expect("the user is on");
    server.session.log_in(rights);
}

/// Whether a reply says that something is not permitted.
fn is_denied(reply: &Value) -> bool {
    // EXEC that is refused says why behind a text of its own.
    let Value::Error(text) = reply else { return false };
    let text = String::from_utf8_lossy(text);
    text.starts_with("NOPERM ") || text.starts_with("EXECABORT ") && text.contains("NOPERM ")
}
