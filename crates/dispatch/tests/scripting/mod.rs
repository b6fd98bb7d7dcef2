//! The scripting family.

mod differential;
mod errors;
mod functions;
mod held;
mod isolation;
mod let_go;
mod libraries;
mod limits;
mod permits;
mod reach;
mod rows;
mod time;

use crate::harness::TestServer;
use basalt_resp::Value;

/// Calls a script with these keys and arguments.
fn eval(server: &mut TestServer, script: &str, keys: &[&str], args: &[&str]) -> Value {
    let count = keys.len().to_string();
    let words = [&["EVAL", script, &count][..], keys, args].concat();
    server.run(&words)
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

/// The text of an error.
fn error(value: &Value) -> &str {
    match value {
        Value::Error(text) => std::str::from_utf8(text).expect("an error is text"),
        other => panic!("no error: {other:?}"),
    }
}
