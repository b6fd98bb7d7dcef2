//! HOT PATH
//! Sets.
//!
//! ```text
//! packed   numbers, or members in the order of their coming: see set/packed.rs
//! native   a table of members: see members.rs and set/member.rs
//!
//! encoded  item … [tail]    numbers in ascending order in a set of numbers only; else in any order
//!                           tail: see attributes.rs
//! edits    ADD 1 item       REMOVE 2 item       ATTRIBUTE 3 item version:varint expire_ms:varint
//! ```
//! Numbers are packed up to `set-max-intset-entries`, other members up to
//! `set-max-listpack-entries` of `set-max-listpack-value` bytes; a native set stays native, as in
//! Redis.
//!
//! A member may have a version and an expiry ([`crate::attributes`]). A member that has expired is
//! there until somebody says [`Set::remove_expired`]; what changes it takes it for gone.

mod attributed;
pub(crate) mod member;
mod packed;
mod spread;
#[cfg(test)]
mod tests;

use crate::attributes::{self, Attribute, MaybeAttributes, TAIL};
use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::fetch::step::Step;
use crate::form::{Form, FormMut, FormRef};
use crate::item::{Item, Items};
use crate::kind::Kind;
use crate::limits::FormLimits;
use crate::members::Members;
use crate::packed::PACKED_BYTES_MAX;
use member::{Member, hash_item};
use packed::Content;

const ADD: u8 = 1;
const REMOVE: u8 = 2;
const ATTRIBUTE: u8 = 3;

/// A set.
#[repr(transparent)]
#[derive(Default)]
pub struct Set(pub(crate) Form<Table>);

/// The native form.
#[derive(Default)]
pub(crate) struct Table {
    members: Members<Member>,
    /// Bytes of members that are strings.
    member_bytes: usize,
    attributes: MaybeAttributes,
}

impl Table {
    #[inline]
    pub(crate) fn ahead(&self, hash: u64, step: Step) -> Option<*const u8> {
        self.members.ahead(hash, step, |member| match member {
            Member::Number(_) => None,
            Member::Bytes(bytes) => Some(bytes.as_ptr()),
        })
    }

    #[inline]
    pub(crate) fn ahead_random(&self, random: u64, step: Step, fetch: &mut impl FnMut(*const u8)) {
        let place_of = |member: &Member| match member {
            Member::Number(_) => None,
            Member::Bytes(bytes) => Some(bytes.as_ptr()),
        };
        self.members.ahead_random(random, step, place_of, fetch);
    }

    #[inline]
    fn bytes_beside_attributes(&self) -> usize {
        size_of::<Table>() + self.members.heap_bytes() + self.member_bytes
    }

    #[cold]
    #[inline(never)]
    fn bytes_with_attributes(&self) -> usize {
        self.bytes_beside_attributes() + self.attributes.heap_bytes()
    }

    #[inline]
    fn contains(&self, item: Item<'_>) -> bool {
        self.members.find(hash_item(item), |member| member.item() == item).is_some()
    }

    #[inline]
    fn add(&mut self, item: Item<'_>) -> bool {
        let hash = hash_item(item);
        if self.members.find(hash, |member| member.item() == item).is_some() {
            return false;
        }
        let member = Member::of(item);
        self.member_bytes += member.heap_bytes();
        self.members.insert(hash, member, Member::hash);
        true
    }

    fn take_random(&mut self, random: u64) -> Option<Member> {
        let member = self.members.take_random(random, Member::hash)?;
        self.member_bytes -= member.heap_bytes();
        Some(member)
    }

    #[inline]
    fn remove(&mut self, item: Item<'_>) -> bool {
        let hash = hash_item(item);
        match self.members.remove(hash, |member| member.item() == item, Member::hash) {
            Some(member) => {
                self.member_bytes -= member.heap_bytes();
                true
            }
            None => false,
        }
    }
}

impl Set {
    /// Adds a member; returns true if it is new.
    #[inline]
    pub fn add(&mut self, member: &[u8], limits: &FormLimits, edits: &mut Edits<'_>) -> bool {
        let item = Item::of(member);
        let is_new = self.add_item(item, limits);
        if is_new {
            edits.touch_item(item, |_| false);
            write_addition(item, edits);
            return true;
        }
        self.is_expired(item, edits) && self.add_again(item, limits, edits)
    }

    /// Adds a member; returns true if it is new. The change is not written down: for sets that are
    /// logged whole.
    pub fn add_item(&mut self, item: Item<'_>, limits: &FormLimits) -> bool {
        if let FormMut::Packed(packed) = self.0.change() {
            if packed::contains(packed, item) {
                return false;
            }
            let numbers = match packed::content(packed) {
                Content::Empty => Some(0),
                Content::Numbers(numbers) => Some(numbers.len()),
                Content::Members { .. } => None,
            };
            if let (Some(count), Item::Number(number)) = (numbers, item)
                && count < (limits.intset_entries_max as usize).min(PACKED_BYTES_MAX / 16)
            {
                packed::add_number(packed, number);
                return true;
            }
            if self.becomes_members(item, limits)
                && let FormMut::Packed(packed) = self.0.change()
            {
                packed::add_member(packed, item);
                return true;
            }
        }
        self.native().add(item)
    }

