//! What a machine may lack. A test that needs it fails there, so that no run looks better than it
//! was; a variable declares the lack, and then the test passes without looking.

use std::process::{Command, Stdio};

/// Prints what is missing and returns if `variable` is `1`; the caller leaves its test out.
///
/// # Panics
/// The variable is not set: what is missing is a failure.
#[allow(clippy::print_stderr, reason = "a test that is left out has no other voice")]
pub fn leave_out(what: &str, variable: &str) {
    let is_declared = std::env::var_os(variable).is_some_and(|value| value == "1");
    assert!(is_declared, "{what}; {variable}=1 leaves out the tests that need it");
    eprintln!("left out: {what}");
}

/// Returns true if there is no `redis-server`, which `BASALT_WITHOUT_REDIS=1` permits.
///
/// # Panics
/// There is none and it is not permitted.
pub fn is_redis_missing() -> bool {
    let mut probe = Command::new("redis-server");
    let found = probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return false;
    }
    leave_out("redis-server is not installed", "BASALT_WITHOUT_REDIS");
    true
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "no such thing; BASALT_WITHOUT_NO_SUCH_THING=1 leaves out")]
    fn what_is_missing_is_a_failure() {
        super::leave_out("no such thing", "BASALT_WITHOUT_NO_SUCH_THING");
    }
}
