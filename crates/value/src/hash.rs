//! HOT PATH
//! Hashes.
//!
//! ```text
//! packed   fields in the order of their coming: see hash/packed.rs
//! native   a table of fields: see hash/table.rs and hash/stored.rs
//!
//! encoded  0:u8  name item  value item …
//!          1:u8  name item  value item  expiry item …     expiry: unix milliseconds, 0 for none
//!          2:u8  name item  value item  expiry item  version:varint …      version: 0 for none
//! edits    see hash/edit.rs
//! ```
//! Packed up to `hash-max-listpack-entries` fields with names and values of at most
//! `hash-max-listpack-value` bytes; a native hash stays native, as in Redis.
//!
//! A field may expire. From then on no operation that is told the time sees it, while
//! [`Collection::len`], the encoding and the edits go by what is stored: somebody has to say
//! [`Hash::remove_expired`] in the end. Every operation that changes a hash for a client begins
//! with that, for [`EXPIRED_A_CHANGE`] fields at most, so that no change has to wait for millions
//! of them.
//!
//! A field may have a version ([`crate::attributes`]); then every change of it moves that.

mod aside;
mod edit;
mod encoded;
mod expiries;
pub(crate) mod field;
mod packed;
mod spread;
mod stored;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod versions;

pub use field::Field;

use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::{Form, FormMut, FormRef};
use crate::item::Item;
use crate::kind::Kind;
use crate::limits::FormLimits;
use crate::packed::PACKED_BYTES_MAX;
use basalt_stdx::varint;
use packed::Row;
use table::{Outcome, Table};

/// Expired fields that a change removes on its way: some 20 µs.
pub const EXPIRED_A_CHANGE: usize = 128;
/// Draws of a random field that may turn out to have expired before the others are looked at in
/// order.
const DRAWS_MAX: usize = 64;

/// A hash.
#[repr(transparent)]
#[derive(Default)]
pub struct Hash(pub(crate) Form<Table>);

/// What setting a field does to its expiry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OldExpiry {
    /// The field expires no more.
    Forget,
    /// It stays.
    Keep,
}

/// What changes a hash goes by.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Now, in unix milliseconds.
    pub now_ms: u64,
    /// Up to where it stays packed.
    pub limits: FormLimits,
}

