//! Places in arguments and in sorted sets.

use super::hash::{Cell, LATITUDES, LONGITUDES, Point, Span};
use crate::number::double;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::SortedSet;

/// The point that two words give.
pub(super) fn point(args: &Args<'_>, at: usize) -> Result<Point, CommandError> {
    let (longitude, latitude) = (double(args.word(at))?, double(args.word(at + 1))?);
    let is_within = |span: Span, value: f64| (span.min..=span.max).contains(&value);
    if is_within(LONGITUDES, longitude) && is_within(LATITUDES, latitude) {
        return Ok(Point { longitude, latitude });
    }
    Err(CommandError::new(format!(
        "ERR invalid longitude,latitude pair {longitude:.6},{latitude:.6}"
    )))
}

/// Where a member is.
pub(super) fn place(set: Option<&SortedSet>, member: &[u8]) -> Option<Point> {
    set?.score(member).map(|score| Cell::of_score(score).center())
}
