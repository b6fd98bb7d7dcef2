//! Numbers of databases in arguments.

use crate::number;
use basalt_engine::Engine;
use basalt_service::error::CommandError;

/// The database that a word names.
///
/// # Errors
/// The word is no number, or no database has it.
pub fn named(word: &[u8], engine: &Engine) -> Result<u8, CommandError> {
    let number = number::integer(word)?;
    let number = i32::try_from(number).map_err(|_| {
        CommandError::fixed(
            "ERR value is out of range, value must between -2147483648 and 2147483647",
        )
    })?;
    numbered(number, engine)
}

/// The database with a number.
///
/// # Errors
/// There is none.
pub fn numbered(number: i32, engine: &Engine) -> Result<u8, CommandError> {
    u8::try_from(number)
        .ok()
        .filter(|&db| db < engine.databases())
        .ok_or(CommandError::DB_OUT_OF_RANGE)
}
