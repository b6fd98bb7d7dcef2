//! GEOSEARCH, GEORADIUS and their kin: the places near a point.

mod options;
mod specs;

pub(super) use specs::{
    GEORADIUS, GEORADIUS_RO, GEORADIUSBYMEMBER, GEORADIUSBYMEMBER_RO, GEOSEARCH, GEOSEARCHSTORE,
};

use super::area::SearchArea;
use super::hash::{Cell, Point};
use super::reply as geo_reply;
use crate::sorted_set::reply::member;
use basalt_engine::{Key, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_value::item::NUMBER_CHARS_MAX;
use basalt_value::sorted_set::{Direction, Element};
use basalt_value::{Collection, Edits, FormLimits, SortedSet, Variant};
use options::{Call, Order, Request, Stored};

/// A place that was found.
struct Found<'a> {
    element: Element<'a>,
    point: Point,
    distance_m: f64,
}

/// The places within the area, in the order that is asked for and no more than that.
fn find<'a>(set: &'a SortedSet, area: &SearchArea, request: &Request<'_>) -> Vec<Found<'a>> {
    let most = request.count.unwrap_or(usize::MAX);
    let enough = if request.is_any { most } else { usize::MAX };
    let within = |element: Element<'a>| {
        let point = Cell::of_score(element.score).center();
        let distance_m = area.distance_m(point)?;
        Some(Found { element, point, distance_m })
    };
    let ranges = area.ranges();
    let elements = ranges.iter().flat_map(|range| set.iter(set.ranks(range), Direction::Forward));
    let mut found: Vec<Found<'a>> = elements.filter_map(within).take(enough).collect();
    let nearer = |one: &Found<'_>, other: &Found<'_>| one.distance_m.total_cmp(&other.distance_m);
    match request.order {
        Order::AsFound => {}
        Order::NearestFirst => found.sort_by(nearer),
        Order::FarthestFirst => found.sort_by(|one, other| nearer(other, one)),
    }
    found.truncate(most);
    found
}

impl Request<'_> {
    fn reply(&self, found: &[Found<'_>], reply: &mut Reply<'_>) {
        let details = [self.with_distance, self.with_hash, self.with_point];
        let words = 1 + details.into_iter().filter(|&is_wanted| is_wanted).count();
        reply.array(found.len());
        for place in found {
            if words > 1 {
                reply.array(words);
            }
            member(reply, place.element.member);
            if self.with_distance {
                geo_reply::distance(reply, place.distance_m / self.unit_m);
            }
            if self.with_hash {
                reply.integer(place.element.score as i64);
            }
            if self.with_point {
                geo_reply::point(reply, place.point);
            }
        }
    }

    fn stored(&self, found: &[Found<'_>], stored: Stored, limits: &FormLimits) -> SortedSet {
        let mut set = SortedSet::new();
        for place in found {
            let score = match stored {
                Stored::Hashes => place.element.score,
                Stored::Distances => place.distance_m / self.unit_m,
            };
            let mut digits = [0; NUMBER_CHARS_MAX];
            let member = place.element.member.spell(&mut digits);
            set.set(member, limits, &mut Edits::none(), |_| Some(score));
        }
        set
    }
}

fn run_read(call: Call, view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let set = view.collection::<SortedSet>(args.key(call.source_key()))?;
    let request = call.parse(args, set)?;
    let found = match (set, &request.area) {
        (Some(set), Some(area)) => find(set, area, &request),
        _ => Vec::new(),
    };
    request.reply(&found, reply);
    Ok(())
}

fn run_write(
    call: Call,
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    txn.notify_missing(std::slice::from_ref(args.key(call.source_key())));
    let (destination, result) = {
        let set = txn.collection::<SortedSet>(args.key(call.source_key()))?;
        let request = call.parse(args, set)?;
        let found = match (set, &request.area) {
            (Some(set), Some(area)) => find(set, area, &request),
            _ => Vec::new(),
        };
        let Some((stored, word)) = request.stored else {
            request.reply(&found, reply);
            return Ok(());
        };
        (key_of(args, word)?, request.stored(&found, stored, &txn.limits()))
    };
    let len = result.len() as i64;
    let event = if args.is(0, "GEOSEARCHSTORE") { "geosearchstore" } else { "georadiusstore" };
    txn.put_result(destination, result.into_value(), event)?;
    reply.integer(len);
    Ok(())
}

/// The key that is this word. Only the key behind the first of several STORE is known beforehand.
fn key_of<'a>(args: &Args<'a>, word: &[u8]) -> Result<&'a Key<'a>, CommandError> {
    args.keys().iter().find(|key| key.bytes == word).ok_or(CommandError::SYNTAX)
}
