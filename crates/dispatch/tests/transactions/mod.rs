//! The transactions family.

mod exec;
mod isolation;
mod own_connection;
mod watch;
mod watched_examples;
mod watched_writes;

use crate::harness::TestServer;
use basalt_resp::Value;

/// Runs lines as a transaction; returns what EXEC answers.
fn transaction(server: &mut TestServer, lines: &[&str]) -> Value {
    assert_eq!(server.line("MULTI"), Value::Simple(b"OK".to_vec()));
    for line in lines {
        assert_eq!(server.line(line), Value::Simple(b"QUEUED".to_vec()), "{line}");
    }
    server.line("EXEC")
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

/// Whether EXEC has answered that a watched key has changed.
fn is_aborted(reply: &Value) -> bool {
    matches!(reply, Value::Null | Value::NullArray)
}
