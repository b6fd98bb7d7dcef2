//! ZUNION, ZINTER, ZDIFF and their kin: elements of several sorted sets made one.

mod options;
mod specs;

pub(super) use specs::{ZDIFF, ZDIFFSTORE, ZINTER, ZINTERCARD, ZINTERSTORE, ZUNION, ZUNIONSTORE};

use super::input::Input;
use super::reply;
use basalt_engine::{Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_value::item::Item;
use basalt_value::sorted_set::Element;
use basalt_value::{Collection, SortedSet, Variant};
use options::{Call, Request};
use std::borrow::Cow;
use std::collections::HashMap;

/// How sorted sets become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

/// How the scores of a member become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

/// One of the inputs.
#[derive(Clone, Copy)]
struct Source<'a> {
    input: Input<'a>,
    weight: f64,
}

type Combined<'a> = Vec<(Cow<'a, [u8]>, f64)>;

impl Aggregate {
    /// `other` may be NaN, which is neither less nor more.
    fn apply(self, one: f64, other: f64) -> f64 {
        match self {
            Aggregate::Sum => number(one + other),
            Aggregate::Min => {
                if other < one {
                    other
                } else {
                    one
                }
            }
            Aggregate::Max => {
                if other > one {
                    other
                } else {
                    one
                }
            }
        }
    }
}

/// Infinities of both signs, or zero times infinity, make 0.
fn number(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

impl Operation {
    /// The event of its being stored.
    fn stored(self) -> &'static str {
        match self {
            Operation::Union => "zunionstore",
            Operation::Intersection => "zinterstore",
            Operation::Difference => "zdiffstore",
        }
    }

    /// The elements in order.
    fn run<'a>(self, request: &mut Request<'a>) -> Combined<'a> {
        let mut combined = match self {
            Operation::Union => union(request),
            Operation::Intersection => intersection(request, usize::MAX),
            Operation::Difference => difference(&request.sources),
        };
        combined.sort_unstable_by(|one, other| {
            let by_score = one.1.partial_cmp(&other.1).expect("scores are not NaN");
            by_score.then_with(|| one.0.cmp(&other.0))
        });
        combined
    }
}

fn union<'a>(request: &mut Request<'a>) -> Combined<'a> {
    let Request { sources, aggregate, .. } = request;
    // The order in which Redis adds scores, which decides how sums are rounded.
    sources.sort_by_key(|source| source.input.len());
    let most = sources.last().map_or(0, |largest| largest.input.len());
    let mut scores: HashMap<Cow<'a, [u8]>, f64> = HashMap::with_capacity(most);
    for source in sources.iter() {
        for (member, score) in source.input.members() {
            let score = number(score * source.weight);
            scores
                .entry(member)
                .and_modify(|sum| *sum = aggregate.apply(*sum, score))
                .or_insert(score);
        }
    }
    scores.into_iter().collect()
}

/// How many elements of the intersection are wanted at most.
fn intersection<'a>(request: &mut Request<'a>, most: usize) -> Combined<'a> {
    let Request { sources, aggregate, .. } = request;
    sources.sort_by_key(|source| source.input.len());
    let Some((smallest, others)) = sources.split_first() else { return Vec::new() };
    let combined = |(member, score): (Cow<'a, [u8]>, f64)| {
        let first = number(score * smallest.weight);
        let score = others.iter().try_fold(first, |sum, source| {
            // Only what is added up becomes 0, as in Redis.
            Some(aggregate.apply(sum, source.input.score(&member)? * source.weight))
        })?;
        Some((member, score))
    };
    smallest.input.members().filter_map(combined).take(most).collect()
}

fn difference<'a>(sources: &[Source<'a>]) -> Combined<'a> {
    let Some((first, others)) = sources.split_first() else { return Vec::new() };
    let is_left = |(member, _): &(Cow<'a, [u8]>, f64)| {
        others.iter().all(|source| source.input.score(member).is_none())
    };
    first.input.members().filter(is_left).collect()
}

fn run_reply(call: Call, view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let mut request = call.parse(args, |key| view.get(args.key(key)))?;
    let combined = call.operation.run(&mut request);
    let elements = combined
        .iter()
        .map(|(member, score)| Element { member: Item::Bytes(member), score: *score });
    reply::elements(reply, elements, request.scores);
    Ok(())
}

fn run_store(
    call: Call,
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let set = {
        let mut request = call.parse(args, |key| txn.get(args.key(key)))?;
        let combined = call.operation.run(&mut request);
        let elements: Vec<(f64, &[u8])> =
            combined.iter().map(|(member, score)| (*score, &**member)).collect();
        SortedSet::from_sorted(&elements, &txn.limits())
    };
    txn.notify_missing(&args.keys()[1..]);
    let len = set.len() as i64;
    txn.put_result(args.key(0), set.into_value(), call.operation.stored())?;
    reply.integer(len);
    Ok(())
}

fn run_count(call: Call, view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let mut request = call.parse(args, |key| view.get(args.key(key)))?;
    let most = if request.limit == 0 { usize::MAX } else { request.limit };
    reply.integer(intersection(&mut request, most).len() as i64);
    Ok(())
}
