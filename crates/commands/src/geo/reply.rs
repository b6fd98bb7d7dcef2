//! Coordinates and distances in replies.

use super::hash::Point;
use basalt_resp::{Protocol, Reply};

/// Longitude and latitude.
pub(super) fn point(reply: &mut Reply<'_>, point: Point) {
    reply.array(2);
    coordinate(reply, point.longitude);
    coordinate(reply, point.latitude);
}

/// Seventeen digits behind the point, without the zeros at the end: doubles in RESP3, but not with
/// the fewest digits.
fn coordinate(reply: &mut Reply<'_>, value: f64) {
    let digits = format!("{value:.17}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    match reply.protocol() {
        Protocol::Resp2 => reply.bulk(digits.as_bytes()),
        Protocol::Resp3 => reply.raw(format!(",{digits}\r\n").as_bytes()),
    }
}

/// Four digits behind the point.
pub(super) fn distance(reply: &mut Reply<'_>, value: f64) {
    reply.bulk(format!("{value:.4}").as_bytes());
}
