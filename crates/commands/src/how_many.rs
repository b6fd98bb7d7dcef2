//! What commands have in common whose third word says how many elements they take or draw.

use crate::number::integer;
use basalt_call::entry::Traits;
use basalt_service::args::Args;
use basalt_service::error::CommandError;

/// Most elements that a negative count may ask for: each is a reply of its own.
const PICKS_MAX: u64 = 1 << 24;

/// The count is how many elements they work on. Those that a negative one asks for may be the same,
/// and so more than there are.
pub(super) const HOW_MANY: Traits = Traits::working_beyond(3, asked);

fn asked(args: &Args<'_>, len: usize) -> usize {
    match integer(args.word(2)) {
        Ok(count) if count < 0 => usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX),
        Ok(count) => len.min(count as usize),
        Err(_) => 0,
    }
}

/// Refuses to draw more elements than one reply may have.
pub(super) fn check_picks(count: i64) -> Result<(), CommandError> {
    if count < 0 && count.unsigned_abs() > PICKS_MAX {
        return Err(CommandError::fixed("ERR value is out of range"));
    }
    Ok(())
}