impl Hash {
    /// The field of this name.
    #[inline]
    pub fn field(&self, name: Item<'_>, now_ms: u64) -> Option<Field<'_>> {
        self.stored(name).filter(|field| field.is_live(now_ms))
    }

    /// The field of this name, expired or not.
    #[inline]
    fn stored(&self, name: Item<'_>) -> Option<Field<'_>> {
        match self.0.read() {
            FormRef::Packed(packed) => packed::find(packed, name).map(|place| place.field),
            FormRef::Native(table) => table.find(name),
        }
    }

    /// Sets a field; returns true if it is new. The expiry of `field` is set, too, unless it is 0;
    /// then `old` says what becomes of the one that the field had.
    #[inline]
    pub fn set(
        &mut self,
        field: Field<'_>,
        old: OldExpiry,
        terms: &Terms,
        edits: &mut Edits<'_>,
    ) -> bool {
        if let FormMut::Native(table) = self.0.change() {
            if field.expire_ms == 0 && table.is_plain() && !edits.notes_elements() {
                let outcome = table.set_value(field);
                if outcome != Outcome::Same {
                    edit::write_value(edits, edit::SET, field.name, field.value);
                }
                return outcome == Outcome::New;
            }
            if table.versions().is_some() {
                return self.set_beside_versions(field, old, terms, edits);
            }
        }
        self.set_stored(field, old, terms, edits)
    }

    /// Sets a field of which the version, if it has one, is somebody else's affair.
    #[inline]
    fn set_stored(
        &mut self,
        field: Field<'_>,
        old: OldExpiry,
        terms: &Terms,
        edits: &mut Edits<'_>,
    ) -> bool {
        let before = self.stored(field.name);
        let live = before.filter(|before| before.is_live(terms.now_ms));
        let is_new = live.is_none();
        let mut field = field;
        let mut code = edit::SET;
        if let Some(live) = live
            && field.expire_ms == 0
            && old == OldExpiry::Keep
            && live.expire_ms != 0
        {
            field.expire_ms = live.expire_ms;
            code = edit::CHANGE;
        }
        if before == Some(field) {
            return false; // Nothing changes.
        }
        edits.touch_item(field.name, |out| spread::was(self, before, out));
        edit::write_value(edits, code, field.name, field.value);
        if code == edit::SET && field.expire_ms != 0 {
            edit::write_expiry(edits, field.name, field.expire_ms);
        }
        self.put(field, &terms.limits);
        is_new
    }

    /// Puts a field, whatever was there. The change is not written down: for hashes that are logged
    /// whole.
    pub fn put(&mut self, field: Field<'_>, limits: &FormLimits) {
        if let FormMut::Packed(packed) = self.0.change() {
            let entries_max = (limits.hash.entries_max as usize).min(packed::COUNT_MAX);
            let value_bytes_max = limits.hash.value_bytes_max as usize;
            let found = packed::find(packed, field.name);
            let expire_ms = found.as_ref().map_or(0, |place| place.field.expire_ms);
            let mut range = found.map(|place| place.behind_name());
            let room = PACKED_BYTES_MAX.saturating_sub(packed.len());
            let fits = (range.is_some() || packed::row(packed).count < entries_max)
                && field.value.fits(value_bytes_max.min(room))
                && (range.is_some() || field.name.fits(value_bytes_max.min(room)));
            if fits {
                if field.expire_ms != 0 && !packed::row(packed).is_expiring {
                    packed::make_expiring(packed);
                    range = packed::find(packed, field.name).map(|place| place.behind_name());
                }
                packed::put(packed, range, field);
                if expire_ms != field.expire_ms {
                    packed::find_next_expiry(packed);
                }
                return;
            }
        }
        self.native().put(field);
    }

    /// The native form, made if need be.
    #[inline]
    fn native(&mut self) -> &mut Table {
        if let FormRef::Packed(packed) = self.0.read() {
            let mut table = Table::default();
            packed::row(packed).fields.for_each(|field| table.put(field));
            self.0 = Form::native(Box::new(table));
        }
        match self.0.change() {
            FormMut::Native(table) => table,
            FormMut::Packed(_) => unreachable!("it was just made native"),
        }
    }

    /// Removes a field; returns true if it was there and had not expired.
    pub fn remove(&mut self, name: Item<'_>, now_ms: u64, edits: &mut Edits<'_>) -> bool {
        let Some(field) = self.stored(name) else { return false };
        let was_live = field.is_live(now_ms);
        edits.touch_item(name, |out| spread::was(self, Some(field), out));
        self.take_out(name);
        edit::write_removal(edits, name);
        was_live
    }

    fn take_out(&mut self, name: Item<'_>) -> bool {
        match self.0.change() {
            FormMut::Packed(packed) => {
                let Some(whole) = packed::find(packed, name).map(|place| place.whole()) else {
                    return false;
                };
                packed::remove(packed, whole);
                true
            }
            FormMut::Native(table) => table.remove(name),
        }
    }

    /// Changes when a field expires, 0 for never. A field that is not there is left alone.
    pub fn set_expiry(&mut self, name: Item<'_>, expire_ms: u64, edits: &mut Edits<'_>) {
        let Some(before) = self.stored(name) else { return };
        if before.expire_ms != expire_ms {
            edits.touch_item(name, |out| spread::was(self, Some(before), out));
            self.expire_stored(name, expire_ms);
            edit::write_expiry(edits, name, expire_ms);
            self.move_version(name, edits);
        }
    }

    fn expire_stored(&mut self, name: Item<'_>, expire_ms: u64) -> bool {
        match self.0.change() {
            FormMut::Packed(packed) => {
                if packed::find(packed, name).is_none() {
                    return false;
                }
                packed::make_expiring(packed);
                let place = packed::find(packed, name).expect("it was just there");
                let end = place.whole().end;
                let old = Item::Number(place.field.expire_ms as i64).head().bytes().len();
                packed.splice(end - old..end, Item::Number(expire_ms as i64).head().bytes());
                packed::find_next_expiry(packed);
                true
            }
            FormMut::Native(table) => table.set_expiry(name, expire_ms),
        }
    }

    /// Removes fields that have expired by now, at most `max`; returns their number.
    #[inline]
    pub fn remove_expired(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) -> usize {
        if self.next_expiry_ms() > now_ms { 0 } else { self.remove_due(now_ms, max, edits) }
    }

    #[cold]
    fn remove_due(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) -> usize {
        for removed in 0..max {
            let due = match self.0.read() {
                FormRef::Native(table) => table.first_due(now_ms),
                FormRef::Packed(packed) => {
                    packed::row(packed).fields.find(|field| !field.is_live(now_ms))
                }
            };
            let Some(name) = due.map(|field| field.name.to_owned()) else { return removed };
            self.remove(name.item(), now_ms, edits);
        }
        max
    }

    /// Number of fields that have not expired.
    #[inline]
    pub fn len_at(&self, now_ms: u64) -> usize {
        if self.next_expiry_ms() > now_ms { self.len() } else { self.count_live(now_ms) }
    }

    #[cold]
    fn count_live(&self, now_ms: u64) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => {
                packed::row(packed).fields.filter(|field| field.is_live(now_ms)).count()
            }
            FormRef::Native(table) => table.len() - table.expired(now_ms),
        }
    }

    /// Unix time in milliseconds when the last of its fields will have expired, all ones for never.
    pub fn gone_ms(&self) -> u64 {
        match self.0.read() {
            FormRef::Packed(_) if self.next_expiry_ms() == u64::MAX => u64::MAX,
            FormRef::Packed(packed) => {
                let times = packed::row(packed).fields.map(|field| field.expire_ms);
                times.map(|ms| if ms == 0 { u64::MAX } else { ms }).max().unwrap_or(u64::MAX)
            }
            FormRef::Native(table) => table.gone_ms(),
        }
    }

