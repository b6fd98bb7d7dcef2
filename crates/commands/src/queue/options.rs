//! Words that several commands on queues have.

use crate::number::integer;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::queue::{LaneNumber, State};

/// Longest time that a message may be held, held back or remembered: 12 hours for leases, ten years
/// for the others.
pub(super) const LEASE_MS_MAX: u64 = 12 * 3_600 * 1_000;
const TIME_MS_MAX: u64 = 10 * 366 * 86_400 * 1_000;
/// Longest name of a message or of a consumer.
const NAME_BYTES_MAX: usize = 128;

/// A time in milliseconds.
pub(super) fn time_ms(word: &[u8], least: u64) -> Result<u64, CommandError> {
    const OUTSIDE: CommandError =
        CommandError::fixed("ERR time is out of range: from 0 or 1 milliseconds to ten years");
    let time_ms = u64::try_from(integer(word)?).map_err(|_| OUTSIDE)?;
    if (least..=TIME_MS_MAX).contains(&time_ms) { Ok(time_ms) } else { Err(OUTSIDE) }
}

/// How long a message is held.
pub(super) fn lease_ms(word: &[u8]) -> Result<u64, CommandError> {
    const OUTSIDE: CommandError =
        CommandError::fixed("ERR lease is out of range: from 1 millisecond to 12 hours");
    let lease_ms = u64::try_from(integer(word)?).map_err(|_| OUTSIDE)?;
    if (1..=LEASE_MS_MAX).contains(&lease_ms) { Ok(lease_ms) } else { Err(OUTSIDE) }
}

/// A priority.
pub(super) fn lane(word: &[u8]) -> Result<LaneNumber, CommandError> {
    let lane = u64::try_from(integer(word)?).ok().and_then(LaneNumber::new);
    lane.ok_or(CommandError::fixed("ERR priority is out of range: from 0 to 9"))
}

/// The name of a message or of a consumer.
pub(super) fn name(word: &[u8]) -> Result<&[u8], CommandError> {
    match word.len() {
        1..=NAME_BYTES_MAX => Ok(word),
        _ => Err(CommandError::fixed("ERR name is out of range: from 1 to 128 bytes")),
    }
}

/// A state by its name.
pub(super) fn state(word: &[u8]) -> Result<State, CommandError> {
    let state = State::ALL.into_iter().find(|it| word.eq_ignore_ascii_case(it.name().as_bytes()));
    state.ok_or(CommandError::fixed("ERR state must be ready, delayed, leased or dead"))
}

/// The word behind an option's name.
pub(super) fn value<'a>(args: &Args<'a>, index: usize) -> Result<&'a [u8], CommandError> {
    args.opt(index + 1).ok_or(CommandError::SYNTAX)
}
