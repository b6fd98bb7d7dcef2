//! Sorted sets: vectors of members and scores, sorted again after each change.

use super::spelled::spelled;
use super::version::{SOME_NUMBER, moved};
use crate::choice::{ends, name, names};
use basalt_env::random::Random;
use basalt_value::hash::Terms;
use basalt_value::item::Item;
use basalt_value::sorted_set::{Direction, Element, Scored};
use basalt_value::{Collection, Edits, SortedSet};
use std::collections::BTreeMap;

/// Scores, members and versions, 0 for none, in their order.
pub(crate) type PlainSortedSet = Vec<(f64, Vec<u8>, u64)>;

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Set(Vec<(Vec<u8>, f64)>),
    Increment(Vec<u8>, f64),
    /// Sets a score, with a version.
    Give(Vec<u8>, f64),
    Remove(Vec<Vec<u8>>),
    RemoveRanks {
        start: usize,
        count: usize,
    },
    Pop(Direction),
    /// Keeps few.
    KeepRanks {
        start: usize,
        count: usize,
    },
}

pub(crate) fn plain(set: &SortedSet) -> PlainSortedSet {
    let version = |item: Item<'_>| set.attribute(item).map_or(0, |attribute| attribute.version);
    let plain =
        |element: Element<'_>| (element.score, spelled(element.member), version(element.member));
    let elements: PlainSortedSet = set.elements().map(plain).collect();
    assert_eq!(elements.len(), set.len(), "a sorted set counts its members");
    for (rank, (score, member, _)) in elements.iter().enumerate().step_by(17) {
        assert_eq!(set.rank(member), Some((rank, *score)), "a member is found where it stands");
    }
    elements
}

/// Few scores, so that some are equal.
fn score(random: &mut Random) -> f64 {
    match random.below(8) {
        0..=5 => random.below(40) as f64 - 20.0,
        6 => random.below(1 << 60) as f64 / 1024.0,
        _ if random.chance(1, 2) => f64::INFINITY,
        _ => f64::NEG_INFINITY,
    }
}

/// A sum that is a number, as ZINCRBY demands.
fn sum(score: Option<f64>, by: f64) -> Option<f64> {
    let sum = score.unwrap_or(0.0) + by;
    (!sum.is_nan()).then_some(sum)
}

impl Edit {
    pub(crate) fn choose(random: &mut Random) -> Edit {
        match random.below(16) {
            14..=15 => Edit::Give(name(random), score(random)),
            12 => Edit::Pop(Direction::Forward),
            13 => Edit::Pop(Direction::Backward),
            0..=5 => Edit::Set(names(random).into_iter().map(|it| (it, score(random))).collect()),
            6..=7 => Edit::Increment(name(random), score(random)),
            8 => Edit::Remove(vec![name(random)]),
            9 => Edit::Remove(names(random)),
            10 => {
                let (start, count) = (random.below(30) as usize, random.below(20) as usize);
                Edit::RemoveRanks { start, count }
            }
            _ => {
                let (start, count) = ends(random);
                Edit::KeepRanks { start, count }
            }
        }
    }

    pub(super) fn change(&self, set: &mut SortedSet, terms: &Terms, edits: &mut Edits<'_>) {
        let limits = &terms.limits;
        match self {
            Edit::Set(elements) => elements.iter().for_each(|(member, score)| {
                set.set(member, limits, edits, |_| Some(*score));
            }),
            Edit::Increment(member, by) => {
                set.set(member, limits, edits, |score| sum(score, *by));
            }
            Edit::Give(member, score) => {
                let scored = Scored { score: *score, expire_ms: 0, version: None };
                set.set_versioned(member, scored, limits, edits);
            }
            Edit::Remove(members) => members.iter().for_each(|member| {
                set.remove(member, edits);
            }),
            Edit::RemoveRanks { start, count } => {
                set.remove_ranks(*start..start + count, edits);
            }
            Edit::Pop(direction) => {
                set.pop(*direction, edits, |_| ());
            }
            Edit::KeepRanks { start, count } => {
                set.remove_ranks(start.saturating_add(*count)..usize::MAX, edits);
                set.remove_ranks(0..*start, edits);
            }
        }
    }

    pub(super) fn imitate(&self, set: &mut PlainSortedSet) {
        let len = set.len();
        match self {
            Edit::Set(elements) => with_scores(set, |scores| {
                elements.iter().for_each(|(member, score)| put(scores, member, *score));
            }),
            Edit::Increment(member, by) => with_scores(set, |scores| {
                if let Some(sum) = sum(scores.get(member).map(|it| it.0), *by) {
                    put(scores, member, sum);
                }
            }),
            Edit::Give(member, score) => with_scores(set, |scores| {
                scores.insert(member.clone(), (*score, SOME_NUMBER));
            }),
            Edit::Remove(members) => with_scores(set, |scores| {
                members.iter().for_each(|member| {
                    scores.remove(member);
                });
            }),
            Edit::RemoveRanks { start, count } => {
                drop(set.drain((*start).min(len)..(start + count).min(len)));
            }
            Edit::Pop(Direction::Forward) => drop(set.drain(..len.min(1))),
            Edit::Pop(Direction::Backward) => set.truncate(len.saturating_sub(1)),
            Edit::KeepRanks { start, count } => {
                set.truncate(start.saturating_add(*count));
                set.drain(..(*start).min(set.len()));
            }
        }
    }
}

/// Scores and versions.
type Scores = BTreeMap<Vec<u8>, (f64, u64)>;

/// Sets a score, which moves the version if it is another one.
fn put(scores: &mut Scores, member: &[u8], score: f64) {
    let version =
        scores.get(member).map_or(0, |&(before, version)| moved(version, before != score));
    scores.insert(member.to_vec(), (score, version));
}

fn with_scores(set: &mut PlainSortedSet, change: impl FnOnce(&mut Scores)) {
    let elements = set.drain(..);
    let mut scores: Scores =
        elements.map(|(score, member, version)| (member, (score, version))).collect();
    change(&mut scores);
    set.extend(scores.into_iter().map(|(member, (score, version))| (score, member, version)));
    set.sort_by(|(one, a, _), (other, b, _)| one.total_cmp(other).then_with(|| a.cmp(b)));
}
