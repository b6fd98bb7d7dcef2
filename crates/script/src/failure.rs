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

/// What the script is told.
#[derive(Debug)]
enum Failure {
    /// Code first; what a script catches is a table with the text in `err`.
    Reply(Vec<u8>, Counted),
    /// As Lua's own libraries raise it: what a script catches is the text.
    Text(Vec<u8>),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Reply(text, _) | Failure::Text(text)) = self;
        String::from_utf8_lossy(text).fmt(f)
    }
}

impl std::error::Error for Failure {}

/// Raises an error with this text, code first.
pub(crate) fn raise(text: impl AsRef<[u8]>) -> mlua::Error {
    raise_counted(text, Counted::NotYet)
}

/// Raises an error with this text, code first, that may have been counted.
pub(crate) fn raise_counted(text: impl AsRef<[u8]>, counted: Counted) -> mlua::Error {
    mlua::Error::external(Failure::Reply(text.as_ref().to_vec(), counted))
}

/// Raises an error that is a table with the text in `err`.
pub(crate) fn raise_table(problem: Value) -> mlua::Error {
    match problem {
        Value::Table(table) => raise_counted(error_text(&table), Counted::of(&table)),
        _ => raise("ERR unknown error"),
    }
}

/// What a table says that a script has raised or returned as an error.
pub(crate) fn error_text(table: &Table) -> Vec<u8> {
    match table.raw_get("err") {
        Ok(Value::String(text)) => text.as_bytes().to_vec(),
        _ => b"ERR unknown error".to_vec(),
    }
}

/// Raises an error with this text, as Lua's own libraries do.
pub(crate) fn raise_text(text: impl AsRef<[u8]>) -> mlua::Error {
    mlua::Error::external(Failure::Text(text.as_ref().to_vec()))
}

/// The text of an error that a script catches as a text.
pub(crate) fn caught_text(problem: &Value) -> Option<&[u8]> {
    match problem {
        Value::Error(error) => match failure(error) {
            Some(Failure::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn failure(error: &mlua::Error) -> Option<&Failure> {
    match error {
        mlua::Error::CallbackError { cause, .. } => failure(cause),
        other => other.downcast_ref::<Failure>(),
    }
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
    match (failure(error), error) {
        (Some(Failure::Reply(text, counted)), _) => (text.clone(), *counted),
        (Some(Failure::Text(text)), _) => ([b"ERR ", &text[..]].concat(), Counted::NotYet),
        (None, mlua::Error::CallbackError { cause, .. }) => self::text(cause),
        (None, mlua::Error::MemoryError(_)) => (b"ERR not enough memory".to_vec(), Counted::NotYet),
        (None, other) => (format!("ERR {other}").into_bytes(), Counted::NotYet),
    }
}
