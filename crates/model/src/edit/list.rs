//! Lists: vectors.

use super::spelled::spelled;
use crate::choice::{ends, word, words};
use basalt_env::random::Random;
use basalt_value::hash::Terms;
use basalt_value::list::Side;
use basalt_value::{Collection, Edits, List};

pub(crate) type PlainList = Vec<Vec<u8>>;

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Push(Side, Vec<Vec<u8>>),
    Pop(Side, usize),
    Set(usize, Vec<u8>),
    Insert(usize, Vec<u8>),
    RemoveEqual(Vec<u8>, i64),
    Trim { start: usize, count: usize },
}

pub(crate) fn plain(list: &List) -> PlainList {
    let elements: PlainList = list.iter_from(0).map(spelled).collect();
    assert_eq!(elements.len(), list.len(), "a list counts its elements");
    elements
}

impl Edit {
    pub(crate) fn choose(random: &mut Random) -> Edit {
        let side = if random.chance(1, 2) { Side::Left } else { Side::Right };
        match random.below(14) {
            0..=5 => Edit::Push(side, words(random)),
            6..=7 => Edit::Pop(side, 1 + random.below(3) as usize),
            8 => Edit::Pop(side, random.below(1_000) as usize),
            9 => Edit::Set(random.next_u64() as usize, word(random)),
            10..=11 => Edit::Insert(random.next_u64() as usize, word(random)),
            12 => Edit::RemoveEqual(word(random), random.below(7) as i64 - 3),
            _ => {
                let (start, count) = ends(random);
                Edit::Trim { start, count }
            }
        }
    }

    pub(super) fn change(&self, list: &mut List, terms: &Terms, edits: &mut Edits<'_>) {
        let (limits, len) = (&terms.limits, list.len());
        match self {
            Edit::Push(side, elements) => {
                elements.iter().for_each(|element| list.push(*side, element, limits, edits));
            }
            Edit::Pop(side, count) => list.pop(*side, *count, limits, edits, |_| ()),
            Edit::Set(nth, element) if len > 0 => list.set(nth % len, element, limits, edits),
            Edit::Set(..) => {}
            Edit::Insert(nth, element) => list.insert(nth % (len + 1), element, limits, edits),
            Edit::RemoveEqual(element, count) => {
                list.remove_equal(element, *count, limits, edits);
            }
            Edit::Trim { start, count } => list.trim((*start).min(len), *count, limits, edits),
        }
    }

    pub(super) fn imitate(&self, list: &mut PlainList) {
        let len = list.len();
        match self {
            Edit::Push(Side::Left, elements) => {
                list.splice(0..0, elements.iter().rev().cloned());
            }
            Edit::Push(Side::Right, elements) => list.extend_from_slice(elements),
            Edit::Pop(Side::Left, count) => drop(list.drain(..(*count).min(len))),
            Edit::Pop(Side::Right, count) => list.truncate(len.saturating_sub(*count)),
            Edit::Set(nth, element) if len > 0 => list[nth % len].clone_from(element),
            Edit::Set(..) => {}
            Edit::Insert(nth, element) => list.insert(nth % (len + 1), element.clone()),
            Edit::RemoveEqual(element, count) => remove_equal(list, element, *count),
            Edit::Trim { start, count } => {
                list.truncate(start.saturating_add(*count));
                list.drain(..(*start).min(list.len()));
            }
        }
    }
}

fn remove_equal(list: &mut PlainList, wanted: &[u8], count: i64) {
    let mut left = if count == 0 { u64::MAX } else { count.unsigned_abs() };
    let mut keeps = |element: &Vec<u8>| {
        let is_removed = left > 0 && element == wanted;
        left -= u64::from(is_removed);
        !is_removed
    };
    if count < 0 {
        list.reverse();
        list.retain(&mut keeps);
        list.reverse();
    } else {
        list.retain(&mut keeps);
    }
}
