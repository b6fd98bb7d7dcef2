//! bytes ▸ resp ▸ command ▸ \[payload\] ▸ engine ▸ log ▸ cold
//!
//! Values on their way into and out of Redis' payloads: `basalt-rdb` knows the bytes,
//! `basalt-value` how a value is stored, and this crate puts one into the other for DUMP and
//! RESTORE. It owns the translation in both directions ([`of_collection`], [`restore`]) and which
//! encodings are written at which size ([`encode`]). It must never know commands, keys, files or
//! sockets. Its one invariant: a value that was written and restored is equal to the first, in all
//! that clients see of it. Read `stream.rs` next, the one type whose parts may not fit together.

#![forbid(unsafe_code)]

mod stream;

use basalt_rdb::{Bytes, EncodeOptions, Field, Payload};
use basalt_value::hash::Field as HashField;
use basalt_value::item::Item;
use basalt_value::list::Side;
use basalt_value::{
    Collection, DecodeError, Edits, FormLimits, Hash, List, Set, SortedSet, Value, ValueRef,
    Variant,
};

/// A value that came out of a payload.
pub enum Restored {
    /// A string.
    String(Vec<u8>),
    /// A collection.
    Collection(Value),
}

/// Appends the bytes of a payload, in the encodings that a value within `limits` has in Redis.
pub fn encode(payload: &Payload<'_>, limits: &FormLimits, out: &mut Vec<u8>) {
    basalt_rdb::encode(payload, &options(limits), out);
}

fn options(limits: &FormLimits) -> EncodeOptions {
    EncodeOptions {
        set_intset_entries_max: limits.intset_entries_max as usize,
        zset_listpack_entries_max: limits.sorted_set.entries_max as usize,
        zset_listpack_value_bytes_max: limits.sorted_set.value_bytes_max as usize,
        hash_listpack_entries_max: limits.hash.entries_max as usize,
        hash_listpack_value_bytes_max: limits.hash.value_bytes_max as usize,
        stream_node_entries_max: limits.stream_node_entries_max as usize,
        stream_node_bytes_max: limits.stream_node_bytes_max as usize,
        ..EncodeOptions::default()
    }
}

/// An item as bytes, borrowed unless it spells a number.
fn bytes(item: Item<'_>) -> Bytes<'_> {
    match item {
        Item::Bytes(bytes) => bytes.into(),
        Item::Number(number) => number.to_string().into_bytes().into(),
    }
}

/// The payload of a collection; `None` of a queue, which Redis does not have.
pub fn of_collection(value: ValueRef<'_>) -> Option<Payload<'_>> {
    Some(match value {
        ValueRef::List(list) => Payload::List(list.iter_from(0).map(bytes).collect()),
        ValueRef::Set(set) => Payload::Set(set.iter().map(bytes).collect()),
        ValueRef::SortedSet(set) => Payload::SortedSet(
            set.elements().map(|element| (bytes(element.member), element.score)).collect(),
        ),
        ValueRef::Hash(hash) => {
            let mut fields = Vec::with_capacity(hash.len());
            // At time 0 every field is still alive.
            hash.visit(0, |field| {
                let expire_ms = (field.expire_ms != 0).then_some(field.expire_ms);
                let (name, value) = (bytes(field.name), bytes(field.value));
                fields.push(Field { name, value, expire_ms });
            });
            Payload::Hash(fields)
        }
        ValueRef::Stream(stream) => Payload::Stream(stream::dump(stream)),
        ValueRef::Queue(_) => return None,
    })
}

/// Makes a value of a payload.
///
/// # Errors
/// A stream whose parts do not fit together in a way that Redis would take.
pub fn restore(payload: Payload<'_>, limits: &FormLimits) -> Result<Restored, DecodeError> {
    Ok(match payload {
        Payload::String(string) => Restored::String(string.into_owned()),
        Payload::List(elements) => {
            let mut list = List::new();
            for element in elements {
                list.push(Side::Right, &element, limits, &mut Edits::none());
            }
            Restored::Collection(list.into_value())
        }
        Payload::Set(members) => {
            let mut set = Set::new();
            for member in members {
                set.add_item(Item::of(&member), limits);
            }
            Restored::Collection(set.into_value())
        }
        Payload::SortedSet(members) => {
            let mut set = SortedSet::new();
            for (member, score) in members {
                set.set(&member, limits, &mut Edits::none(), |_| Some(score));
            }
            Restored::Collection(set.into_value())
        }
        Payload::Hash(fields) => {
            let mut hash = Hash::new();
            for Field { name, value, expire_ms } in &fields {
                let (name, value) = (Item::of(name), Item::of(value));
                hash.put(HashField { name, value, expire_ms: expire_ms.unwrap_or(0) }, limits);
            }
            Restored::Collection(hash.into_value())
        }
        Payload::Stream(parts) => {
            Restored::Collection(stream::restore(&parts, limits)?.into_value())
        }
    })
}
