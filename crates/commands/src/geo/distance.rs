//! Distances on the globe, in metres, and their units.

use super::hash::Point;
use basalt_service::args::Args;
use basalt_service::error::CommandError;

/// The radius that Redis calculates with.
const EARTH_RADIUS_M: f64 = 6_372_797.560_856;

/// Degrees as radians. (`to_radians` rounds otherwise.)
fn radians(degrees: f64) -> f64 {
    degrees * (std::f64::consts::PI / 180.0)
}

/// The arc of a distance in metres, in degrees.
pub(super) fn arc_degrees(metres: f64) -> f64 {
    degrees(metres / EARTH_RADIUS_M)
}

/// A distance to the east at a latitude, in degrees of longitude.
pub(super) fn parallel_arc_degrees(metres: f64, latitude: f64) -> f64 {
    degrees(metres / EARTH_RADIUS_M / radians(latitude).cos())
}

/// Radians as degrees.
fn degrees(radians: f64) -> f64 {
    radians / (std::f64::consts::PI / 180.0)
}

/// Along the great circle, by the haversine formula.
pub(super) fn distance_m(one: Point, other: Point) -> f64 {
    let v = ((radians(other.longitude) - radians(one.longitude)) / 2.0).sin();
    // Most of it can be saved on one meridian.
    if v == 0.0 {
        return meridian_distance_m(one.latitude, other.latitude);
    }
    let (from, to) = (radians(one.latitude), radians(other.latitude));
    let u = ((to - from) / 2.0).sin();
    let a = u * u + from.cos() * to.cos() * v * v;
    2.0 * EARTH_RADIUS_M * a.sqrt().asin()
}

/// Along a meridian.
pub(super) fn meridian_distance_m(one: f64, other: f64) -> f64 {
    EARTH_RADIUS_M * (radians(other) - radians(one)).abs()
}

/// The metres of the unit in a word.
pub(super) fn unit_m(args: &Args<'_>, index: usize) -> Result<f64, CommandError> {
    const UNITS: [(&str, f64); 4] = [("m", 1.0), ("km", 1000.0), ("ft", 0.3048), ("mi", 1609.34)];
    let unit = UNITS.iter().find(|(name, _)| args.is(index, name));
    unit.map(|(_, metres)| *metres)
        .ok_or(CommandError::fixed("ERR unsupported unit provided. please use M, KM, FT, MI"))
}
