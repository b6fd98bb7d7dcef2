//! Commands on strings whose keys have versions: numbers that every change of the key moves.
//!
//! A version is a string in requests and replies: it has 64 bits, and not everybody's integers do.

mod delete;
mod get;
mod set;

use basalt_call::entry::Entry;
use basalt_engine::Version;
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::error::CommandError;

/// The family.
pub const COMMANDS: &[Entry] = &[get::CAS_GET, set::CAS_SET, delete::CAS_DEL];

/// A version that a client names.
///
/// # Errors
/// It is none that a key can have.
fn version(word: &[u8]) -> Result<Version, CommandError> {
    const NO_VERSION: CommandError = CommandError::fixed(
        "ERR a version is an integer above 0; use NX for a key that is not there and IFDEQ for one \
         without a version",
    );
    match parse_i64(word).and_then(|number| u64::try_from(number).ok()) {
        None | Some(0) => Err(NO_VERSION),
        Some(number) => Ok(Version::new(number)),
    }
}

/// Replies with a version, `0` for none.
fn reply_version(version: Version, reply: &mut Reply<'_>) {
    let mut digits = itoa::Buffer::new();
    reply.bulk(digits.format(version.number()).as_bytes());
}

/// Writes whether the command has done something, and a version: the first elements of its reply.
fn reply_outcome(is_done: bool, version: Version, reply: &mut Reply<'_>) {
    reply.integer(is_done.into());
    reply_version(version, reply);
}
