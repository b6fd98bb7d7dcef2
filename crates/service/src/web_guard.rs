//! The guard against web pages.
//!
//! A page in a browser may send an HTTP request to any address, a server on the same machine or
//! network included, and choose its body. The header lines are answered with errors, one by one,
//! and the body would run as commands. So a line that every such request has ends the connection:
//! `POST`, or `Host:`, which a request with another method has before it has a body. Neither is a
//! command.

use crate::args::Args;
use std::sync::atomic::{AtomicU64, Ordering};

/// A warning is written this often at most, whatever clients send.
const WARNING_EVERY_MS: u64 = 60_000;

/// Tells of clients that speak HTTP.
#[derive(Debug, Default)]
pub struct WebGuard {
    /// When it last did, in unix milliseconds.
    warned_ms: AtomicU64,
}

/// Whether a request that names no command is a line of HTTP.
pub fn is_http(args: &Args<'_>) -> bool {
    let name = args.word(0);
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}

impl WebGuard {
    /// Tells of a client that spoke HTTP, unless another one was told of in the last minute.
    #[cold]
    pub fn warn(&self, client_address: &str, now_ms: u64) {
        let last = self.warned_ms.load(Ordering::Relaxed);
        if last != 0 && now_ms.abs_diff(last) <= WARNING_EVERY_MS {
            return;
        }
        // Relaxed: of threads that come at once, one writes the warning.
        let own =
            self.warned_ms.compare_exchange(last, now_ms, Ordering::Relaxed, Ordering::Relaxed);
        if own.is_ok() {
            tracing::warn!(
                "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: \
                 commands to Basalt. This is likely due to an attacker attempting to use Cross Protocol \
                 Scripting to compromise your Basalt instance. Connection from {client_address} aborted."
            );
        }
    }
}
