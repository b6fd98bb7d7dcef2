//! What came of a burden that others were to a server.

use serde::Serialize;

#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct Made {
    /// Handshakes, or runs of the script that have ended.
    pub(super) per_second: f64,
    pub(super) failed: u64,
    pub(super) first_error: Option<String>,
}
