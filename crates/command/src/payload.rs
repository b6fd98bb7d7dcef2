//! Values on their way into and out of Redis' payloads (`basalt-rdb`).

mod stream;

use basalt_change::op::StringForm;
use basalt_engine::EntryValue;
use basalt_rdb::{Bytes, EncodeOptions, Field, Payload};
use basalt_value::hash::Field as HashField;
use basalt_value::item::Item;
use basalt_value::list::Side;
use basalt_value::{
    Collection, DecodeError, Edits, Hash, Limits, List, Set, SortedSet, Value, ValueRef,
};

/// A value that came out of a payload.
pub(crate) enum Restored {
    /// A string.
    String(Vec<u8>),
    /// A collection.
    Collection(Value),
}

/// How Redis calls the form of a restored string.
pub(crate) const RESTORED_FORM: StringForm = StringForm::Whole;

/// Appends the payload of a value.
pub(crate) fn dump(value: EntryValue<'_>, limits: &Limits, out: &mut Vec<u8>) {
    let payload = match value {
        EntryValue::String(string) => Payload::String(string.bytes().into()),
        EntryValue::Collection(value) => of_collection(value),
    };
    basalt_rdb::encode(&payload, &options(limits), out);
}

fn options(limits: &Limits) -> EncodeOptions {
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

fn of_collection(value: ValueRef<'_>) -> Payload<'_> {
    match value {
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
    }
}

/// Makes a value of a payload.
///
/// # Errors
/// A stream whose parts do not fit together in a way that Redis would take.
pub(crate) fn restore(payload: Payload<'_>, limits: &Limits) -> Result<Restored, DecodeError> {
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
