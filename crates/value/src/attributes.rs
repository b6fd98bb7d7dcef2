//! What single elements of a collection have beside their content: versions, and, in sets and
//! sorted sets, expiries.
//!
//! ```text
//! native form ─▶ attributes: member ▸ version, expiry      made with the first of them
//!
//! in the row of an element   [version:u64le [expire_ms:u64le]]
//! in a whole collection      0xCF, then for each: member item  version:varint  expire_ms:varint
//! ```
//! An element gets a version from a command that asks for one. From then on each change of it gives
//! it a new one, until it is gone; what is put in its place has none. So a collection that has
//! attributes is native, and nobody else pays for them. An element without a version has no
//! attribute, an expiry neither.
//!
//! The versions come from the owner of the collection, with its [`Edits`](crate::Edits): it sees
//! to it that none is given twice. A hash keeps the expiries of its fields itself, and drops no
//! field of its own accord; see [`crate::hash`].

#[cfg(test)]
mod tests;

use crate::error::DecodeError;
use crate::hash::field::Field;
use crate::hash::table::Table;
use crate::item::Item;
use crate::set::member::Member;
use basalt_stdx::varint;

/// Begins no item, so it ends the elements of a whole collection.
pub(crate) const TAIL: u8 = 0xCF;

/// What an element has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Its version, not 0.
    pub version: u64,
    /// Unix time in milliseconds when it expires, 0 for never. Always 0 for fields of hashes.
    pub expire_ms: u64,
}

impl Attribute {
    /// It has not expired.
    #[inline]
    pub fn is_live(self, now_ms: u64) -> bool {
        self.expire_ms == 0 || self.expire_ms > now_ms
    }

    /// Checks what has been read.
    ///
    /// # Errors
    /// No element has this.
    pub(crate) fn checked(version: u64, expire_ms: u64) -> Result<Attribute, DecodeError> {
        if version == 0 {
            return Err(DecodeError::Corrupt("an element of version 0"));
        }
        if i64::try_from(expire_ms).is_err() {
            return Err(DecodeError::Corrupt("an expiry beyond all times"));
        }
        Ok(Attribute { version, expire_ms })
    }

    /// Appends it as it stands in the row of an element.
    pub(crate) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.version.to_le_bytes());
        if self.expire_ms != 0 {
            out.extend_from_slice(&self.expire_ms.to_le_bytes());
        }
    }

    /// Reads what [`Attribute::put`] wrote, or nothing.
    pub(crate) fn from_row(bytes: &[u8]) -> Result<Option<Attribute>, DecodeError> {
        let Some((version, rest)) = bytes.split_first_chunk() else {
            return if bytes.is_empty() { Ok(None) } else { Err(DecodeError::Truncated) };
        };
        let expire_ms = match rest.try_into().map(u64::from_le_bytes) {
            Ok(0) => return Err(DecodeError::Corrupt("an expiry that is none")),
            Ok(expire_ms) => expire_ms,
            Err(_) if rest.is_empty() => 0,
            Err(_) => return Err(DecodeError::Corrupt("an attribute of odd length")),
        };
        Attribute::checked(u64::from_le_bytes(*version), expire_ms).map(Some)
    }

    /// Appends it as it stands in an edit.
    pub(crate) fn put_edit(self, out: &mut Vec<u8>) {
        varint::put(out, self.version);
        varint::put(out, self.expire_ms);
    }

    /// Takes what [`Attribute::put_edit`] wrote off the front.
    pub(crate) fn take(bytes: &mut &[u8]) -> Result<Attribute, DecodeError> {
        let version = varint::take(bytes).ok_or(DecodeError::Truncated)?;
        let expire_ms = varint::take(bytes).ok_or(DecodeError::Truncated)?;
        Attribute::checked(version, expire_ms)
    }
}

/// The attributes of a collection's elements: a table of ours, in which a version is the value.
#[derive(Default)]
pub(crate) struct Attributes(Table);

impl std::fmt::Debug for Attributes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "attributes of {}", self.0.len())
    }
}

fn attribute_of(field: Field<'_>) -> Attribute {
    let Item::Number(version) = field.value else { unreachable!("a version is a number") };
    Attribute { version: version as u64, expire_ms: field.expire_ms }
}

impl Attributes {
    /// No element has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Those of an element.
    pub(crate) fn get(&self, member: Item<'_>) -> Option<Attribute> {
        self.0.find(member).map(attribute_of)
    }

    /// An element has these from now on.
    pub(crate) fn set(&mut self, member: Item<'_>, attribute: Attribute) {
        let Attribute { version, expire_ms } = attribute;
        self.0.put(Field { name: member, value: Item::Number(version as i64), expire_ms });
    }

    /// An element has none any more.
    pub(crate) fn remove(&mut self, member: Item<'_>) {
        self.0.remove(member);
    }

    /// Unix time in milliseconds when the first element expires, all ones for never.
    pub(crate) fn next_expiry_ms(&self) -> u64 {
        self.0.next_expiry_ms()
    }

    /// The element that expires first, if it has expired by now.
    pub(crate) fn first_due(&self, now_ms: u64) -> Option<Member> {
        self.0.first_due(now_ms).map(|field| field.name.to_owned())
    }

    /// The greatest version.
    pub(crate) fn newest(&self) -> u64 {
        self.iter().map(|(_, attribute)| attribute.version).max().unwrap_or(0)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Item<'_>, Attribute)> {
        self.0.iter().map(|field| (field.name, attribute_of(field)))
    }

    /// Appends all of them behind the elements of a whole collection.
    pub(crate) fn put_tail(&self, out: &mut Vec<u8>) {
        out.push(TAIL);
        for (member, attribute) in self.iter() {
            member.put(out);
            attribute.put_edit(out);
        }
    }
}

/// Attributes that may be, in a word of the native form.
#[derive(Default, Debug)]
pub(crate) struct MaybeAttributes(Option<Box<Attributes>>);

impl MaybeAttributes {
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn all(&self) -> Option<&Attributes> {
        self.0.as_deref()
    }

    /// An element has these from now on.
    pub(crate) fn set(&mut self, member: Item<'_>, attribute: Attribute) {
        self.0.get_or_insert_default().set(member, attribute);
    }

    /// An element is gone.
    #[inline]
    pub(crate) fn remove(&mut self, member: Item<'_>) {
        if self.0.is_some() {
            self.remove_some(member);
        }
    }

    #[cold]
    fn remove_some(&mut self, member: Item<'_>) {
        if let Some(attributes) = &mut self.0 {
            attributes.remove(member);
            if attributes.is_empty() {
                self.0 = None;
            }
        }
    }

    #[inline]
    pub(crate) fn next_expiry_ms(&self) -> u64 {
        self.all().map_or(u64::MAX, Attributes::next_expiry_ms)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.all().map_or(0, Attributes::heap_bytes)
    }
}

/// Reads the tail of a whole collection. `set` takes a member and its attribute, and returns false
/// if the member is not there or has one.
///
/// # Errors
/// The tail makes no sense.
pub(crate) fn take_tail(
    bytes: &[u8],
    mut set: impl FnMut(Item<'_>, Attribute) -> bool,
) -> Result<(), DecodeError> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let member = Item::take_shortest(&mut rest)?;
        if !set(member, Attribute::take(&mut rest)?) {
            return Err(DecodeError::Corrupt("an attribute of no member, or a second one"));
        }
    }
    Ok(())
}
