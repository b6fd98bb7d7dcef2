//! Commands on strings, fields and members with versions: numbers that every change of the key, or
//! of the element, moves.
//!
//! A version is a string in requests and replies: it has 64 bits, and not everybody's integers do.

mod delete;
mod element;
mod field;
mod field_write;
mod get;
mod member;
mod options;
mod scored_member;
mod set;
mod several;

use basalt_call::entry::Entry;
use basalt_engine::Version;
use basalt_resp::Reply;
use basalt_service::error::CommandError;

/// The family.
pub const COMMANDS: &[Entry] = &[
    get::CAS_GET,
    set::CAS_SET,
    delete::CAS_DEL,
    several::CAS_EXISTS,
    several::CAS_HEXISTS,
    several::CAS_MGET,
    several::CAS_HMGET,
    field::CAS_HGET,
    field::CAS_HDEL,
    field_write::CAS_HSET,
    field_write::CAS_HINCRBY,
    member::CAS_SADD,
    member::CAS_SREM,
    member::CAS_SISMEMBER,
    member::CAS_SMISMEMBER,
    scored_member::CAS_ZADD,
    scored_member::CAS_ZREM,
    scored_member::CAS_ZSCORE,
    scored_member::CAS_ZMSCORE,
];

const NO_VERSION: CommandError = CommandError::fixed(
    "ERR a version is an integer above 0; use NX for a key that is not there and IFDEQ for one \
     without a version",
);

/// A version that a client expects.
///
/// # Errors
/// It is none that a key can have.
fn version(word: &[u8]) -> Result<Version, CommandError> {
    let is_plain = word.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(word).ok().filter(|_| is_plain).and_then(|text| text.parse().ok());
    match number {
        None | Some(0) => Err(NO_VERSION),
        Some(number) => Ok(Version::new(number)),
    }
}

/// A version that a client chooses: it fits where numbers have a sign, and leaves as many behind
/// it.
///
/// # Errors
/// It is none, or too large.
fn chosen_version(word: &[u8]) -> Result<Version, CommandError> {
    version(word).and_then(|version| match version.number() {
        0..=CHOSEN_MAX => Ok(version),
        _ => Err(NO_VERSION),
    })
}

const CHOSEN_MAX: u64 = i64::MAX as u64;

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
