//! `/health/live` and `/health/ready`: for those who start and stop servers. They need no user.

use crate::problem::Problem;
use basalt_dispatch::Dispatcher;
use basalt_http1::Status;

/// What a healthy server answers.
pub(crate) const HEALTHY: &[u8] = b"ok\n";

/// Whether the server takes requests, changes included.
///
/// # Errors
/// Why not.
pub(crate) fn ready(server: &Dispatcher) -> Result<(), Problem> {
    match server.refuses_changes() {
        None => Ok(()),
        Some(error) => {
            let problem = Problem::of_error(error.text().as_bytes());
            Err(Problem { status: Status::ServiceUnavailable, ..problem })
        }
    }
}
