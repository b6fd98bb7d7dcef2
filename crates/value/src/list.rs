//! HOT PATH
//! Lists.
//!
//! ```text
//! packed   count:u16le element …  see list/element.rs, up to `list-max-listpack-size`
//! native   chunks of elements     see list/chunks.rs
//!
//! encoded  item …                 in order, see item.rs
//! edits    PUSH_LEFT 1 item       PUSH_RIGHT 2 item      POP_LEFT 3 count   POP_RIGHT 4 count
//!          SET 5 index item       INSERT 6 index item     REMOVE 7 index count   (varints)
//! ```
//! Edits go by position: the list that they are applied to is the one that they were written for.

mod chunk;
mod chunks;
mod edit;
mod element;
mod places;
mod run;
mod side;
mod spread;
#[cfg(test)]
mod tests;

pub use side::Side;

use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::{Form, FormMut, FormRef};
use crate::item::Item;
use crate::kind::Kind;
use crate::limits::FormLimits;
use crate::packed::Packed;
use chunks::Chunks;
use edit::Edit;
use element::Element;
use run::{elements, len_of, splice};

/// Bytes that a listpack takes beside its elements, by which Redis measures.
const LISTPACK_BYTES: usize = 7;

/// Elements of a packed list: their number has two bytes.
const PACKED_COUNT_MAX: usize = u16::MAX as usize;

/// A list.
#[repr(transparent)]
#[derive(Default)]
pub struct List(pub(crate) Form<Chunks>);

/// Whether a packed list may have this number of bytes and elements.
#[inline]
fn fits(limits: &FormLimits, bytes: usize, count: usize) -> bool {
    match limits.list_node {
        node @ 1.. => {
            count <= (node as usize).min(PACKED_COUNT_MAX)
                && bytes + LISTPACK_BYTES <= COUNTED_NODE_BYTES_MAX
        }
        node => bytes + LISTPACK_BYTES <= node_bytes(node),
    }
}

/// Bytes of a node of which only the number of elements is limited: as in Redis.
const COUNTED_NODE_BYTES_MAX: usize = 8 << 10;

fn node_bytes(node: i32) -> usize {
    match node {
        -1 => 4 << 10,
        -2 => 8 << 10,
        -3 => 16 << 10,
        -4 => 32 << 10,
        _ => 64 << 10,
    }
}

impl List {
    /// Adds an element at an end.
    #[inline]
    pub fn push(&mut self, side: Side, value: &[u8], limits: &FormLimits, edits: &mut Edits<'_>) {
        let element = Element::of(Item::of(value));
        edits.write(|out| edit::put_push(side, &element, out));
        self.push_element(side, &element, limits, edits);
    }

    #[inline]
    fn push_element(
        &mut self,
        side: Side,
        element: &Element<'_>,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) {
        match self.0.change() {
            FormMut::Native(chunks) => return chunks.push(side, element, edits),
            FormMut::Packed(packed) => {
                let bytes = elements(packed).len();
                if fits(limits, bytes + element.len(), len_of(packed) + 1) {
                    let at = if side == Side::Left { 0 } else { bytes };
                    return splice(packed, at..at, element, 1);
                }
            }
        }
        self.native(edits).push(side, element, edits);
    }

    /// Removes up to `count` elements at an end; shows them first, the one at the end first.
    #[inline]
    pub fn pop(
        &mut self,
        side: Side,
        count: usize,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
        visit: impl FnMut(Item<'_>),
    ) {
        let count = count.min(self.len());
        if count == 0 {
            return;
        }
        match (count, self.0.read()) {
            (1, FormRef::Native(chunks)) => chunks.end(side).into_iter().for_each(visit),
            _ if side == Side::Left => self.iter_from(0).take(count).for_each(visit),
            _ => self.iter_backwards().take(count).for_each(visit),
        }
        edits.write(|out| Edit::Pop(side, count).put(out));
        self.pop_many(side, count, limits, edits);
    }

    fn pop_many(&mut self, side: Side, count: usize, limits: &FormLimits, edits: &mut Edits<'_>) {
        match self.0.change() {
            FormMut::Packed(packed) => {
                let bytes = elements(packed);
                let mut rest = bytes;
                for _ in 0..count {
                    match side {
                        Side::Left => element::take_first(&mut rest),
                        Side::Right => element::take_last(&mut rest),
                    };
                }
                let (kept, all) = (rest.len(), bytes.len());
                let range = if side == Side::Left { 0..all - kept } else { kept..all };
                splice(packed, range, &Element::standing(&[]), -(count as isize));
            }
            FormMut::Native(chunks) => {
                chunks.pop(side, count, edits);
                self.pack_if_small(limits, edits);
            }
        }
    }

    /// The element at an index.
    pub fn get(&self, index: usize) -> Option<Item<'_>> {
        match self.0.read() {
            FormRef::Packed(_) => self.iter_from(index).next(),
            FormRef::Native(chunks) => chunks.get(index),
        }
    }

