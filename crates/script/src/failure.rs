//! Errors that the server raises in a script, on their way through Lua.
//!
//! A library function in Rust cannot raise a table as Redis' functions do; it raises a value of its
//! own, which the prelude and `explain` turn into what Redis raises wherever a script can see it.
//! It has to be Rust's function that raises it, not one in Lua that it is called by: in `return
//! redis.call(…)` such a function would take the place of its caller, and with it the number of the
//! line.

use mlua::Value;
use std::fmt;

/// What the script is told, code first.
#[derive(Debug)]
struct Failure(Vec<u8>);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

impl std::error::Error for Failure {}

/// Raises an error with this text, code first.
pub(crate) fn raise(text: impl AsRef<[u8]>) -> mlua::Error {
    mlua::Error::external(Failure(text.as_ref().to_vec()))
}

/// What an error says that is not a value of the script's own.
pub(crate) fn told(problem: &Value) -> Option<Vec<u8>> {
    match problem {
        Value::Error(error) => Some(text(error)),
        _ => None,
    }
}

fn text(error: &mlua::Error) -> Vec<u8> {
    match error {
        mlua::Error::CallbackError { cause, .. } => text(cause),
        mlua::Error::MemoryError(_) => b"ERR not enough memory".to_vec(),
        other => match other.downcast_ref::<Failure>() {
            Some(Failure(text)) => text.clone(),
            None => format!("ERR {other}").into_bytes(),
        },
    }
}