    /// Whether the set, with one member more, is packed as members; makes it so if it had numbers
    /// only.
    fn becomes_members(&mut self, item: Item<'_>, limits: &FormLimits) -> bool {
        let FormRef::Packed(packed) = self.0.read() else { return false };
        let entries_max = (limits.set.entries_max as usize).min(packed::COUNT_MAX);
        let value_bytes_max = limits.set.value_bytes_max as usize;
        match packed::content(packed) {
            Content::Empty => entries_max > 0 && item.spelled_bytes() <= value_bytes_max,
            Content::Members { count, .. } => {
                let room = PACKED_BYTES_MAX.saturating_sub(packed.len());
                count < entries_max && item.spelled_bytes() <= value_bytes_max.min(room)
            }
            Content::Numbers(numbers) => {
                let longest = |at| Item::Number(numbers.get(at)).spelled_bytes();
                let fits = numbers.len() < entries_max
                    && item.spelled_bytes() <= value_bytes_max
                    && longest(0).max(longest(numbers.len() - 1)) <= value_bytes_max;
                if fits {
                    let mut members = crate::packed::Packed::new();
                    self.iter().for_each(|item| packed::add_member(&mut members, item));
                    self.0 = Form::packed(members);
                }
                fits
            }
        }
    }

    /// The native form, made if need be.
    #[inline]
    fn native(&mut self) -> &mut Table {
        if let FormRef::Packed(_) = self.0.read() {
            let mut table = Table::default();
            self.iter().for_each(|item| {
                table.add(item);
            });
            self.0 = Form::native(Box::new(table));
        }
        match self.0.change() {
            FormMut::Native(table) => table,
            FormMut::Packed(_) => unreachable!("it was just made native"),
        }
    }

    /// Removes a member; returns true if it was there and had not expired.
    #[inline]
    pub fn remove(&mut self, member: &[u8], edits: &mut Edits<'_>) -> bool {
        self.remove_item(Item::of(member), edits)
    }

    /// Removes a member; returns true if it was there and had not expired.
    #[inline]
    pub fn remove_item(&mut self, item: Item<'_>, edits: &mut Edits<'_>) -> bool {
        let removed = match self.0.change() {
            FormMut::Packed(packed) => packed::remove(packed, item),
            FormMut::Native(table) if table.attributes.is_none() => table.remove(item),
            FormMut::Native(_) => return self.remove_beside_attributes(item, edits),
        };
        if removed {
            write_removal(item, edits);
        }
        removed
    }

    /// Whether a member is there.
    #[inline]
    pub fn contains(&self, item: Item<'_>) -> bool {
        match self.0.read() {
            FormRef::Packed(packed) => packed::contains(packed, item),
            FormRef::Native(table) => table.contains(item),
        }
    }

