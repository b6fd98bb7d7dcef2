//! Elements copied out of a collection, so that it may change or go.

use super::pattern::Source;
use super::request::{Direction, Request};
use basalt_value::item::{Item, NUMBER_CHARS_MAX};
use basalt_value::sorted_set;

/// Elements in some order, one behind the other in one buffer.
#[derive(Default)]
pub(super) struct Elements {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Elements {
    pub(super) fn new() -> Elements {
        Elements::default()
    }

    /// All elements of a collection, in its order.
    pub(super) fn all(source: Source<'_>) -> Elements {
        let mut all = Elements::new();
        match source {
            Source::List(list) => list.iter_from(0).for_each(|item| all.push(item)),
            Source::Set(set) => set.iter().for_each(|item| all.push(item)),
            Source::SortedSet(set) => set.elements().for_each(|element| all.push(element.member)),
        }
        all
    }

    /// The elements that a request is for which wants them in the order of the collection.
    pub(super) fn unsorted(source: Source<'_>, request: &Request<'_>) -> Elements {
        let range = request.range(source.len());
        let mut chosen = Elements::new();
        match (source, request.direction) {
            (Source::List(list), Direction::Ascending) => {
                let items = list.iter_from(range.start).take(range.len());
                items.for_each(|item| chosen.push(item));
            }
            (Source::List(list), Direction::Descending) => {
                let items = list.iter_backwards().skip(range.start).take(range.len());
                items.for_each(|item| chosen.push(item));
            }
            (Source::Set(set), _) => {
                let items = set.iter().skip(range.start).take(range.len());
                items.for_each(|item| chosen.push(item));
            }
            (Source::SortedSet(set), direction) => {
                let len = source.len();
                let (ranks, direction) = match direction {
                    Direction::Ascending => (range, sorted_set::Direction::Forward),
                    Direction::Descending => {
                        (len - range.end..len - range.start, sorted_set::Direction::Backward)
                    }
                };
                set.iter(ranks, direction).for_each(|element| chosen.push(element.member));
            }
        }
        chosen
    }

    /// Some of them, by index.
    pub(super) fn choose(&self, indexes: &[usize]) -> Elements {
        let mut chosen = Elements::new();
        for &index in indexes {
            chosen.push(Item::Bytes(self.get(index)));
        }
        chosen
    }

    fn push(&mut self, item: Item<'_>) {
        self.bytes.extend_from_slice(item.spell(&mut [0; NUMBER_CHARS_MAX]));
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The element at an index, which exists.
    pub(super) fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}