    /// Elements from an index on.
    pub fn iter_from(&self, index: usize) -> impl Iterator<Item = Item<'_>> {
        let (first, rest) = match self.0.read() {
            FormRef::Packed(packed) => {
                let mut bytes = elements(packed);
                for _ in 0..index {
                    if element::take_first(&mut bytes).is_none() {
                        break;
                    }
                }
                (Some(bytes), None)
            }
            FormRef::Native(chunks) => {
                let (first, rest) = chunks.runs_from(index);
                (first, Some(rest))
            }
        };
        first.into_iter().chain(rest.into_iter().flatten()).flat_map(|run| {
            let mut run = run;
            std::iter::from_fn(move || element::take_first(&mut run))
        })
    }

    /// Elements from the last one to the first.
    pub fn iter_backwards(&self) -> impl Iterator<Item = Item<'_>> {
        let (one, many) = match self.0.read() {
            FormRef::Packed(packed) => (Some(elements(packed)), None),
            FormRef::Native(chunks) => (None, Some(chunks.runs_backwards())),
        };
        one.into_iter().chain(many.into_iter().flatten()).flat_map(|run| {
            let mut run = run;
            std::iter::from_fn(move || element::take_last(&mut run))
        })
    }

    /// Replaces the element at an index, which exists.
    pub fn set(&mut self, index: usize, value: &[u8], limits: &FormLimits, edits: &mut Edits<'_>) {
        let item = Item::of(value);
        edits.write(|out| Edit::Set(index, item).put(out));
        self.set_item(index, item, limits, edits);
    }

    fn set_item(
        &mut self,
        index: usize,
        item: Item<'_>,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) {
        let element = Element::of(item);
        if let FormMut::Packed(packed) = self.0.change() {
            let (count, bytes) = (len_of(packed), elements(packed));
            let place = element::place(bytes, count, index);
            if fits(limits, bytes.len() - place.len() + element.len(), count) {
                return splice(packed, place, &element, 0);
            }
        }
        self.native(edits).set(index, &element, edits);
    }

    /// Inserts an element before the one at an index, or at the end.
    pub fn insert(
        &mut self,
        index: usize,
        value: &[u8],
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) {
        let item = Item::of(value);
        edits.write(|out| Edit::Insert(index, item).put(out));
        self.insert_item(index, item, limits, edits);
    }

    fn insert_item(
        &mut self,
        index: usize,
        item: Item<'_>,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) {
        let element = Element::of(item);
        if let FormMut::Packed(packed) = self.0.change() {
            let (count, bytes) = (len_of(packed), elements(packed));
            if fits(limits, bytes.len() + element.len(), count + 1) {
                let at = element::start(bytes, count, index);
                return splice(packed, at..at, &element, 1);
            }
        }
        self.native(edits).insert(index, &element, edits);
    }

    /// Removes elements that are equal to `value`: `count` of them from the head on if positive,
    /// from the tail on if negative, all if 0. Returns how many.
    pub fn remove_equal(
        &mut self,
        value: &[u8],
        count: i64,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) -> usize {
        let wanted = Item::of(value);
        let most = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
        let is_wanted = |&(_, item): &(usize, Item<'_>)| item == wanted;
        let mut indexes: Vec<usize> = if count < 0 {
            let last = self.len().wrapping_sub(1);
            let found = self.iter_backwards().enumerate().filter(is_wanted);
            found.map(|(index, _)| last - index).take(most).collect()
        } else {
            let found = self.iter_from(0).enumerate().filter(is_wanted);
            found.map(|(index, _)| index).take(most).collect()
        };
        // From the back, so that the indexes before stay right; neighbours go together.
        indexes.sort_unstable();
        let removed = indexes.len();
        while let Some(last) = indexes.pop() {
            let mut first = last;
            while indexes.last() == Some(&(first.wrapping_sub(1))) && first > 0 {
                first -= 1;
                indexes.pop();
            }
            self.remove(first, last + 1 - first, limits, edits);
        }
        removed
    }

    /// Removes `count` elements from an index on.
    pub fn remove(
        &mut self,
        index: usize,
        count: usize,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) {
        if count == 0 {
            return;
        }
        edits.write(|out| Edit::Remove(index, count).put(out));
        self.remove_many(index, count, limits, edits);
    }

    fn remove_many(
        &mut self,
        index: usize,
        count: usize,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) {
        match self.0.change() {
            FormMut::Packed(packed) => {
                let bytes = elements(packed);
                let mut rest = bytes;
                let skip = |rest: &mut &[u8], count| {
                    (0..count).take_while(|_| element::take_first(rest).is_some()).count()
                };
                skip(&mut rest, index);
                let start = bytes.len() - rest.len();
                let removed = skip(&mut rest, count);
                let range = start..bytes.len() - rest.len();
                splice(packed, range, &Element::standing(&[]), -(removed as isize));
            }
            FormMut::Native(chunks) => {
                chunks.remove(index, count, edits);
                self.pack_if_small(limits, edits);
            }
        }
    }

    /// Keeps `count` elements from `start` on.
    pub fn trim(&mut self, start: usize, count: usize, limits: &FormLimits, edits: &mut Edits<'_>) {
        let len = self.len();
        let end = start.saturating_add(count).min(len);
        if end < len {
            self.pop(Side::Right, len - end, limits, edits, |_| ());
        }
        if start > 0 {
            self.pop(Side::Left, start, limits, edits, |_| ());
        }
    }

    /// The native form, made if need be.
    fn native(&mut self, edits: &mut Edits<'_>) -> &mut Chunks {
        if let FormRef::Packed(packed) = self.0.read() {
            self.0 = Form::native(Box::new(Chunks::from_run(elements(packed), edits)));
        }
        match self.0.change() {
            FormMut::Native(chunks) => chunks,
            FormMut::Packed(_) => unreachable!("it was just made native"),
        }
    }

    /// As Redis does: a list that has shrunk to one node of half the size is packed again.
    fn pack_if_small(&mut self, limits: &FormLimits, edits: &mut Edits<'_>) {
        let FormRef::Native(chunks) = self.0.read() else { return };
        let bytes_max = node_bytes(limits.list_node.min(-1)) / 2;
        let count_max =
            if limits.list_node > 0 { limits.list_node as usize / 2 } else { usize::MAX };
        if let Some(run) = chunks.as_run(bytes_max)
            && chunks.len() <= count_max
        {
            chunks.touch_all(edits);
            let mut packed = Packed::new();
            splice(&mut packed, 0..0, &Element::standing(run), chunks.len() as isize);
            self.0 = Form::packed(packed);
        }
    }

    fn do_edit(&mut self, edit: Edit<'_>, limits: &FormLimits) -> Result<(), DecodeError> {
        const OUTSIDE: DecodeError = DecodeError::Corrupt("an edit beyond the end of a list");
        let none = &mut Edits::none();
        match edit {
            Edit::Push(side, item) => self.push_element(side, &Element::of(item), limits, none),
            Edit::Pop(side, count) if count <= self.len() => {
                self.pop_many(side, count, limits, none);
            }
            Edit::Set(index, item) if index < self.len() => {
                self.set_item(index, item, limits, none);
            }
            Edit::Insert(index, item) if index <= self.len() => {
                self.insert_item(index, item, limits, none);
            }
            Edit::Remove(index, count)
                if index.checked_add(count).is_some_and(|end| end <= self.len()) =>
            {
                self.remove_many(index, count, limits, none);
            }
            _ => return Err(OUTSIDE),
        }
        Ok(())
    }
}