    /// All members.
    pub fn iter(&self) -> impl Iterator<Item = Item<'_>> {
        let (numbers, items, members) = match self.0.read() {
            FormRef::Packed(packed) => match packed::content(packed) {
                Content::Empty => (None, None, None),
                Content::Numbers(numbers) => (Some(numbers), None, None),
                Content::Members { items, .. } => (None, Some(items), None),
            },
            FormRef::Native(table) => (None, None, Some(&table.members)),
        };
        let numbers = numbers
            .into_iter()
            .flat_map(|numbers| (0..numbers.len()).map(move |at| Item::Number(numbers.get(at))));
        let items = items.into_iter().flat_map(Items);
        let members = members.into_iter().flat_map(|members| members.iter().map(Member::item));
        numbers.chain(items).chain(members)
    }

    /// Some member, by a random number: each as likely as another, or, in a native set, about as
    /// likely.
    pub fn random(&self, random: u64) -> Option<Item<'_>> {
        let pick = |count: usize| (random % count as u64) as usize;
        match self.0.read() {
            FormRef::Packed(packed) => match packed::content(packed) {
                Content::Empty => None,
                Content::Numbers(numbers) => Some(Item::Number(numbers.get(pick(numbers.len())))),
                Content::Members { count, items } => Items(items).nth(pick(count)),
            },
            FormRef::Native(table) => table.members.random(random).map(Member::item),
        }
    }

    /// Removes some member, by a random number, and shows it; returns true if there was one.
    pub fn pop(
        &mut self,
        random: u64,
        edits: &mut Edits<'_>,
        visit: impl FnOnce(Item<'_>),
    ) -> bool {
        let member = match self.0.change() {
            FormMut::Native(table) if table.attributes.is_none() => table.take_random(random),
            FormMut::Native(_) => return self.pop_beside_attributes(random, edits, visit),
            FormMut::Packed(_) => {
                let member = self.random(random).map(Member::of);
                if let (Some(member), FormMut::Packed(packed)) = (&member, self.0.change()) {
                    packed::remove(packed, member.item());
                }
                member
            }
        };
        let Some(member) = member else { return false };
        visit(member.item());
        write_removal(member.item(), edits);
        true
    }

    /// Visits at least `count` members from a cursor on; returns the cursor to go on with, 0 at the
    /// end.
    pub fn scan(&self, cursor: u64, count: usize, mut visit: impl FnMut(Item<'_>)) -> u64 {
        match self.0.read() {
            FormRef::Packed(_) => {
                self.iter().for_each(visit);
                0
            }
            FormRef::Native(table) => {
                table.members.scan(cursor, count, Member::hash, |member| visit(member.item()))
            }
        }
    }

    /// All members are numbers, in a packed form in ascending order.
    fn is_numbers(&self) -> bool {
        match self.0.read() {
            FormRef::Packed(packed) => !matches!(packed::content(packed), Content::Members { .. }),
            FormRef::Native(_) => false,
        }
    }
}

#[inline]
fn write_addition(item: Item<'_>, edits: &mut Edits<'_>) {
    edits.write(|out| {
        out.push(ADD);
        item.put(out);
    });
}

#[inline]
fn write_removal(item: Item<'_>, edits: &mut Edits<'_>) {
    edits.touch_item(item, |_| true);
    edits.write(|out| {
        out.push(REMOVE);
        item.put(out);
    });
}

fn write_attribute(item: Item<'_>, attribute: Attribute, edits: &mut Edits<'_>) {
    edits.write(|out| {
        out.push(ATTRIBUTE);
        item.put(out);
        attribute.put_edit(out);
    });
}

impl Collection for Set {
    const KIND: Kind = Kind::Set;

    fn new() -> Set {
        Set::default()
    }

    fn len(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => match packed::content(packed) {
                Content::Empty => 0,
                Content::Numbers(numbers) => numbers.len(),
                Content::Members { count, .. } => count,
            },
            FormRef::Native(table) => table.members.len(),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => packed.heap_bytes(),
            FormRef::Native(table) => {
                if table.attributes.is_none() {
                    return table.bytes_beside_attributes();
                }
                table.bytes_with_attributes()
            }
        }
    }

    #[inline]
    fn next_expiry_ms(&self) -> u64 {
        match self.0.read() {
            FormRef::Packed(_) => u64::MAX,
            FormRef::Native(table) => table.attributes.next_expiry_ms(),
        }
    }

    fn encoding(&self) -> &'static str {
        match self.0.read() {
            FormRef::Packed(_) if self.is_numbers() => "intset",
            FormRef::Packed(_) => "listpack",
            FormRef::Native(_) => "hashtable",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
        if let Some(attributes) = self.attributes() {
            attributes.put_tail(out);
        }
    }

    fn write_as_edits(&self, edits: &mut Edits<'_>) {
        for item in self.iter() {
            write_addition(item, edits);
            if let Some(attribute) = self.attribute(item) {
                write_attribute(item, attribute, edits);
            }
        }
    }

    fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        let mut part = Vec::new();
        self.iter().for_each(|item| {
            part.clear();
            item.put(&mut part);
            if let Some(attribute) = self.attribute(item) {
                attribute.put_edit(&mut part);
            }
            visit(&part);
        });
    }

    fn decode(bytes: &[u8], limits: &FormLimits) -> Result<Set, DecodeError> {
        let mut set = Set::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some((&TAIL, tail)) = rest.split_first() {
                attributes::take_tail(tail, |item, it| set.put_attribute(item, it))?;
                break;
            }
            let item = Item::take_shortest(&mut rest)?;
            if !set.add_item(item, limits) {
                return Err(DecodeError::Corrupt("a set with a member twice"));
            }
        }
        Ok(set)
    }

    fn apply(&mut self, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError> {
        let mut rest = edits;
        while let Some((&code, after)) = rest.split_first() {
            rest = after;
            let item = Item::take_shortest(&mut rest)?;
            let changed = match code {
                ADD => self.add_item(item, limits),
                REMOVE => self.remove_item(item, &mut Edits::none()),
                ATTRIBUTE => {
                    let attribute = Attribute::take(&mut rest)?;
                    self.contains(item) && self.change_attribute(item, attribute)
                }
                unknown => return Err(DecodeError::UnknownEdit(unknown)),
            };
            if !changed {
                return Err(DecodeError::Corrupt("an edit of a set that changes nothing"));
            }
        }
        Ok(())
    }
}