    /// Whether a hash with a field that does not expire is known to have one after these edits.
    ///
    /// # Errors
    /// They make no sense.
    pub fn lasts_through(edits: &[u8]) -> Result<bool, DecodeError> {
        edit::keep_lasting(edits)
    }

    /// It has fields, and all of them have expired.
    #[inline]
    pub fn is_gone_at(&self, now_ms: u64) -> bool {
        self.next_expiry_ms() <= now_ms
            && match self.0.read() {
                FormRef::Packed(packed) => {
                    packed::row(packed).fields.all(|field| !field.is_live(now_ms))
                }
                FormRef::Native(table) => table.is_gone_at(now_ms),
            }
    }

    /// Visits the fields that have not expired, until `visit` says that it is enough.
    #[inline]
    pub fn visit_while<'a>(&'a self, now_ms: u64, mut visit: impl FnMut(Field<'a>) -> bool) {
        let mut visit_live = |field: Field<'a>| !field.is_live(now_ms) || visit(field);
        match self.0.read() {
            FormRef::Packed(packed) => {
                packed::row(packed).fields.all(visit_live);
            }
            FormRef::Native(table) => {
                table.iter().all(&mut visit_live);
            }
        }
    }

    /// Visits the fields that have not expired.
    #[inline]
    pub fn visit<'a>(&'a self, now_ms: u64, mut visit: impl FnMut(Field<'a>)) {
        self.visit_while(now_ms, |field| {
            visit(field);
            true
        });
    }

    /// Some field that has not expired, by a random number: each as likely as another, or, in a
    /// native hash, about as likely.
    pub fn random(&self, random: u64, now_ms: u64) -> Option<Field<'_>> {
        match self.0.read() {
            FormRef::Packed(packed) => {
                let live = self.len_at(now_ms) as u64;
                let index = random.checked_rem(live)? as usize;
                packed::row(packed).fields.filter(|field| field.is_live(now_ms)).nth(index)
            }
            FormRef::Native(table) => {
                let mut random = random;
                for _ in 0..DRAWS_MAX {
                    let field = table.random(random)?;
                    if field.is_live(now_ms) {
                        return Some(field);
                    }
                    random = random.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
                }
                table.iter().find(|field| field.is_live(now_ms))
            }
        }
    }

    /// Visits at least `count` fields from a cursor on, expired ones counted but not shown; returns
    /// the cursor to go on with, 0 at the end.
    pub fn scan(
        &self,
        cursor: u64,
        count: usize,
        now_ms: u64,
        mut visit: impl FnMut(Field<'_>),
    ) -> u64 {
        match self.0.read() {
            FormRef::Packed(_) => {
                self.visit(now_ms, visit);
                0
            }
            FormRef::Native(table) => table.scan(cursor, count, |field| {
                if field.is_live(now_ms) {
                    visit(field);
                }
            }),
        }
    }

    fn row(&self) -> Option<Row<'_>> {
        match self.0.read() {
            FormRef::Packed(packed) => Some(packed::row(packed)),
            FormRef::Native(_) => None,
        }
    }
}

impl Collection for Hash {
    const KIND: Kind = Kind::Hash;
    const EXPIRES_WITHOUT_VERSIONS: bool = true;

    fn new() -> Hash {
        Hash::default()
    }

    #[inline]
    fn len(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => packed::row(packed).count,
            FormRef::Native(table) => table.len(),
        }
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => packed.heap_bytes(),
            FormRef::Native(table) => table.heap_bytes(),
        }
    }

    #[inline]
    fn next_expiry_ms(&self) -> u64 {
        match self.0.read() {
            FormRef::Packed(packed) => packed::row(packed).next_expiry_ms,
            FormRef::Native(table) => table.next_expiry_ms(),
        }
    }

    fn encoding(&self) -> &'static str {
        match self.row() {
            Some(row) if row.is_expiring => "listpackex",
            Some(_) => "listpack",
            None => "hashtable",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        encoded::encode(self, out);
    }

    fn write_as_edits(&self, edits: &mut Edits<'_>) {
        self.visit(0, |field| {
            edit::write_value(edits, edit::SET, field.name, field.value);
            if field.expire_ms != 0 {
                edit::write_expiry(edits, field.name, field.expire_ms);
            }
            if let Some(version) = self.stored_version(field.name) {
                edit::write_attribute(edits, field.name, version);
            }
        });
    }

    fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        let mut part = Vec::new();
        self.visit(0, |field| {
            part.clear();
            field.name.put(&mut part);
            field.value.put(&mut part);
            Item::Number(field.expire_ms as i64).put(&mut part);
            if let Some(version) = self.stored_version(field.name) {
                varint::put(&mut part, version);
            }
            visit(&part);
        });
    }

    fn decode(bytes: &[u8], limits: &FormLimits) -> Result<Hash, DecodeError> {
        encoded::decode(bytes, limits)
    }

    fn apply(&mut self, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError> {
        edit::apply(self, edits, limits)
    }
}