impl Collection for List {
    const KIND: Kind = Kind::List;

    fn new() -> List {
        List::default()
    }

    fn len(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => len_of(packed),
            FormRef::Native(chunks) => chunks.len(),
        }
    }

    fn is_empty(&self) -> bool {
        match self.0.read() {
            FormRef::Packed(packed) => len_of(packed) == 0,
            FormRef::Native(chunks) => chunks.len() == 0,
        }
    }

    fn heap_bytes(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => packed.heap_bytes(),
            FormRef::Native(chunks) => size_of::<Chunks>() + chunks.heap_bytes(),
        }
    }

    fn encoding(&self) -> &'static str {
        match self.0.read() {
            FormRef::Packed(_) => "listpack",
            FormRef::Native(_) => "quicklist",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.iter_from(0).for_each(|item| item.put(out));
    }

    fn write_as_edits(&self, edits: &mut Edits<'_>) {
        for item in self.iter_from(0) {
            edits.write(|out| edit::put_push(Side::Right, &Element::of(item), out));
        }
    }

    fn decode(bytes: &[u8], limits: &FormLimits) -> Result<List, DecodeError> {
        let mut list = List::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let item = Item::take(&mut rest).ok_or(DecodeError::Truncated)?;
            list.push_element(Side::Right, &Element::of(item), limits, &mut Edits::none());
        }
        Ok(list)
    }

    fn apply(&mut self, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError> {
        let mut rest = edits;
        while !rest.is_empty() {
            let edit = Edit::take(&mut rest)?;
            self.do_edit(edit, limits)?;
        }
        Ok(())
    }
}
