//! Errors that the server raises in a script, on their way through Lua.
//!
//! A library function in Rust cannot raise a table as Redis' functions do; it raises a value of its
//! own, which the prelude and `explain` turn into what Redis raises wherever a script can see it.
//! It has to be Rust's function that raises it, not one in Lua that it is called by: in `return
//! redis.call(…)` such a function would take the place of its caller, and with it the number of the
//! line.

use mlua::{Table, Value};
use std::fmt;

/// Whether an error is in the server's statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// It is: it comes from a command that the script has called.
    Already,
    /// It is not, and will be if it becomes the script's answer.
    NotYet,
}

/// The field of an error's table that says that it has been counted; the name is Redis'.
const COUNTED: &str = "ignore_error_stats_update";

impl Counted {
    /// What the table of an error says of it.
    pub(crate) fn of(table: &Table) -> Counted {
        match table.raw_get(COUNTED) {
            Ok(Value::Nil | Value::Boolean(false)) | Err(_) => Counted::NotYet,
            Ok(_) => Counted::Already,
        }
    }

    /// Has the table of an error say it.
    pub(crate) fn note(self, table: &Table) -> mlua::Result<()> {
        match self {
            Counted::Already => table.raw_set(COUNTED, true),
            Counted::NotYet => Ok(()),
        }
    }
}

/// What the script is told, code first.
#[derive(Debug)]
struct Failure(Vec<u8>, Counted);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

impl std::error::Error for Failure {}

/// Raises an error with this text, code first.
pub(crate) fn raise(text: impl AsRef<[u8]>) -> mlua::Error {
    raise_counted(text, Counted::NotYet)
}

/// Raises an error with this text, code first, that may have been counted.
pub(crate) fn raise_counted(text: impl AsRef<[u8]>, counted: Counted) -> mlua::Error {
    mlua::Error::external(Failure(text.as_ref().to_vec(), counted))
}

/// What an error says that is not a value of the script's own.
pub(crate) fn told(problem: &Value) -> Option<(Vec<u8>, Counted)> {
    match problem {
        Value::Error(error) => Some(text(error)),
        _ => None,
    }
}

/// What an error says.
pub(crate) fn text(error: &mlua::Error) -> (Vec<u8>, Counted) {
    match error {
        mlua::Error::CallbackError { cause, .. } => text(cause),
        mlua::Error::MemoryError(_) => (b"ERR not enough memory".to_vec(), Counted::NotYet),
        other => match other.downcast_ref::<Failure>() {
            Some(Failure(text, counted)) => (text.clone(), *counted),
            None => (format!("ERR {other}").into_bytes(), Counted::NotYet),
        },
    }
}
