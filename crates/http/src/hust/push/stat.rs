//! `stat` of a push queue.

use super::window::Window;
use crate::hust::answer::Answered;
use basalt_resp::Value;
use serde_json::json;

/// What is told of a push queue, given what [`info`](super::words::info) replies.
pub(in crate::hust) fn stat(queue: &[u8], reply: Value) -> Answered {
    let window = match Window::of_info(reply) {
        Err(answered) => return answered,
        Ok(None) => return Answered::no_queue(),
        Ok(Some(window)) => window,
    };
    let shown = json!({
        "queue": String::from_utf8_lossy(queue),
        "ready": [window.items, 0, 0],
        "unacked": 0,
        "max": 0,
        "lock": 0,
        "type": 1,
        "timeout": 0,
        "si": window.dropped(),
        "ci": window.newest,
        "tm": window.published_ms.unwrap_or(0) / 1000,
    });
    Answered::body(shown.to_string())
}
